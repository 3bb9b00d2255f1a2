"""Pictures of graphs."""

import shutil

import pytest
from backend import BACKEND, leaf, plain

if BACKEND == "torch":
    pytest.skip("Facula's own", allow_module_level=True)

from facula.autograd import graph  # noqa: E402


def test_dot_names_nodes_leaves_and_edges():
    x, w = leaf(1, 2), leaf(3, 4)
    text = graph.to_dot((x * w).sum(), {"x": x, "w": w})

    assert text.startswith("digraph {") and text.endswith("}\n")
    for word in ("SumBackward0", "MulBackward0", "x\\n(2,) float64", "w\\n(2,)", "result\\n() float64"):
        assert word in text
    assert 4 == text.count("->")


def test_dot_tells_results_of_one_operation_apart():
    a, b = leaf(1, 2).unbind()
    text = graph.to_dot([a, b])

    assert "[label=0]" in text and "[label=1]" in text and 1 == text.count("UnbindBackward0")


def test_dot_shows_shared_parts_once_and_takes_long_chains():
    x = leaf(1)
    y = x
    for _ in range(3000):
        y = y * y

    assert 3000 == graph.to_dot(y).count('label="MulBackward0"')


def test_dot_quotes_names():
    x = leaf(1)

    assert r'a \"b\" \\c' in graph.to_dot(x * 2, {'a "b" \\c': x})


def test_draw_writes_text(tmp_path):
    graph.draw(leaf(1) * 2, tmp_path / "graph.dot")

    assert "digraph" in (tmp_path / "graph.dot").read_text()


@pytest.mark.skipif(shutil.which("dot") is not None, reason="Graphviz is installed")
def test_draw_writes_text_where_graphviz_is_missing(tmp_path):
    assert str(tmp_path / "graph.dot") == graph.draw(leaf(1) * 2, tmp_path / "graph.pdf")


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz's dot")
def test_draw_makes_a_picture(tmp_path):
    graph.draw(leaf(1) * 2, tmp_path / "graph.svg")

    assert "<svg" in (tmp_path / "graph.svg").read_text()


@pytest.mark.parametrize("error,call", [
    (RuntimeError, lambda p: graph.to_dot(plain(1))),
    (TypeError, lambda p: graph.to_dot(3)),
    (ValueError, lambda p: graph.draw(leaf(1) * 2, p / "graph.jpeg")),
    (TypeError, lambda p: graph.draw(leaf(1) * 2, None)),
])  # fmt: skip
def test_refuses(error, call, tmp_path):
    with pytest.raises(error):
        call(tmp_path)


def test_a_picture_needs_no_program(tmp_path):
    from xml.etree import ElementTree

    x, w = leaf(1, 2), leaf(3, 4)
    a, b = (x * w).unbind()
    text = graph.to_svg((a.sin() + b).sum(), {"x<1>": x})
    drawn = ElementTree.fromstring(text)
    words = [e.text for e in drawn.iter("{http://www.w3.org/2000/svg}text")]

    assert {"x<1>", "SinBackward0", "UnbindBackward0", "0", "1"} <= set(words)
    assert 3 == len(list(drawn.iter("{http://www.w3.org/2000/svg}rect"))) and words.count("MulBackward0") == 1


def test_results_stand_below_what_they_are_computed_from():
    from facula.autograd._dot import Graph
    from facula.autograd._svg import placed

    x = leaf(1, 2)
    g = Graph([((x * 2).sin() + x).sum()], None)
    where = placed(g)

    assert all(where[a][1] < where[b][1] for a, b, _ in g.edges)
    tops = {}
    for left, y, width, _ in where:
        tops.setdefault(y, []).append((left - width / 2, left + width / 2))
    assert all(a[1] <= b[0] for row in tops.values() for a, b in zip(sorted(row), sorted(row)[1:]))


def test_draw_writes_a_picture_where_graphviz_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)

    assert str(tmp_path / "graph.svg") == graph.draw(leaf(1) * 2, tmp_path / "graph.svg")
    assert "<svg" in (tmp_path / "graph.svg").read_text()
