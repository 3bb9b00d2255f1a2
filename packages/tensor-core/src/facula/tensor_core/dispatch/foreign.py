"""`__torch_function__`: objects that are no tensors and answer for themselves when functions are called with them.

Functions ask where they would refuse an argument, so calls with tensors pay nothing.
"""

from __future__ import annotations

from facula.tensor_core._tensor import Tensor

# rows whose public function has another name
_PUBLIC = {"copy": "clone"}


def overriding(args):
    """The objects among the arguments, and in lists of them, that answer for themselves."""
    found = []
    for a in args:
        if type(a) in (list, tuple):
            found += overriding(a)
        elif not isinstance(a, (Tensor, type)) and hasattr(type(a), "__torch_function__") and not hasattr(type(a), "__dlpack__"):
            found.append(a)  # (PyTorch's own tensors have it too: they are data)
    return found


def ask(function, relevant, args, kwargs):
    """What the objects say of function(*args, **kwargs): the first that does not answer NotImplemented."""
    from facula.tensor_core.dispatch.spelled import named_kinds

    kinds = named_kinds(function, (*relevant, *(a for a in args if isinstance(a, Tensor) and type(a) is not Tensor)), args, kwargs)
    kinds = tuple(dict.fromkeys(kinds))
    for a in relevant:
        answer = a.__torch_function__(function, kinds, args, kwargs)
        if answer is not NotImplemented:
            return answer
    names = [k.__name__ for k in kinds if not issubclass(k, Tensor)]
    raise TypeError(f"no implementation found for 'torch.{function.__name__}' on types that implement __torch_function__: {names}")


def ask_method(name, relevant, tensor, *args, **named):
    """ask, for a method of Tensor."""
    return ask(getattr(Tensor, name), relevant, (tensor, *args), named)


def ask_row(op, args, relevant, how="call"):
    """ask, for a row of the table: its public function, operator or method in place, with the arguments that differ from their defaults."""
    import facula
    from facula.tensor_core.dispatch import override

    name = _PUBLIC.get(op.name, op.name)
    if how == "operator":
        override.name_methods()
        function = override.public(op, how)
    elif how == "inplace" and not op.writes:
        function = getattr(Tensor, name + "_", None)
    else:
        function = getattr(facula, name, None) or getattr(Tensor, name, None)
    if function is None:
        raise TypeError(f"{op.name}: {type(relevant[0]).__name__} is no Tensor. Convert it first.")
    given, named = [], {}
    for p, a in zip(op.params, args):
        if not p.keyword:
            given.append(a)
        elif not _is_default(p, a):
            named[p.name] = a
    while len(given) > 1 and _is_default(op.params[len(given) - 1], given[-1]):
        given.pop()
    unpack(op, given)
    return ask(function, relevant, tuple(given), named)


def unpack(op, given):
    """The last argument as it was given where a tuple of one stands for it: an object may be a size, or all of them."""
    last = given[-1] if given else None
    if type(last) is tuple and len(last) == 1 and (op.name in ("squeeze", "unsqueeze") or overriding(last)):
        given[-1] = last[0]


def _is_default(param, value):
    """Asks no object that stands for a value whether it is equal to another."""
    return param.default is not param.required and (value is param.default or type(value) is type(param.default) and value == param.default)
