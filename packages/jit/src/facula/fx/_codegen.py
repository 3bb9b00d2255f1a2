"""Python code from a graph."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any, Callable

import facula
from facula import Tensor

from ._names import RESERVED, Namespace, function_name, in_torch, type_name
from ._wrap import is_wrapped
from .node import Node, map_arg

REFLECTABLE = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}",
    "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
MAGIC = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}",
    **REFLECTABLE,
}  # fmt: skip
INPLACE = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}", "imul": "{} *= {}", "imatmul": "{} @= {}",
    "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}", "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}  # fmt: skip


@dataclass
class PythonCode:
    """Source text, and what it needs: global name -> object.

    >>> code = facula.fx.symbolic_trace(lambda x: x * 2).graph.python_code("self")
    >>> "x * 2" in code.src
    True
    """

    src: str
    globals: dict[str, Any]


class CodeGen:
    """Writes a graph as the source of a function. Subclasses change its head, its inputs and its outputs.

    >>> graph = facula.fx.symbolic_trace(lambda x: x * 2).graph
    >>> isinstance(facula.fx.CodeGen(), facula.fx.CodeGen), "return" in graph.python_code("self").src
    (True, True)
    """

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line with `def`."""
        names = free_vars if free_vars and free_vars[0] == "self" else ["self", *free_vars]
        return f"def {self._func_name}({', '.join(names)}){maybe_return_annotation}:"

    def generate_output(self, output_args: str) -> str:
        """The return statement."""
        return f"return {output_args}"

    def process_inputs(self, *args: Any) -> Any:
        """The arguments as the placeholders take them."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The result as callers get it."""
        return outputs

    def python_code(self, nodes: Any, root_module: str) -> PythonCode:
        """The code of these nodes."""
        return _Writer(nodes, root_module, self).code()


class _Writer:
    def __init__(self, nodes: Any, root: str, codegen: CodeGen) -> None:
        self.nodes, self.root, self.codegen = list(nodes), root, codegen
        self.globals: dict[str, Any] = {}
        self.free: list[str] = []
        self.body: list[str] = []
        self.wrapped: dict[str, None] = {}
        self.annotation = ""
        self.names = Namespace()
        self.names.used.update(RESERVED, (node.name for node in self.nodes))

    def code(self) -> PythonCode:
        last_uses = self._last_uses()
        for node in self.nodes:
            text = self.statement(node)
            if node.op == "placeholder":
                self.body.append(text)
            elif node.op == "output":
                self.body.append(text + "\n")
            else:
                done = last_uses.get(node, []) + ([] if node.users else [node])
                self.body.append(text + (f";  {' = '.join(n.name for n in done)} = None" if done else "") + "\n")
        if not self.body:
            self.body.append("pass\n")
        if self.codegen._body_transformer is not None:
            self.body = self.codegen._body_transformer(self.body)
        wraps = "\n".join(f"wrap({name!r})" for name in self.wrapped)
        head = self.codegen.gen_fn_def(self.free, self.annotation)
        text = "\n".join("    " + line for line in "".join(self.body).split("\n"))
        return PythonCode(f"\n{wraps}\n\n{head}\n{text}", {**self.globals, "torch": facula})

    def _last_uses(self) -> dict[Node, list[Node]]:
        """Per node: the values that nobody needs after it."""
        seen: set[Node] = set()
        found: dict[Node, list[Node]] = {}
        for node in reversed(self.nodes):

            def used(value: Node, by: Node = node) -> Node:
                if value not in seen:
                    seen.add(value)
                    found.setdefault(by, []).append(value)
                return value

            map_arg(node.args, used)
            map_arg(node.kwargs, used)
        return found

    # -- one statement

    def statement(self, node: Node) -> str:
        kind = "" if node.type is None else f" : {self.type(node.type)}"
        name = node.name
        if node.op == "placeholder":
            default = f" = {self.value(node.args[0])}" if node.args else ""
            self.free.append(f"{node.target}{kind}{default}")
            given = node.target.replace("*", "")
            return "" if given == name else f"{name} = {given}\n"
        if node.op == "output":
            if node.type is not None:
                self.annotation = f" -> {self.type(node.type)}"
            return self.codegen.generate_output(self.value(node.args[0]))
        if node.op == "get_attr":
            return f"{name}{kind} = {_path(self.root, node.target)}"
        if node.op == "call_method":
            rest = self.arguments(node.args[1:], node.kwargs)
            return f"{name}{kind} = {_path(self.value(node.args[0]), node.target)}({rest})"
        if node.op == "call_module":
            return f"{name}{kind} = {_path(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        return self.call(node, name, kind)

    def call(self, node: Node, name: str, kind: str) -> str:
        f = node.target
        short = getattr(f, "__name__", "")
        if getattr(f, "__module__", None) == "_operator" and not node.kwargs:
            values = [self.value(a) for a in node.args]
            if short in MAGIC:
                return f"{name}{kind} = {MAGIC[short].format(*values)}"
            if short in INPLACE:
                return f"{INPLACE[short].format(*values)};  {name}{kind} = {values[0]}"
        if f is getattr and isinstance(node.args[1], str) and node.args[1].isidentifier() and len(node.args) == 2:
            return f"{name}{kind} = {_path(self.value(node.args[0]), node.args[1])}"
        called = self.named(function_name(f), f)
        if called in self.globals and is_wrapped(f):
            self.wrapped.setdefault(called)
        return f"{name}{kind} = {called}({self.arguments(node.args, node.kwargs)})"

    def arguments(self, args: tuple, kwargs: dict) -> str:
        return ", ".join([*map(self.value, args), *(f"{k} = {self.value(v)}" for k, v in kwargs.items())])

    # -- one value

    def value(self, a: Any) -> str:
        if isinstance(a, Node):
            return a.name
        if isinstance(a, tuple):
            if hasattr(a, "_fields"):
                return f"{self.named(type_name(type(a)), type(a))}({', '.join(map(self.value, a))})"
            if type(a) is facula.Size:
                return f"torch.Size([{', '.join(map(self.value, a))}])"
            return f"({', '.join(map(self.value, a))}{',' if len(a) == 1 else ''})"
        if isinstance(a, list):
            return f"[{', '.join(map(self.value, a))}]"
        if isinstance(a, dict):
            return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in a.items()) + "}"
        if isinstance(a, slice):
            return f"slice({self.value(a.start)}, {self.value(a.stop)}, {self.value(a.step)})"
        if isinstance(a, float) and not math.isfinite(a):
            self.globals.setdefault("inf" if math.isinf(a) else "nan", abs(a))
            return repr(a)
        if isinstance(a, enum.Enum):
            return f"{self.named(type_name(type(a)), type(a))}.{a.name}"
        if isinstance(a, facula.device):
            self.globals["device"] = facula.device
            return repr(a)
        if isinstance(a, Tensor):
            return self.named("_tensor", a)
        if callable(a) and not isinstance(a, facula.dtype):
            return self.named(function_name(a), a)
        return repr(a)

    def type(self, kind: Any) -> str:
        name = type_name(kind)
        root = name.partition(".")[0]
        if isinstance(kind, type) and kind.__module__ == "builtins" or root == "torch":
            return name
        if name.startswith("typing."):
            import typing

            self.globals["typing"] = typing
            for part in _members(kind):
                if not (part.__module__ == "builtins" or (in_torch(part) or "").startswith("torch")):
                    return self.named(name, kind)
            return name
        return self.named(name, kind)

    def named(self, hint: str, obj: Any) -> str:
        """The name by which the code reaches an object."""
        if hint.startswith("torch.") and in_torch(obj) == hint:
            return hint
        hint = hint.replace(".", "_")
        if getattr(obj, "__module__", None) == "_operator":
            hint = "_" + hint
        known = self.globals.get(hint, self)
        if known is obj:
            return hint
        name = self.names.create_name(hint, obj if getattr(obj, "__hash__", None) and not isinstance(obj, Tensor) else None)
        self.globals[name] = obj
        return name


def _members(kind: Any) -> list[type]:
    import typing

    args = typing.get_args(kind)
    return [m for a in args for m in _members(a)] if args else [kind] if isinstance(kind, type) else []


def _path(owner: str, target: str) -> str:
    """Attribute access by a dotted path whose parts need not be identifiers."""
    for part in target.split("."):
        owner = f"{owner}.{part}" if part.isidentifier() else f'getattr({owner}, "{part}")'
    return owner
