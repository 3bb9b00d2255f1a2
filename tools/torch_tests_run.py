"""python torch_tests_run.py torch|facula FILE OUT ONLY K/N SECONDS: a test file's outcomes, a line each, behind those that OUT has.

On Facula `torch` is Facula, torch.testing._internal is the installed PyTorch's. While these files and the test file are loaded, a name
that Facula lacks is a stand-in; whoever asks for one later, in a test, is told that it is missing, but for the harness around it.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import operator
import os
import re
import signal
import sys
import traceback
import types
import unittest
import warnings
from pathlib import Path
from unittest import mock

THEIRS = ("torch.testing._internal", "torch.testing._comparison", "torch.testing._utils", "torch._vendor", "torch.utils._import_utils")
TABLES = ("<module>", "__post_init__", "_getattr_qual")  # where entries are made of names; a function that asks for one can do without
BUILT_IN = ("has_lapack", "has_spectral", "has_mkl")  # what a stand-in says of the build, whoever asks
COMPILERS = ("torch._dynamo", "torch._inductor", "torch._C", "torch._logging", "torch._functorch")  # which the harness looks at around every test
SWITCHES = "_debug_only_are_vmap_fallback_warnings_enabled _debug_only_display_vmap_fallback_warnings _is_vmap_fallback_enabled _set_vmap_fallback_enabled".split()  # of what is not here; tests turn them before they begin
HARNESS = tuple(f"torch/testing/{name}.py" for name in ("_comparison", "_utils", "_internal/common_utils", "_internal/common_device_type"))
OPERATORS = "torch.testing._internal.generated.annotated_fn_args"  # a list of all of PyTorch's
TEXT = 1000  # characters of a failure's message


class Late(BaseException):
    """The test took too long; nothing that it catches."""


class Nothing(mock.MagicMock):
    """What can be called, entered and decorated with; false, without names, and no test that is to be made into several."""

    __all__ = ()

    def __getattr__(self, name):
        if name == "parametrize_fn":
            raise AttributeError(name)
        return super().__getattr__(name)

    def __bool__(self):
        return False


@functools.cache
def stand_in(name):
    """What stands where a name is missing: a class where it is spelt like one."""
    last = name.rpartition(".")[2]
    if last in BUILT_IN:
        return True
    if last[:1].isupper():
        return type(last, (Whatever,), {})
    return Nothing(name=name)


class Named(type):
    """A class that has whatever is asked for, as its objects have."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name=f"{cls.__name__}.{name}")


class Whatever(metaclass=Named):
    """Made of anything."""

    def __init__(self, *arguments, **options):
        pass

    def __getattr__(self, name):
        return Named.__getattr__(type(self), name)


class StandIn(types.ModuleType):
    """A module that has whatever is asked for."""

    __path__, __all__ = [], []

    def __call__(self, *arguments, **options):  # a function that a test imports by its name
        return stand_in(self.__name__)(*arguments, **options)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.__dict__[name] = made = stand_in(f"{self.__name__}.{name}")
        return made


def dtype_functions():
    import torch

    to_complex = {torch.float16: torch.complex32, torch.float32: torch.complex64, torch.float64: torch.complex128}
    to_real = {c: r for r, c in to_complex.items()}

    def dtype_to_type(dtype):
        return bool if dtype is torch.bool else complex if dtype.is_complex else float if dtype.is_floating_point else int

    return {"corresponding_complex_dtype": to_complex.__getitem__, "corresponding_real_dtype": to_real.__getitem__, "dtype_to_type": dtype_to_type}


def operators_here(file):
    """operator -> its arguments, of the lines of the list whose operator is not missing."""
    import torch

    here = {}
    for name, arguments in re.findall(r"^    torch\.([\w.]+): (\[.*\]),$", file.read_text(), re.MULTILINE):
        with contextlib.suppress(AttributeError):
            here[operator.attrgetter(name)(torch)] = ast.literal_eval(arguments)
    return here


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """PyTorch's own files of THEIRS, and while `loading` a stand-in for a module that Facula lacks; one of the compilers' at any time."""

    def __init__(self, site, file):
        self.site, self.file, self.loading = Path(site), str(file), True

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(("torch.", "functorch.")):
            return None
        if name == OPERATORS:
            return importlib.machinery.ModuleSpec(name, self)
        if name.startswith(THEIRS):
            file = self.site.joinpath(*name.split("."))
            package = file / "__init__.py"
            if package.exists():
                return importlib.util.spec_from_file_location(name, package, submodule_search_locations=[str(file)])
            if file.with_suffix(".py").exists():
                return importlib.util.spec_from_file_location(name, file.with_suffix(".py"))
        if (self.loading or name.startswith(COMPILERS)) and not self.is_there(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def is_there(self, name):
        from facula.torch._resolve import resolve

        try:
            resolve(name)
        except (AttributeError, ImportError):
            return False
        return True

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        if module.__name__ == "torch._prims_common":  # what samples of operators are made with
            vars(module).update(dtype_functions())
        elif module.__name__ == OPERATORS:
            module.annotated_args = operators_here(self.site.joinpath(*OPERATORS.split(".")).with_suffix(".py"))
        elif module.__name__ == "torch._prims_common.wrappers":  # asked for the function below one of the stand-ins
            module._maybe_remove_out_wrapper = lambda function: function


def become_facula(file):
    """`import torch` is Facula from here on; gives the finder."""
    finder = Finder(Path(importlib.util.find_spec("torch").origin).parent.parent, file)
    from facula.torch import _enable, _operators, enabled

    for owner in (_enable.Alias, _operators._Library):
        owner.__getattr__ = lenient(owner.__getattr__, finder)
    enabled(shadow=True).__enter__()
    sys.meta_path.insert(0, finder)
    return finder


def lenient(strict, finder):
    """__getattr__ that gives a stand-in to tables while they are loaded, and to the harness."""

    def getattr_(self, name):
        try:
            return strict(self, name)
        except AttributeError:
            frame = sys._getframe(1)
            while frame.f_code.co_filename.startswith("<frozen"):  # the import system asks for a file
                frame = frame.f_back
            code = frame.f_code
            table = finder.loading and (code.co_name in TABLES or code.co_name[0].isupper() or code.co_filename == finder.file)  # a module, a class's body, an entry, the test file
            if name.startswith("__") or not table and name not in (*BUILT_IN, *SWITCHES) and not code.co_filename.endswith(HARNESS):
                raise
            return stand_in(f"{self.__name__}.{name}")

    return getattr_


def loaded(file):
    """The test file as a module. A helper that another version of torch.testing._internal has, and this one not, decorates nothing."""
    import torch.testing._utils  # noqa: F401 - an attribute of torch.testing, to the harness
    from torch.testing._internal import common_device_type, common_utils

    common_utils.check_test_defined_in_running_script = lambda test: None
    for makes_tests in (common_device_type.ops, common_utils.parametrize):
        makes_tests._parametrize_test = none_too(makes_tests._parametrize_test)
    sys.path[:0] = [str(file.parent), *(str(p) for p in file.parents if p.name == "test")]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    while True:
        try:
            spec.loader.exec_module(module)
            return module
        except ImportError as error:
            gone = re.match(r"cannot import name '(\w+)' from '(torch\.testing\._internal[\w.]*)'", str(error))
            if gone is None or hasattr(sys.modules[gone[2]], gone[1]):
                raise
            home = sys.modules[gone[2]]
            maker = getattr(home, f"get_{gone[1]}", None)  # a table that is made when asked for since
            setattr(home, gone[1], maker() if maker else None if gone[1].isupper() else Undecorating())


def none_too(parametrized):
    """Of a table without entries (one of the operators' twins in Python, where those are stand-ins) no tests, and no error."""

    def tests(self, *arguments, **options):
        try:
            yield from parametrized(self, *arguments, **options)
        except ValueError as error:
            if "An empty" not in str(error):
                raise

    return tests


class Undecorating:
    """A decorator, or what gives one, that leaves a test as it is; also a table without entries."""

    def __call__(self, *arguments, **options):
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not options else lambda test: test

    def __iter__(self):
        return iter(())


def tests_of(suite):
    for test in suite:
        yield from tests_of(test) if isinstance(test, unittest.TestSuite) else [test]


class Result(unittest.TestResult):
    """The one outcome of the test that runs."""

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "pass", ""

    def fails(self, test, error):
        first = error[1]
        while first.__cause__ or "Originating" in str(first) and first.__context__:
            first = first.__cause__ or first.__context__
        trace = [*traceback.extract_tb(error[2]), *(traceback.extract_tb(first.__traceback__) if first is not error[1] else ())]
        places = [f"{Path(f.filename).name}:{f.lineno} {f.line}" for f in trace if "unittest" not in f.filename]
        self.outcome = "fail", "\n".join([f"{type(first).__name__}: {first}"[: TEXT], *places[-5:]])

    addError = addFailure = fails

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fails(test, error)

    def addSkip(self, test, reason):
        self.outcome = "skip", reason

    def addUnexpectedSuccess(self, test):
        self.outcome = "fail", "unexpected success"


def late(*_):
    raise Late


def main(library, file, out, only, part, seconds):
    out, file = Path(out), Path(file)
    done = {json.loads(line)[0] for line in out.read_text().splitlines()} if out.exists() else set()
    finder = become_facula(file) if library == "facula" else None
    warnings.simplefilter("ignore")
    module = loaded(file)
    tests = [t for t in tests_of(unittest.defaultTestLoader.loadTestsFromModule(module)) if re.search(only, t.id())]
    if part:
        k, n = map(int, part.split("/"))
        tests = [t for t in tests if int(hashlib.blake2b(t.id().encode(), digest_size=4).hexdigest(), 16) % n == k - 1]
    if finder:
        finder.loading = False
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, late)
    with out.open("a") as lines:
        for test in tests:
            if test.id() in done:
                continue
            print(json.dumps([test.id(), "started", ""]), file=lines, flush=True)
            result = Result()
            signal.alarm(int(seconds))
            try:
                test.run(result)
                outcome = result.outcome
            except Late:
                outcome = "late", f"took more than {seconds} s"
            except BaseException as error:  # a test that ends the program, or sets a signal off
                outcome = "fail", f"{type(error).__name__}: {error}"
            finally:
                signal.alarm(0)
            print(json.dumps([test.id(), *outcome]), file=lines, flush=True)
    os._exit(0)  # threads and processes that tests left do not hold it up


if __name__ == "__main__":
    main(*sys.argv[1:])
