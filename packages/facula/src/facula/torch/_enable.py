"""`enabled()`: while it lasts, `import torch` means Facula."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable

import facula
from facula.tensor_core import extend

from . import _children
from ._homes import NAMESPACES, of_function, rename
from ._names import FILES, OVERRIDES
from ._resolve import ROOTS, MissingName, lookup, resolve, root_target

__all__ = ["enabled"]


_DIRECT = (type, types.FunctionType)
CHANGING = ("torch.Storage",)  # names that mean something else after set_default_dtype
_CALLED_BY_MODULES = ("torch.nn.init", "torch.nn.functional")


class Alias(types.ModuleType):
    """A module under PyTorch's name, looking everything up in the Facula module that serves it.

    What a program sets on it goes with it when the block ends. It stays on it, but for the two namespaces that layers look into
    when they are called or drawn: `torch.nn.init.kaiming_uniform_ = skip` saves the drawing of every layer, there and here.
    """

    def __init__(self, name: str, target) -> None:
        super().__init__(name, getattr(target, "__doc__", None))
        # A path makes every alias a package: then a missing name in `from torch.x import y` comes to the finder,
        # whose error tells more than the interpreter's own.
        self.__path__: list[str] = []
        self.__target__ = target
        # Classes and functions stand in the module at once, for those who go through its __dict__.
        for key, value in vars(target).items():
            if isinstance(value, _DIRECT) and not key.startswith("_") and f"{name}.{key}" not in OVERRIDES:
                self.__dict__[key] = value
        if name in NAMESPACES and _finder in sys.meta_path:
            rename(name, _saved_homes)

    def __getattr__(self, name: str):
        found = lookup(self.__target__, f"{self.__name__}.{name}")
        if isinstance(found, types.ModuleType) and not isinstance(found, Alias) and found.__name__ not in sys.stdlib_module_names:
            found = _alias(f"{self.__name__}.{name}", found)
        if (callable(found) or isinstance(found, Alias)) and f"{self.__name__}.{name}" not in CHANGING:
            self.__dict__[name] = found  # 30 ns instead of 900 for the next torch.relu
        return found

    def __setattr__(self, name: str, value) -> None:
        # The interpreter's doing once a file is loaded; its namesake in the package stays the function that it is.
        if isinstance(value, Alias) and f"{self.__name__}.{name}" in FILES:
            return
        if isinstance(getattr(type(self.__dict__.get("__target__")), name, None), property):  # a switch of the module itself
            setattr(self.__target__, name, value)
            return
        if self.__name__ in _CALLED_BY_MODULES and not name.startswith("__") and name in vars(self.__target__):
            _overwritten.setdefault((self.__target__, name), vars(self.__target__)[name])
            setattr(self.__target__, name, value)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*dir(self.__target__), *super().__dir__()})

    def __reduce__(self):
        """Picklers that send functions with what they name (cloudpickle) send a module as its name; they know modules by their exact type."""
        return importlib.import_module, (self.__name__,)

    def __repr__(self) -> str:
        return f"<module {self.__name__!r} served by {getattr(self.__target__, '__name__', 'facula')}>"


def _alias(name: str, target) -> Alias:
    known = sys.modules.get(name)
    if isinstance(known, Alias):
        return known
    alias = Alias(name, target)
    alias.__spec__ = importlib.machinery.ModuleSpec(name, _finder, is_package=True)
    alias.__loader__ = _finder
    if _finder in sys.meta_path:
        sys.modules[name] = alias
    return alias


def _asks_for_a_name() -> bool:
    """Is the import under way a `from module import name`, whose module was found? Else it is a module that is missing."""
    frame = sys._getframe(2)
    while frame is not None and "importlib._bootstrap" in frame.f_code.co_filename:
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back
    return False


class Finder:
    """Answers for torch and torchvision and all below; knows nothing else."""

    def find_spec(self, name: str, path=None, target=None):
        root = name.partition(".")[0]
        if root not in ROOTS:
            if name in _children.STARTERS:
                _children.follow(name)
            return _children.with_connection(importlib.machinery.PathFinder.find_spec(name)) if name == "multiprocessing" else None
        if name.endswith(".__main__") and callable(getattr(resolve(name.removesuffix(".__main__")), "main", None)):
            return importlib.machinery.ModuleSpec(name, self)  # runpy asks for it, every alias being a package
        if name != root:
            try:
                found = resolve(name)
            except MissingName as error:
                raise (ImportError if _asks_for_a_name() else ModuleNotFoundError)(str(error), name=name) from None
            if not isinstance(found, types.ModuleType) and name not in FILES:
                # `import torch.Tensor`: there, but no module; the interpreter says so.
                return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        name = spec.name
        if name in FILES:
            return Alias(name, importlib.import_module(FILES[name]))
        return Alias(name, root_target(name) if name in ROOTS else resolve(name))

    def exec_module(self, module) -> None:
        # torch.torch: a second name of a namespace that is there. The interpreter takes what stands in sys.modules.
        if isinstance(module.__target__, Alias):
            sys.modules[module.__name__] = module.__target__

    # runpy and inspect ask for these
    def is_package(self, name: str) -> bool:
        return True

    def get_code(self, name: str):
        """What `python -m facula.torch -m torch.distributed.run` runs: a module's main, where it has one."""
        module, _, last = name.rpartition(".")
        return compile(f"from {module} import main\nmain()\n", f"<{module}>", "exec") if last == "__main__" else None

    def get_source(self, name: str):
        return None

    def find_distributions(self, context):
        """What `importlib.metadata.version("torch")` reads."""
        from ._metadata import distributions

        return distributions(context.name)


_finder = Finder()
_depth = 0
_saved: dict[str, types.ModuleType] = {}
# Programs tell tensors from arrays, and whose a generator is, by where the class says it is from.
_TENSOR_KINDS = {
    **dict.fromkeys((facula.Tensor, facula.Size, facula.dtype, facula.device, facula.layout, facula.memory_format, facula.iinfo, facula.finfo), "torch"),
    **{kind: "torch" for name in dir(facula) if name.endswith(("Storage", "Tensor")) and (kind := getattr(facula, name)).__module__ == "facula"},
    **dict.fromkeys((facula.UntypedStorage, facula.TypedStorage), "torch.storage"),
    facula.Generator: "torch._C",
}
_ARRAY_INTERFACE = vars(facula.Tensor)["__array_interface__"]
_saved_homes: dict[type, str] = {}
_overwritten: dict[tuple[types.ModuleType, str], object] = {}  # what a program's own functions stand in for
_ends: list[Callable[[], None]] = []  # what undoes the rest of a start


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in ROOTS


def _real(root: str) -> str | None:
    """Where the real package of that name is, if it is loaded or installed."""
    loaded = sys.modules.get(root)
    if loaded is not None:
        return getattr(loaded, "__file__", None) or root
    spec = importlib.util.find_spec(root)
    return None if spec is None else spec.origin or root


class enabled:
    """with facula.torch.enabled(): inside, `import torch` and `import torchvision` are served by Facula.

    shadow: hide an installed PyTorch while it lasts; without it, finding one is an error.
    """

    def __init__(self, shadow: bool = False) -> None:
        self.shadow = shadow

    def __enter__(self):
        global _depth
        if _depth == 0:
            self._start()
        _depth += 1
        return importlib.import_module("torch")

    def _start(self) -> None:
        for root in ROOTS:
            if not self.shadow and (place := _real(root)) is not None:
                raise RuntimeError(
                    f"facula.torch: {root} is installed at {place}, the program would not get what it names. "
                    "Allow that with --shadow or enabled(shadow=True), or run it on PyTorch."
                )
        for name in [name for name in sys.modules if _is_ours(name)]:
            _saved[name] = sys.modules.pop(name)
        for kind, home in _TENSOR_KINDS.items():
            kind.__module__, _saved_homes[kind] = home, kind.__module__
        del facula.Tensor.__array_interface__  # PyTorch's tensors have none: what has one is no tensor to opt_einsum
        sys.meta_path.insert(0, _finder)
        _ends.append(extend.name_functions(of_function))
        _children.shadow[0] = self.shadow
        _children.follow_all()

    def __exit__(self, *exc_info) -> None:
        global _depth
        _depth -= 1
        if _depth:
            return
        sys.meta_path.remove(_finder)
        _children.forget()
        _ends.pop()()
        for name in [name for name in sys.modules if _is_ours(name)]:
            del sys.modules[name]
        sys.modules.update(_saved)
        _saved.clear()
        facula.Tensor.__array_interface__ = _ARRAY_INTERFACE
        for kind, home in _saved_homes.items():
            kind.__module__ = home
        _saved_homes.clear()
        for (module, name), original in _overwritten.items():
            setattr(module, name, original)
        _overwritten.clear()
