"""GraphModule: a module whose forward is written from a graph."""

from __future__ import annotations

import copy
import itertools
import linecache
import os
import typing
import warnings
from pathlib import Path
from typing import Any

import facula
from facula import Tensor
from facula.nn import Module, Parameter

from ._codegen import PythonCode
from .graph import Graph

__all__ = ["GraphModule", "reduce_graph_module"]

_number = itertools.count()


def _compiled(src: str, globals: dict[str, Any]) -> Any:
    """The function `forward` of the source; tracebacks show its lines."""
    file = f"<facula.fx generated {next(_number)}>"
    linecache.cache[file] = (len(src), None, src.splitlines(keepends=True), file)  # type: ignore[assignment]
    marked: list[str] = []
    # what the code marks by wrap() are leaves for whoever traces it again
    space = {**globals, "wrap": marked.append, "_facula_fx_wrapped": marked}
    exec(compile(src, file, "exec"), space)
    return space["forward"]


def _copy_attribute(source: Any, to: Module, path: str) -> None:
    """Let `to` have what `source` has under a dotted path."""
    *owners, last = path.split(".")
    for part in owners:
        source = getattr(source, part)
        if not hasattr(to, part):
            to.add_module(part, Module())
        to = getattr(to, part)
    _assign(getattr(source, last), to, last)


def _assign(value: Any, owner: Module, name: str) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        if name not in owner._buffers and hasattr(owner, name):
            delattr(owner, name)
        owner.register_buffer(name, value)
    else:
        setattr(owner, name, value)


def _assign_path(value: Any, to: Module, path: str) -> None:
    *owners, last = path.split(".")
    for part in owners:
        found = getattr(to, part, None)
        if found is None:
            found = Module()
            to.add_module(part, found)
        to = found
    _assign(value, to, last)


class _Holder(Module):
    """What a GraphModule was made of, without its code."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__.update(state)


class GraphModule(Module):
    """A module with `graph`, and `code` and `forward` written from it. After changing the graph, call recompile().

    root: a module, whose attributes that the graph names become those of this one; or a dict of them by path.

    >>> traced = facula.fx.symbolic_trace(facula.nn.ReLU())
    >>> isinstance(traced, facula.fx.GraphModule), traced(facula.tensor([-1.0, 3.0]))
    (True, tensor([0., 3.]))
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # each has a class of its own: forward belongs to the class, and who replaces it there (accelerate's hooks) knows it by this name
        base = next(k for k in cls.__mro__ if "_is_generated_class" not in k.__dict__)
        generated = type(base.__name__, (base,), {"_is_generated_class": True, "__module__": base.__module__, "__qualname__": "GraphModuleImpl"})
        return super().__new__(generated)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        self._class_name = class_name
        paths = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for path in paths:
                _copy_attribute(root, self, path)
        elif isinstance(root, dict):
            for path in paths:
                if path not in root:
                    raise RuntimeError(f"GraphModule: the graph references target {path}, but root has only {sorted(root)}. Add it.")
            for path in sorted(set(paths), key=lambda p: p.count(".")):
                _assign_path(root[path], self, path)
        else:
            raise RuntimeError(f"GraphModule: root is a {type(root).__name__}. Give a Module or a dict.")
        self.meta: dict[str, Any] = dict(getattr(root, "meta", {}) if isinstance(root, GraphModule) else {})
        self._tracer_cls = None if graph._tracer_cls is None or "<locals>" in graph._tracer_cls.__qualname__ else graph._tracer_cls
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The program; assigning another one writes the code anew."""
        return self.__dict__["_graph"]

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"GraphModule: expected a Graph, got {type(g).__name__}.")
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "graph":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    @property
    def code(self) -> str:
        """The source of forward."""
        if "_code" not in self.__dict__:
            raise RuntimeError("GraphModule: no code has been generated. Call recompile().")
        return self.__dict__["_code"]

    def recompile(self) -> PythonCode:
        """Write code and forward from the graph as it is now."""
        made = self.graph.python_code("self")
        self.__dict__["_code"] = made.src
        type(self).forward = _compiled(made.src, made.globals)
        return made

    # -- submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module under a dotted path, making what is between; False where something else stands in the way."""
        *owners, last = target.split(".")
        owner: Module = self
        for part in owners:
            if not hasattr(owner, part):
                owner.add_module(part, Module())
            owner = getattr(owner, part)
            if not isinstance(owner, Module):
                return False
        owner.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module under a dotted path; False where there is none."""
        *owners, last = target.split(".")
        owner: Any = self
        for part in owners:
            owner = getattr(owner, part, None)
            if not isinstance(owner, Module):
                return False
        if not isinstance(getattr(owner, last, None), Module):
            return False
        delattr(owner, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove modules that no node names and that hold none that is."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: k + 1]) for k in range(len(parts)))
                if node.op == "call_module":
                    used.update(f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # -- copies and files

    def __reduce__(self) -> tuple:
        state = {k: v for k, v in self.__dict__.items() if k != "_graph"}
        code = self.graph.python_code("self")
        state["_code"] = code.src
        # functions go by name, or, where they have none that pickle finds, as pickle says
        return reduce_graph_module, (state, {k: v for k, v in code.globals.items() if k not in ("torch", "wrap", "typing")}, self._class_name)

    def __deepcopy__(self, memo: dict) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        state = copy.deepcopy({k: v for k, v in self.__dict__.items() if k not in ("_graph", "_code")}, memo)
        Module.__init__(made)
        made.__dict__.update(state)
        type(made).__name__ = self._class_name
        made.graph = copy.deepcopy(self.graph, memo)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, copy.deepcopy(self.graph), self._class_name)
        made.meta = dict(self.meta)
        return made

    def to_folder(self, folder: str | os.PathLike, module_name: str = "FxModule") -> None:
        """Write a package: the code as a class of this name, its state, and the submodules."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        facula.save(self.state_dict(), folder / "state_dict.pt")
        lines = ["import facula as torch", "from facula import device, inf, nan", "from facula.nn import *", ""]
        code = self.graph.python_code("self")
        for name, value in code.globals.items():
            if callable(value) and name not in ("torch", "wrap", "device", "typing") and getattr(value, "__module__", None):
                lines.append(f"from {value.__module__.lstrip('_')} import {value.__name__} as {name}")
        lines += ["", f"class {module_name}(torch.nn.Module):", "    def __init__(self):", "        super().__init__()"]
        for name, child in self.named_children():
            file = folder / f"{name}.pt"
            facula.save(child, file)
            lines.append(f"        self.add_module({name!r}, torch.load(r'{file}', weights_only=False))")
        for name, b in self._buffers.items():
            if b is not None:
                lines.append(f"        self.register_buffer('{name}', torch.empty({list(b.shape)}, dtype={b.dtype}))")
        for name, p in self._parameters.items():
            if p is not None:
                lines.append(f"        self.{name} = torch.nn.Parameter(torch.empty({list(p.shape)}, dtype={p.dtype}))")
        lines.append(f"        self.load_state_dict(torch.load(r'{folder / 'state_dict.pt'}'))")
        lines += ["    " + line for line in code.src.splitlines()]
        (folder / "module.py").write_text("\n".join(lines) + "\n")
        (folder / "__init__.py").write_text(f"from .module import {module_name}\n")

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """The code as a class, and that of submodules which are graphs too."""
        if options:
            warnings.warn(f"print_readable: {', '.join(options)} changes nothing here.", stacklevel=2)
        body = "\n".join("    " + line if line.strip() else "" for line in self.code.strip("\n").split("\n"))
        text = f"class {self._class_name}(torch.nn.Module):\n{body.rstrip()}\n"
        for _, child in self.named_children():
            if isinstance(child, GraphModule):
                text += "\n" + "\n".join("    " + line for line in child.print_readable(print_output=False).split("\n"))
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return "\n".join([super().__str__(), self.code, "# To see more debug info, please use `graph_module.print_readable()`"])


def reduce_graph_module(state: dict[str, Any], globals: dict[str, Any], class_name: str = "GraphModule") -> GraphModule:
    """A GraphModule from its state and its code, which is traced again.

    >>> import copy
    >>> copy.deepcopy(facula.fx.symbolic_trace(facula.nn.ReLU()))(facula.tensor([-1.0, 3.0]))
    tensor([0., 3.])
    """
    from ._symbolic_trace import Tracer

    class Whole(Tracer):
        """Every module is a leaf: the code names only those that were."""

        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    holder = _Holder({k: v for k, v in state.items() if k != "_code"})
    forward = _compiled(state["_code"], {"torch": facula, "typing": typing, **globals})
    # its functions are leaves, those of torch see proxies by themselves
    forward.__globals__["_facula_fx_wrapped"].extend(k for k, v in globals.items() if callable(v) and not isinstance(v, type))
    cls = type("_Holder", (_Holder,), {"forward": forward})
    holder.__class__ = cls
    graph = Whole().trace(holder)
    graph._tracer_cls = state.get("_tracer_cls")
    made = GraphModule(holder, graph, class_name)
    for name, value in state.items():
        if name not in made.__dict__ and name != "_code":
            made.__dict__[name] = value
    return made

