"""torch.testing._internal.common_utils, which suites of other libraries take their TestCase from."""

import os
import random
import unittest

import facula
import facula.torch
import numpy as np
import pytest

with facula.torch.enabled(shadow=True):
    from torch.testing._internal import common_utils as ours

real = pytest.importorskip("torch.testing._internal.common_utils")

ALIKE = """
1, 1.0|True, 1|x, x + 1e-6|x, [1, 1]|[1, 1], x|(1, 1), x.long()|x, np.ones(2, np.float32)|x[0], 1|x[:1], 1.0|2.0, x[0] * 2|{'a': 1}, {'a': 1.0}|{1, 2}, {2, 1}|(1, 2), [1, 2]|None, None|nan, nan
x.shape, (2,)|1.0, 1.0 + 1e-5|1j, 1j + 1e-5|x[0].double(), 1 + 1e-6|np.ones(2), np.ones(2) + 1e-9|e.to_sparse(), e.to_sparse()|b'a', b'a'|torch.float32, torch.float32|x[:0], []|np.float32(1), 1|range(2), [0, 1]|np.array([['C']]), np.array([['C']])|'a', 'a'|int, int
"""
UNLIKE = """
1, 2|x, x.double()|x, np.ones(2)|x, x * 1.1|'a', 'b'|int, float|None, 1|'1', 1|{'a': 1}, {'b': 1}|[1], [1, 2]|e, x|[x], [x + 1]|{'a': [1, x]}, {'a': [1, 2 * x]}|1.0, 1.0 + 2e-5|x[0].bfloat16(), 1.005|c, c.coalesce()|np.array(['C', 'H']), np.array(['C', 'O'])|e.to_sparse(), e|(1, None), (1, 2)
"""


def programs(table):
    return [p for line in table.split("\n") for p in line.split("|") if p]


def outcome(library, torch, call):
    e = torch.eye(2)
    c = torch.sparse_coo_tensor([[0, 0], [0, 0]], [0.5, 0.5], (2, 2))
    names = {"torch": torch, "np": np, "nan": float("nan"), "x": torch.ones(2), "e": e, "c": c, "t": type("T", (library.TestCase,), {"runTest": None})()}
    try:
        eval(call, names)
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("pair", programs(ALIKE) + programs(UNLIKE))
@pytest.mark.parametrize("call", ["t.assertEqual({}, exact_layout=True)", "t.assertEqual({}, exact_dtype=False)", "t.assertNotEqual({})", "t.assertEqual({}, atol=0.5, rtol=0)"])
def test_equality_is_pytorch_s(pair, call):
    import torch

    assert outcome(real, torch, call.format(pair)) is outcome(ours, facula, call.format(pair))


@pytest.mark.parametrize("pair", programs(ALIKE))
def test_equal_things_pass(pair):
    assert outcome(ours, facula, f"t.assertEqual({pair})") is None


@pytest.mark.parametrize("pair", programs(UNLIKE))
def test_unequal_things_fail(pair):
    assert outcome(ours, facula, f"t.assertEqual({pair}, exact_layout=True)") is AssertionError


def test_a_class_does_not_go_below_its_precision():
    class Coarse(ours.TestCase):
        precision = 0.1

    Coarse().assertEqual(facula.ones(2), facula.ones(2) + 0.05)
    with pytest.raises(AssertionError, match=r"item \['k'\]\[1\]"):
        Coarse().assertEqual({"k": [1, 2.0]}, {"k": [1, 3.0]})
    with pytest.raises(AssertionError, match="because"):
        Coarse().assertEqual(1, 2, "because")
    with pytest.raises(ValueError, match="rtol"):
        Coarse().assertEqual(1, 2, atol=0.1)
    with pytest.raises(ValueError, match="2 elements"):
        Coarse().assertEqual(facula.ones(2), 1)


def made(library, torch):
    parametrize, subtest = library.parametrize, library.subtest

    class Tests(library.TestCase):
        @parametrize("a", [1, 2.5, "s", None, True, torch.float32, (1, 2), abs])
        @parametrize("b,c", [(1, 2), subtest((3, 4), name="named"), ([1], 0)])
        def test_both(self, a, b, c):
            seen.append((str(a).replace("facula.", "torch."), b, c))

        @parametrize("n", [1, 2], name_fn=lambda n: f"n{n}")
        def test_named(self, n):
            seen.append(n)

        @parametrize("left", [subtest(True, decorators=[unittest.skip("left")]), False])
        def test_left(self, left):
            seen.append(left)

    seen = []
    library.instantiate_parametrized_tests(Tests)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    return [n for n in dir(Tests) if n.startswith("test_")], seen, result.testsRun, len(result.skipped), result.errors, result.failures


def test_parametrized_tests_have_pytorch_s_names_and_values():
    import torch

    assert made(real, torch) == made(ours, facula)


def test_each_test_is_seeded_and_files_go():
    ours.TestCase().setUp()
    first = facula.rand(2).tolist(), random.random(), np.random.rand()
    with ours.freeze_rng_state():
        facula.rand(5)
    second = facula.rand(1).item()
    ours.TestCase().setUp()
    again = facula.rand(2).tolist(), random.random(), np.random.rand()

    assert first == again and second == facula.rand(1).item()
    with ours.TemporaryFileName() as name, ours.TemporaryDirectoryName() as folder:
        assert os.path.isfile(name) and os.path.isdir(folder)
    assert not os.path.exists(name) and not os.path.exists(folder)
