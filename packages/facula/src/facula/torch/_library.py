"""torch.library: a program's own operators, called as torch.ops.LIBRARY.NAME.

An operator is its Python function; a shape-only version is accepted and not asked, there being no tracer that would.
"""

from __future__ import annotations

from typing import Any, Callable

from facula.autograd import Function

from . import _operators

__all__ = ["CustomOpDef", "Library", "custom_op", "define", "impl", "impl_abstract", "register_autograd", "register_fake", "register_kernel", "register_vmap", "triton_op", "wrap_triton"]

_defined: dict[str, CustomOpDef] = {}
_early: dict[str, Callable] = {}  # functions of operators that are not defined yet
# kinds of device and keys of dispatch whose function runs on a CPU
_RUN_HERE = frozenset({"cpu", "default", "CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd"})


doors: list[Callable] = []  # f(operator, args, kwargs), called instead of an operator's function: a counter of flops


class CustomOpDef:
    """An operator of a program's own; calling it runs its function, and records its backward where it has one."""

    def __init__(self, qualname: str, function: Callable | None) -> None:
        namespace, _, name = qualname.partition("::")
        if not name:
            raise ValueError(f"{qualname!r} is no operator's name. Write it like mylibrary::myoperator.")
        self._qualname, self.__name__, self._function = qualname, name, _early.pop(qualname, None) if function is None else function
        self._node: type[Function] | None = None
        self._vmap: Callable | None = None
        _defined[qualname] = self
        _operators.define(namespace, name, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is None:
            raise NotImplementedError(f"{self._qualname}: no function was given for it. Register one for the CPU.")
        if self._node is not None:
            return self._node.apply(*args, *kwargs.values())
        return self._run(args, kwargs)

    @property
    def _opoverload(self) -> Any:
        """What torch.ops.LIBRARY.NAME.default is."""
        namespace, _, name = self._qualname.partition("::")
        return getattr(getattr(_operators, namespace), name).default

    def _run(self, args: tuple, kwargs: dict) -> Any:
        """The function itself, or who listens to operators in its stead."""
        return doors[-1](self, args, kwargs) if doors else self._function(*args, **kwargs)

    def register_kernel(self, device_types: Any, func: Callable | None = None, /) -> Callable:
        """The function for a kind of device; the CPU's is the one that runs."""

        def register(function: Callable) -> Callable:
            kinds = (device_types,) if isinstance(device_types, str) or device_types is None else device_types
            if any(kind in (None, "cpu") for kind in kinds):
                self._function = function
            return function

        return register if func is None else register(func)

    def register_fake(self, fn: Callable, /) -> Callable:
        """The function of shapes alone: nothing asks for it."""
        return fn

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """backward(ctx, *grads) -> gradients; setup_context(ctx, inputs, output) saves what it needs."""
        operator = self

        class Node(Function):
            @staticmethod
            def forward(*inputs: Any) -> Any:
                return operator._run(inputs, {})

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
                if setup_context is not None:
                    setup_context(ctx, inputs, output)

        Node.backward = staticmethod(backward)
        Node.__name__ = f"GeneratedBackwardFor_{operator.__name__}"
        if self._vmap is not None:
            Node.vmap = staticmethod(self._vmap)
        self._node = Node

    def register_vmap(self, func: Callable | None = None, /) -> Callable:
        """func(info, in_dims, *args) -> (output, out_dims), for what runs inside vmap; without func, a decorator."""

        def register(function: Callable) -> Callable:
            self._vmap = function
            if self._node is None:
                self.register_autograd(self._no_backward)
            else:
                self._node.vmap = staticmethod(function)
            return function

        return register if func is None else register(func)

    def _no_backward(self, ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(f"Trying to backward through {self._qualname} but no autograd formula was registered. Give one to register_autograd.")


def custom_op(
    name: str, fn: Callable | None = None, /, *, mutates_args: Any, device_types: Any = None, schema: str | None = None, tags: Any = None
) -> Any:
    """An operator LIBRARY::NAME that runs fn; without fn, a decorator. mutates_args names what it writes to, schema its arguments."""
    return (lambda function: CustomOpDef(name, function)) if fn is None else CustomOpDef(name, fn)


def triton_op(name: str, fn: Callable | None = None, /, *, mutates_args: Any, schema: str | None = None) -> Any:
    """custom_op, whose function may call kernels of Triton, where there is one; on the CPU it is what it calls otherwise."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Callable, /) -> Callable:
    """The kernel itself: no graph is made in which it would be hidden."""
    return triton_kernel


def _named(op: Any) -> CustomOpDef:
    found = op if isinstance(op, CustomOpDef) else _defined.get(getattr(op, "_qualname", op))
    if found is None:
        raise RuntimeError(f"operator {op} does not exist. Define it with torch.library.custom_op first.")
    return found


def _implement(op: Any, function: Callable, yields: bool = False) -> None:
    """Give the operator, or the one that will have the name, its function; yields: only where it has none."""
    operator = op if isinstance(op, CustomOpDef) else _defined.get(getattr(op, "_qualname", op))
    if operator is None:
        _early[op] = _early.get(op, function) if yields else function
    elif not yields or operator._function is None:
        operator._function = function


def register_fake(op: Any, func: Callable | None = None, /, *, lib: Any = None, _stacklevel: int = 1, allow_override: bool = False) -> Any:
    """The operator's function of shapes alone: nothing asks for it."""
    return (lambda function: function) if func is None else func


impl_abstract = register_fake


def register_kernel(op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """The operator's function for a kind of device."""
    return _named(op).register_kernel(device_types, func)


def register_autograd(op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None) -> None:
    """The operator's backward: see CustomOpDef.register_autograd."""
    _named(op).register_autograd(backward, setup_context=setup_context)


def register_vmap(op: Any, func: Callable | None = None, /, *, lib: Any = None) -> Callable:
    """What the operator does inside vmap: see CustomOpDef.register_vmap."""
    return _named(op).register_vmap(func)


class Library:
    """Operators of one namespace: define("name(Tensor x) -> Tensor"), then impl("name", function, "CPU")."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported library kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        name = schema.partition("(")[0].partition(".")[0].strip()
        CustomOpDef(f"{self.ns}::{name}", None)
        return name

    def impl(self, op_name: Any, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False, allow_override: bool = False) -> None:
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if key in _RUN_HERE:
            _implement(op_name if isinstance(op_name, CustomOpDef) else f"{self.ns}::{op_name}", fn)


def define(qualname: Any, schema: str, *, lib: Any = None, tags: Any = ()) -> Any:
    """An operator LIBRARY::NAME without a function yet; its schema, "(Tensor x) -> Tensor", is for people. impl gives the function.

    The older form define(library, "name(Tensor x) -> Tensor") answers a decorator of the function, and defines with it.
    """
    if isinstance(qualname, Library):

        def define_and_implement(function: Callable) -> Callable:
            qualname.impl(qualname.define(schema, tags=tags), function)
            return function

        return define_and_implement
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}. Write it like mylibrary::myoperator.")
    if not schema.lstrip().startswith("("):
        raise ValueError(f"define(qualname, schema): {schema!r} is no schema. Write it like (Tensor x) -> Tensor, without the name.")
    CustomOpDef(qualname, None)
    return None


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """The function of an operator, defined before or after, on kinds of device, "default" for all that have none; without func, a decorator.

    The older form impl(library, "name", dispatch_key) answers a decorator.
    """
    if isinstance(qualname, Library):
        return lambda function: qualname.impl(types, function, func or "") or function
    if isinstance(qualname, str) and "::" not in qualname:
        raise ValueError(f"impl(): {qualname!r} is no operator's name. Write it like mylibrary::myoperator.")
    own = _RUN_HERE.intersection((types,) if isinstance(types, str) else types)

    def register(function: Callable) -> Callable:
        if own:
            _implement(qualname, function, yields=own == {"default"})  # a device's own goes before everyone's
        return function

    return register if func is None else register(func)
