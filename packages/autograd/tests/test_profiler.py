"""The profiler: what it hears, how it adds up, what it writes. Nothing here depends on how long anything takes."""

import json
import subprocess
import sys

import pytest
from backend import BACKEND, leaf, torch

if BACKEND == "torch":
    pytest.skip("names of operations are Facula's", allow_module_level=True)

from facula.autograd import profiler  # noqa: E402


def profiled(**options):
    x = leaf(1, 2, 3, 4, shape=(2, 2))
    with profiler.profile(**options) as p:
        with profiler.record_function("forward", "first"):
            y = (x @ x).sum()
        y.backward()
    return p


def test_hears_operations_in_their_order():
    assert ["forward", "aten::matmul", "aten::sum"] == [e.name for e in profiled().function_events][:3]


def test_shows_operations_inside_their_block_and_their_node():
    events = {e.name: e for e in profiled().function_events}

    assert ["aten::matmul", "aten::sum"] == [e.name for e in events["forward"].cpu_children]
    assert "SumBackward0" == events["aten::expand"].cpu_parent.name
    assert {"aten::matmul", "aten::transpose"} == {e.name for e in events["MmBackward0"].cpu_children}


def test_takes_pytorchs_options_and_records_alike():
    p = profiled(use_cpu=True, use_kineto=True, with_modules=False)

    assert [e.name for e in profiled().function_events] == [e.name for e in p.function_events]
    with pytest.raises(ValueError, match="use_cpu"):
        profiler.profile(use_cpu=False)
    with pytest.raises(RuntimeError, match="cuda"):
        profiler.profile(use_device="cuda")


def test_children_lie_within_their_parent():
    for e in profiled().function_events:
        for c in e.cpu_children:
            assert e.start_us <= c.start_us <= c.end_us <= e.end_us


def test_own_times_add_up_to_the_outermost_ones():
    p = profiled()
    outermost = sum(e.cpu_time for e in p.function_events if e.cpu_parent is None)

    assert abs(p.self_cpu_time_total - outermost) < 1e-3 * outermost


def test_averages_count_calls():
    averages = {a.key: a for a in profiled().key_averages()}

    assert 3 == averages["aten::matmul"].count and 1 == averages["aten::sum"].count
    assert abs(averages["aten::matmul"].cpu_time * 3 - averages["aten::matmul"].cpu_time_total) < 1e-6


def test_averages_by_shape():
    with profiler.profile(record_shapes=True) as p:
        for n in (2, 3, 3):
            torch.ones(n) * 2

    assert [([[2], []], 1), ([[3], []], 2)] == [(a.input_shapes, a.count) for a in p.key_averages(group_by_input_shape=True) if a.key == "aten::mul"]


def test_averages_by_stack():
    p = profiled(with_stack=True)

    assert any(__file__ in a.stack[0] for a in p.key_averages(group_by_stack_n=1))


def test_memory_that_an_operation_allocates():
    x = torch.ones(1000)
    with profiler.profile(profile_memory=True) as p:
        y = x * 2

    assert 4000 <= p.function_events[0].cpu_memory_usage < 8000 and y is not None


def test_in_place_operations_have_an_underscore():
    x = torch.ones(2)
    with profiler.profile() as p:
        x.add_(1)

    assert ["aten::add_"] == [e.name for e in p.function_events]


def test_table_is_sorted_and_cut():
    p = profiled()
    lines = p.table(sort_by="cpu_time_total", row_limit=2, header="a header").splitlines()

    assert "a header" == lines[1] and 3 == sum(set(line) <= set("- ") for line in lines) and len(lines) == 9
    assert max(p.function_events, key=lambda e: e.cpu_time).name == lines[5].split()[0]


def test_table_without_what_is_inside():
    assert "aten::sum" not in profiled().table(top_level_events_only=True).split()


def test_table_refuses_what_cannot_be_sorted_by():
    with pytest.raises(AttributeError, match="sideways"):
        profiled().table(sort_by="sideways")


def test_total_average():
    p = profiled()

    assert len(p.function_events) == p.total_average().count


def test_trace_for_chrome(tmp_path):
    p = profiled(record_shapes=True)
    p.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]

    assert [e.name for e in p.function_events] == [t["name"] for t in trace]
    assert {"args": "first"} == {k: v for k, v in trace[0]["args"].items() if k == "args"} and "X" == trace[0]["ph"]
    assert [[2, 2], [2, 2]] == next(t for t in trace if t["name"] == "aten::matmul")["args"]["Input Dims"]


def test_stacks_for_flame_graphs(tmp_path):
    with profiler.profile(with_stack=True) as p:
        x = torch.ones(300, 300)
        x @ x
    p.export_stacks(tmp_path / "stacks.txt")

    assert "test_profiler.py" in (tmp_path / "stacks.txt").read_text()
    with pytest.raises(RuntimeError, match="with_stack"):
        profiled().export_stacks(tmp_path / "stacks.txt")
    with pytest.raises(ValueError, match="metric"):
        p.export_stacks(tmp_path / "stacks.txt", "weight")


def test_decorated_functions_are_blocks():
    @profiler.record_function("named")
    def f(n):
        return torch.ones(2) if n == 0 else f(n - 1) * 2

    with profiler.profile() as p:
        f(2)
    averages = {a.key: a for a in p.key_averages()}

    assert 3 == averages["named"].count
    assert averages["named"].cpu_time_total <= p.function_events[0].cpu_time + 1e-6  # a block inside itself counts once


def test_a_block_without_a_profile_does_nothing():
    with profiler.record_function("alone"):
        assert 2 == (torch.ones(2).sum()).item()


def test_a_disabled_profile_hears_nothing():
    with profiler.profile(enabled=False) as p:
        torch.ones(2) * 2

    assert p.function_events is None
    with pytest.raises(RuntimeError, match="nothing"):
        p.table()


def test_a_profile_is_entered_once():
    p = profiler.profile()
    with p:
        with pytest.raises(RuntimeError, match="reentrant"):
            p.__enter__()


def test_profiles_nest():
    with profiler.profile() as outer, profiler.profile() as inner:
        torch.ones(2) * 2

    assert [e.name for e in inner.function_events] == [e.name for e in outer.function_events] != []


def test_a_profile_ends_with_an_error():
    with pytest.raises(RuntimeError), profiler.profile() as p:
        torch.ones(2) @ torch.ones(3)

    assert "aten::matmul" == p.function_events[-1].name
    assert 2 == torch.ones(2).sum().item()


# ---- the bottleneck tool ----------------------------------------------------------------------------------------------

SCRIPT = """
import sys
import facula as torch
x = torch.ones(8, 8, requires_grad=True)
def work():
    (x @ x).sum().backward()
if __name__ == "__main__":
    for _ in range(int(sys.argv[1])):
        work()
    sys.exit()
"""


def bottleneck(*arguments):
    return subprocess.run([sys.executable, "-m", "facula.utils.bottleneck", *map(str, arguments)], capture_output=True, text=True)


def test_bottleneck_reports_on_a_script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = bottleneck("--rows", 200, tmp_path / "script.py", 5)

    assert 0 == done.returncode, done.stderr
    for word in ("Environment Summary", "cProfile output", "(work)", "matmul", "MmBackward0"):
        assert word in done.stdout
    (row,) = (line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["aten::matmul"])
    assert "15" == row[-1]  # one forward and two backward in each of five steps


def test_bottleneck_refuses_what_is_no_script(tmp_path):
    done = bottleneck(tmp_path / "nothing.py")

    assert 2 == done.returncode and "nothing.py" in done.stderr


def test_bottleneck_shows_the_scripts_own_error(tmp_path):
    (tmp_path / "script.py").write_text("raise KeyError('mine')")
    done = bottleneck(tmp_path / "script.py")

    assert 0 != done.returncode and "mine" in done.stderr
