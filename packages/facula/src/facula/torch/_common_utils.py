"""torch.testing._internal.common_utils: what the test suites of other libraries take from that of PyTorch."""

from __future__ import annotations

import contextlib
import functools
import itertools
import numbers
import os
import platform
import random
import sys
import tempfile
import unittest
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

import numpy as np

import facula
from facula import Tensor
from facula.autograd import gradcheck, gradgradcheck  # noqa: F401 - names of torch.testing._internal.common_utils
from facula.testing import _difference, _tolerance, make_tensor  # noqa: F401

SEED = 1234
IS_LINUX, IS_MACOS, IS_WINDOWS = (sys.platform.startswith(name) for name in ("linux", "darwin", "win32"))
IS_ARM64, IS_X86 = (platform.machine() in names for names in (("arm64", "aarch64"), ("x86_64", "i386")))
TEST_NUMPY = True
TEST_CUDA = TEST_MULTIGPU = TEST_MPS = TEST_XPU = TEST_ACCELERATOR = TEST_MKL = TEST_WITH_ROCM = TEST_WITH_ASAN = TEST_WITH_TORCHDYNAMO = IS_FBCODE = IS_SANDCASTLE = IS_JETSON = False
TEST_WITH_SLOW = os.environ.get("PYTORCH_TEST_WITH_SLOW", "0") == "1"


def set_rng_seed(seed: int | None = None) -> None:
    """Seed Python's, NumPy's and Facula's generators."""
    seed = SEED if seed is None else seed
    facula.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """What is drawn inside leaves no trace in the generator."""
    state = facula.get_rng_state()
    try:
        yield
    finally:
        facula.set_rng_state(state)


@contextlib.contextmanager
def TemporaryFileName(*args: Any, **options: Any) -> Iterator[str]:
    """The name of a closed file that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        file = tempfile.NamedTemporaryFile(*args, **{"dir": folder, **options, "delete": False})
        file.close()
        yield file.name


@contextlib.contextmanager
def TemporaryDirectoryName(suffix: str | None = None) -> Iterator[str]:
    """The name of a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(suffix=suffix) as folder:
        yield folder


def suppress_warnings(fn: Callable) -> Callable:
    """The function, its warnings unheard."""

    @functools.wraps(fn)
    def quiet(*args: Any, **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fn(*args, **options)

    return quiet


def slowTest(fn: Callable) -> Callable:
    """A test that runs where PYTORCH_TEST_WITH_SLOW=1 asks for it."""
    return unittest.skipUnless(TEST_WITH_SLOW, "test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")(fn)


def run_tests(argv: list[str] | None = None) -> None:
    """Run the tests of the program, as unittest.main does."""
    unittest.main(argv=sys.argv if argv is None else argv)


class TestCase(unittest.TestCase):
    """Tests in which numbers, tensors and containers of them are equal as far as their dtypes promise; seeded before each."""

    precision: float = 0.0  # tolerances below which a class does not want to go
    rel_tol: float = 0.0

    def setUp(self) -> None:
        set_rng_seed()

    def assertEqual(
        self, x: Any, y: Any, msg: Any = None, *, atol: float | None = None, rtol: float | None = None, equal_nan: bool = True, exact_dtype: bool = True,
        exact_device: bool = False, exact_layout: bool = False, exact_stride: bool = False, exact_is_coalesced: bool = False,
    ) -> None:  # fmt: skip
        """Fail unless x is y's equal: see facula.testing.assert_close, here NaN equals NaN, an int a float, and a list a tensor."""
        if (rtol is None) != (atol is None):
            raise ValueError(f"assertEqual: rtol and atol must both be given or both be left out, got rtol={rtol} and atol={atol}.")
        how = dict(rtol=rtol, atol=atol, equal_nan=equal_nan, subclasses=True, device=exact_device, dtype=exact_dtype, layout=exact_layout, stride=exact_stride, coalesced=exact_is_coalesced)
        try:
            self._compare(x, y, "", how)
        except AssertionError as error:
            told = msg(str(error)) if callable(msg) else str(error) if msg is None else f"{error}\n{msg}"
            raise self.failureException(told) from None

    def _compare(self, x: Any, y: Any, where: str, how: dict) -> None:
        x, y = (facula.as_tensor(a, dtype=b.dtype) if isinstance(b, Tensor) and isinstance(a, Sequence) else a for a, b in ((x, y), (y, x)))
        place = f" (item {where})" if where else ""
        if isinstance(x, Mapping) and isinstance(y, Mapping):
            if x.keys() != y.keys():
                raise AssertionError(f"The keys of the mappings do not match: {list(x)} != {list(y)}{place}")
            for key in y:
                self._compare(x[key], y[key], f"{where}[{key!r}]", how)
        elif _listed(x) and _listed(y):
            if len(x) != len(y):
                raise AssertionError(f"The length of the sequences mismatch: {len(x)} != {len(y)}{place}")
            for k in range(len(y)):
                self._compare(x[k], y[k], f"{where}[{k}]", how)
        elif any(isinstance(v, numbers.Number) for v in (x, y)) and all(isinstance(v, (numbers.Number, Tensor, np.ndarray)) for v in (x, y)):
            x, y = (_number(v) for v in (x, y))
            self._close(x, y, [_AS_CLOSE_AS.get(type(v), "int64") for v in (x, y)], place, {**how, "dtype": False})
        elif all(isinstance(v, np.ndarray) and v.dtype.kind in "OSU" for v in (x, y)):  # texts, which no tensor holds
            if not np.array_equal(x, y):
                raise AssertionError(f"Object comparison failed: {x!r} != {y!r}{place}")
        elif all(isinstance(v, (Tensor, np.ndarray)) for v in (x, y)):
            x, y = (facula.as_tensor(v) for v in (x, y))
            self._close(x, y, [v.dtype._name for v in (x, y)], place, how)
        elif not x == y:
            raise AssertionError(f"Object comparison failed: {x!r} != {y!r}{place}")

    def _close(self, x: Any, y: Any, kinds: list[str], place: str, how: dict) -> None:
        rtol, atol = _tolerance(kinds, how)
        wrong = _difference(x, y, {**how, "rtol": max(rtol, self.rel_tol), "atol": max(atol, self.precision)})
        if wrong is not None:
            raise AssertionError(wrong + place)

    def assertNotEqual(self, x: Any, y: Any, msg: str | None = None, **options: Any) -> None:
        """Fail if assertEqual would not."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, **options)

    def assertEqualIgnoreType(self, x: Any, y: Any, **options: Any) -> None:
        """assertEqual of numbers, whatever their dtypes."""
        self.assertEqual(x, y, exact_dtype=False, **options)


_AS_CLOSE_AS = {float: "float32", complex: "complex64"}  # Python's numbers, which tests compare with those of float32


def _listed(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _number(value: Any) -> Any:
    """The number of a tensor or an array with one element."""
    count = 1 if isinstance(value, numbers.Number) else value.numel() if isinstance(value, Tensor) else value.size
    if count != 1:
        raise ValueError(f"assertEqual: a number is compared with {count} elements. Only a tensor of a single element can be.")
    return value.item() if hasattr(value, "item") else value


class subtest:
    """Values of one test among those of parametrize, with a name and decorators of its own."""

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Any = ()) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, tuple(decorators)


def parametrize(arg_str: str, arg_values: Any, name_fn: Callable | None = None) -> Callable:
    """A test for each of the values of the arguments named in arg_str, which instantiate_parametrized_tests makes."""
    names = [name.strip() for name in arg_str.split(",") if name.strip()]

    def variant(k: int, value: Any) -> tuple[str, dict, tuple]:
        entry = value if isinstance(value, subtest) else subtest(value)
        values = (entry.arg_values,) if len(names) == 1 else tuple(entry.arg_values)
        if len(values) != len(names):
            raise RuntimeError(f"parametrize: expected {len(names)} values for {arg_str!r}, got {len(values)}: {values}.")
        name = entry.name or (name_fn(*values) if name_fn else "_".join([_named(n, v, k) for n, v in zip(names, values)]))
        return name, dict(zip(names, values)), entry.decorators

    def decorate(test: Callable) -> Callable:
        test._variants = [[variant(k, value) for k, value in enumerate(arg_values)], *getattr(test, "_variants", ())]  # the topmost names first
        return test

    return decorate


def _named(argument: str, value: Any, k: int) -> str:
    """How a value stands in its test's name: by itself where its text can, by its number where not."""
    if isinstance(value, (facula.dtype, facula.device)):
        return str(value).rpartition(".")[2]
    return f"{argument}_{str(value).replace('.', '_')}" if isinstance(value, (int, float, str)) else f"{argument}{k}"


def instantiate_parametrized_tests(generic_cls: type) -> type:
    """The class, with the tests that parametrize asks for in the place of each that it marks."""
    for name, test in list(vars(generic_cls).items()):
        if not hasattr(test, "_variants"):
            continue
        delattr(generic_cls, name)
        for chosen in itertools.product(*test._variants):
            given = {key: value for _, values, _ in chosen for key, value in values.items()}
            made = _with(test, given)
            made.__name__ = "_".join([name, *(part for part, _, _ in chosen)])
            for decorator in (d for _, _, decorators in chosen for d in decorators):
                made = decorator(made)
            if hasattr(generic_cls, made.__name__):
                raise RuntimeError(f"instantiate_parametrized_tests: two tests would be named {made.__name__}. Give one a name.")
            setattr(generic_cls, made.__name__, made)
    return generic_cls


def _with(test: Callable, given: dict) -> Callable:
    @functools.wraps(test)
    def run(self: Any, *args: Any, **options: Any) -> Any:
        return test(self, *args, **given, **options)

    return run
