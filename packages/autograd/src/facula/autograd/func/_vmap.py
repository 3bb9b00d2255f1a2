"""vmap: a function of one example as a function of many. An interpreter on the core's door; see _rules.py and _rules_kernels.py for what it
does with each kind of operation, and facula.autograd._core.Batched for what stands for the examples inside the function.

The tape works inside as outside: an operation is recorded with what the function sees, and, where a tensor with the examples has a
history of its own, once more with that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import facula as F

from .. import _core, _function
from .._core import Batched, GradError, Tensor, extend
from .._record import recorder_of
from .._support import relined
from .._table import NONE, RULES
from . import _rules_kernels
from ._rules import KINDS, NAMED, VIEWS, One
from ._tree import broadcast, flatten

_thread = extend.ThreadState()
BY_NAME = {**NAMED, **_rules_kernels.NAMED}


def levels() -> list:
    """This thread's vmaps at work, innermost last."""
    try:
        return _thread.levels
    except AttributeError:
        _thread.levels = []
        return _thread.levels


class Level:
    """One vmap at work. shared: the arguments that are one for all examples."""

    def __init__(self, size, randomness, shared=()) -> None:
        self.size, self.randomness, self.shared = size, randomness, shared

    def mine(self, a) -> bool:
        return a.__class__ is Batched and a._level is self

    def here(self, args) -> bool:
        return any(self.mine(t) for a in args for t in (a if a.__class__ in (tuple, list) else (a,)))

    def wrap(self, whole) -> Tensor:
        return Batched.of(whole, self)

    # ---- the interpreter

    def __call__(self, op, args, kwargs) -> Any:
        return relined(self.interpreted(op, args, kwargs))

    def interpreted(self, op, args, kwargs) -> Any:
        out = kwargs.get("out")
        if op.kind == "random":
            return self.random(op, args)
        if not self.here(args):
            return extend.call(op, *args, **kwargs)
        if out is not None and out is not args[0]:
            refuse_out(op.name)
        if out is not None or op.writes:
            return self.write(op, args)
        result = self.functional(op, args)
        single = not isinstance(result, (tuple, list))
        if op.kind == "view":
            result._viewed = args[0] if args[0]._viewed is None else args[0]._viewed
        if any(isinstance(t, Tensor) and t._origin is not None for a in args for t in (a if a.__class__ in (tuple, list) else (a,))):
            with extend.interpreter(self):
                _core.record[op.id](result if single else tuple(result), *args)
        return result

    def reads(self, tensor, name) -> None:
        if tensor.__class__ is Batched:
            raise RuntimeError(f"vmap: It looks like you're calling .{name}() on a Tensor, or attempting to use a Tensor in some data-dependent control flow: it would read the values of a tensor with several examples, on which nothing in the function may depend. Use operations instead, such as where().")

    def functional(self, op, args) -> Any:
        """The result(s) of an operation, wrapped."""
        ones = [self.one(a) for a in args]
        if op.kind == "view":
            done = self.view(op, args, ones)
        else:
            rule = BY_NAME.get(op.name) or KINDS.get(op.kind)
            done = None if rule is None else rule(op, ones)
        if done is None:
            if not self.size:
                raise GradError(f"vmap: {op.name} has no rule for many examples at once, and there is none to learn its result's shape from. Give at least one.")
            done = self.one_by_one(functools.partial(extend.call, op), ones)
        return tuple(self.wrap(w) for w in done) if isinstance(done, (tuple, list)) else self.wrap(done)

    def one(self, a) -> Any:
        if a.__class__ in (tuple, list):
            return a.__class__(self.one(t) for t in a)
        return One(a._whole) if self.mine(a) else a

    def view(self, op, args, ones) -> Tensor | None:
        x = ones[0]
        if op.name == "as_strided":
            size, stride, offset = args[1:4]
            start = 0 if offset is None else offset - args[0].storage_offset()
            w = x.whole
            return extend.call(op, w, (self.size, *size), (w.stride(0), *stride), w.storage_offset() + start)
        rule = VIEWS.get(op.name)
        return None if rule is None else rule(x.whole, tuple(x.shape), *args[1:])

    def example(self, a, k) -> Any:
        if a.__class__ in (tuple, list):
            return a.__class__(self.example(t, k) for t in a)
        return _core.row("select")(a.whole, 0, k) if isinstance(a, One) else a

    def one_by_one(self, function, ones) -> Tensor | tuple:
        """Each example alone, and the results side by side."""
        results = [function(*[self.example(a, k) for a in ones]) for k in range(self.size)]
        if not isinstance(results[0], (tuple, list)):
            return F.stack(results)
        return tuple(F.stack(list(column)) for column in zip(*results))

    def examples(self, function, args) -> Tensor | tuple | None:
        """A composition that reads values: each example alone."""
        if not self.here(args) or not self.size:
            return None
        with extend.below(self):
            done = self.one_by_one(function, [self.one(a) for a in args])
        return tuple(self.wrap(w) for w in done) if isinstance(done, tuple) else self.wrap(done)

    # ---- writes

    def write(self, op, args) -> Tensor:
        target = args[0]
        if not self.mine(target):
            raise RuntimeError(
                f"vmap: inplace {op.name} is not possible: it would write values that differ between examples into a tensor {tuple(getattr(target, 'shape', ()))} that is one for all. "
                "Make the tensor inside the function from one of its arguments, for example with zeros_like(x) or x.new_zeros(...), or write out of place."
            )
        tape = F.tensor_core.dispatch.slow.tape
        listed = [t for a in args for t in (a if a.__class__ in (tuple, list) else (a,)) if isinstance(t, Tensor)]
        heard = any(t._origin is not None for t in listed) or (target._viewed is not None and target._viewed._origin is not None)
        token = None
        if heard:
            with extend.interpreter(self):
                token = tape.before_write(op, target, args)
        self.overwrite(op, args)
        if heard:
            with extend.interpreter(self):
                tape.after_write(op, target, args, token)
        return target

    def overwrite(self, op, args) -> None:
        target = args[0]._whole
        if op.name == "fill_number_":
            extend.call(op, target, args[1])
        elif op.name == "copy_into_":
            source = args[1]
            shape = tuple(args[0].shape)
            whole = source._whole if self.mine(source) else source
            if self.mine(source) and source.ndim != len(shape):
                fits(op, tuple(source.shape), shape)
                lead = len(shape) - source.ndim
                whole = whole.reshape(self.size, *[1] * lead, *source.shape) if lead > 0 else whole.reshape(self.size, *shape)
            extend.call(op, target, whole)
        elif op.writes:
            ones = [self.one(a) for a in args]
            for k in range(self.size):
                extend.call(op, *[self.example(a, k) for a in ones])
        else:
            result = self.functional(op, (self.kept(op, args), *args[1:]))
            fits(op, tuple(result.shape), tuple(args[0].shape))
            extend.call("copy_into_", target, result._whole)

    def kept(self, op, args) -> Tensor:
        """The target of a write as its operation reads it: a copy, where the examples have a history that saves what is read."""
        rule = RULES.get(op.name)
        recorded = _core.grad_mode() and any(self.mine(t) and t._whole.requires_grad for t in args)
        if recorded and rule not in (None, NONE) and recorder_of(op, rule).wants_input:
            return self.wrap(args[0]._whole.clone())
        return args[0]

    # ---- random numbers

    def draws(self, name, tensor) -> Tensor:
        """Random numbers are about to be drawn as the tensor says: what stands behind it."""
        if self.randomness == "error":
            refuse_random(name)
        mine = self.mine(tensor)
        if mine and self.randomness == "same":
            raise RuntimeError(f"vmap: Vmap does not currently support same randomness with a batched tensor input: {name} would draw from what differs between examples. Choose randomness='different'.")
        with extend.below(self):
            return extend.drawn_from(name, tensor._whole if mine else tensor)

    def random(self, op, args) -> Any:
        target = args[0]
        if self.randomness == "error":
            refuse_random(op.name)
        if self.randomness == "same":
            if not self.mine(target):
                return extend.call(op, *args)
            drawn = extend.call(op, _core.row("select")(target._whole, 0, 0).clone(), *args[1:])
            extend.call("copy_into_", target._whole, drawn)
            return target
        if self.mine(target):
            if op.name == "randperm_":
                refuse_out("randperm")
            extend.call(op, target._whole, *args[1:])
        else:
            self.adopt(op, target, args[1:])
        return target

    def adopt(self, op, t, args) -> None:
        """Give a tensor that was made inside the function draws for each example, in its place."""
        if any(t is a for a in self.shared):
            raise RuntimeError(f"vmap: Cannot ask for different inplace randomness on an unbatched tensor: {op.name} would fill an argument that is one for all examples. Fill a tensor like one that has them.")
        if type(t) is not Tensor or t._viewed is not None or t._origin is not None:
            raise RuntimeError(f"vmap: {op.name} cannot fill a view, or a tensor with history, differently for each example. Fill a new tensor.")
        if op.name == "randperm_" and self.size:  # of each example's own numbers
            whole = F.stack([extend.call(op, F.empty_like(t), *args) for _ in range(self.size)])
        else:
            whole = extend.call(op, t.expand(self.size, *t.shape).clone(memory_format=F.contiguous_format), *args)
        made = self.wrap(whole)
        t._h, made._h = made._h, t._h
        t.__class__ = Batched
        t.__dict__.update(_whole=whole, _level=self)


def fits(op, shape, target) -> None:
    lead = len(shape) - len(target)
    if lead > 0 and any(n != 1 for n in shape[:lead]) or any(n not in (1, m) for n, m in zip(shape[max(lead, 0) :], target[max(-lead, 0) :])):
        raise RuntimeError(f"{op.name}: output with shape {list(target)} doesn't match the broadcast shape {list(shape)}.")


# ---- the function -------------------------------------------------------------------------------------------------------


def refuse_out(name) -> NoReturn:
    raise GradError(f"{name}: out= does not work inside vmap. Leave it out.")


def refuse_random(name) -> NoReturn:
    raise RuntimeError(f"vmap: called random operation while in randomness error mode: {name} draws random numbers. Choose randomness='same' or 'different', or draw outside.")


def settled(op, args, kwargs) -> Any:
    """An interpreter under which nothing is random."""
    if op.kind == "random":
        refuse_random(op.name)
    return relined(extend.call(op, *args, **kwargs))


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None) -> Callable:
    """func of one example as a function of many, which lie along in_dims of its arguments and out_dims of its results.

    in_dims: a dim or None (the same for all examples) for each argument, or one for all. randomness: what random operations inside
    do, "error", "same" for all examples or "different". chunk_size: how many examples to take at once.

    >>> import facula
    >>> facula.func.vmap(lambda x, y: (x * y).sum())(facula.ones(2, 3), facula.ones(2, 3))
    tensor([3., 3.])
    """
    name = getattr(func, "__name__", type(func).__name__)
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(f"vmap: randomness must be 'error', 'same' or 'different', not {randomness!r}.")
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. Here it is {chunk_size}.")

    @functools.wraps(func)
    def inside(*args, **kwargs) -> Any:
        leaves, build, dims, size = examples(name, in_dims, args)
        if chunk_size is None or chunk_size >= size:
            return run(func, name, leaves, build, dims, size, out_dims, randomness, kwargs)
        parts, drawn = [], F.get_rng_state() if randomness == "same" else None
        for start in range(0, size, chunk_size):
            n = min(chunk_size, size - start)
            if start and drawn is not None:  # what is the same for all examples is so beyond a chunk
                F.set_rng_state(drawn)
            chunk = [t if d is None else t.narrow(d, start, n) for t, d in zip(leaves, dims)]
            parts.append(run(func, name, chunk, build, dims, n, out_dims, randomness, kwargs))
        flat, rebuild = flatten(parts[0])
        outs = out_places(name, out_dims, parts[0], flat)
        columns = zip(*[flatten(p)[0] for p in parts])
        return rebuild([c[0] if d is None else F.cat(list(c), d) for c, d in zip(columns, outs)])

    return inside


def examples(name, in_dims, args) -> tuple:
    """(leaves of args, their tree, the dim of each leaf or None, the number of examples)."""
    if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
        raise ValueError(f"vmap({name}): expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims).__name__} {in_dims!r}.")
    if not args:
        raise ValueError(f"vmap({name}): got no inputs. Give at least one argument.")
    leaves, build = flatten(args)
    try:
        dims = broadcast(in_dims, args, "in_dims")
    except ValueError as error:
        raise ValueError(f"vmap({name}): in_dims is not compatible with the structure of `inputs`: {in_dims!r} for {len(args)} arguments. Give one entry for each.") from error
    sizes = []
    for k, (t, d) in enumerate(zip(leaves, dims)):
        if d is None:
            continue
        if not isinstance(d, int) or isinstance(d, bool):
            raise ValueError(f"vmap({name}): Got in_dim={d!r} for an input, but in_dim must be either an integer dimension or None.")
        if not isinstance(t, Tensor):
            raise ValueError(f"vmap({name}): Got in_dim={d} for an input but the input is of type {type(t)}, which has no dims. Use None for it.")
        if not -t.ndim <= d < t.ndim:
            raise ValueError(f"vmap({name}): Got in_dim={d} for some input, but that input is a Tensor of dimensionality {t.ndim}: {-t.ndim} <= in_dim < {t.ndim} is needed.")
        dims[k] = d % t.ndim
        sizes.append(t.shape[d])
    if not sizes:
        raise ValueError(f"vmap({name}): there are no examples, in_dims are None for all arguments. Expected at least one Tensor to map over: give it a dim.")
    if any(s != sizes[0] for s in sizes):
        raise ValueError(f"vmap({name}): Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension.")
    return leaves, build, dims, sizes[0]


def run(func, name, leaves, build, dims, size, out_dims, randomness, kwargs) -> Any:
    level = Level(size, randomness, [t for t, d in zip(leaves, dims) if d is None])
    given = [t if d is None else level.wrap(t if d == 0 else t.movedim(d, 0)) for t, d in zip(leaves, dims)]
    levels().append(level)
    try:
        with extend.interpreter(level):
            out = func(*build(given), **kwargs)
    finally:
        levels().remove(level)
    flat, rebuild = flatten(out)
    places = out_places(name, out_dims, out, flat)
    return rebuild([result(name, level, t, d) for t, d in zip(flat, places)])


def out_places(name, out_dims, out, flat) -> list:
    if isinstance(out_dims, int) or out_dims is None:
        return [out_dims] * len(flat)
    if not isinstance(out_dims, (tuple, list, dict)):
        raise ValueError(f"vmap({name}): `out_dims` must be an int, None or a python collection of ints, not {out_dims!r}.")
    try:
        if isinstance(out, Tensor) and len(out_dims) == 1:
            return list(out_dims)
        return broadcast(tuple(out_dims), tuple(out) if isinstance(out, list) else out, "out_dims")
    except (ValueError, TypeError) as error:
        raise ValueError(f"vmap({name}): out_dims is not compatible with the structure of `outputs`: {out_dims!r}. Give one entry for each result, or one for all.") from error


def result(name, level, t, d) -> Any:
    if d is None:
        if level.mine(t):
            raise ValueError(f"vmap({name}): can not return a BatchedTensor when out_dim is None, and this result differs between examples. Give a dim.")
        return t
    if not isinstance(t, Tensor):
        raise ValueError(f"vmap({name}): the function must only return Tensors, got type {type(t)}. Give None as its out_dim, or convert it.")
    if not isinstance(d, int):
        raise ValueError(f"vmap({name}): out_dims must hold ints and None, not {d!r}.")
    whole = t._whole if level.mine(t) else t.expand(level.size, *t.shape)
    if not -whole.ndim <= d < whole.ndim:
        raise IndexError(f"vmap({name}): out_dims: Dimension out of range (expected to be in range of [{-whole.ndim}, {whole.ndim - 1}], but got {d})")
    return whole if d == 0 else whole.movedim(0, d)


# ---- Functions ----------------------------------------------------------------------------------------------------------


class Info:
    """What a Function's vmap is told first."""

    def __init__(self, level) -> None:
        self.batch_size, self.randomness = level.size, level.randomness


def apply(function, args) -> Any:
    """A Function called inside vmap: by its own vmap, or on the examples themselves where it says generate_vmap_rule."""
    if not levels():
        return NotImplemented
    leaves = flatten(args)[0]
    level = next((lv for lv in reversed(levels()) if any(lv.mine(a) for a in leaves)), None)
    if level is None:
        return NotImplemented
    if function.generate_vmap_rule:
        if function.vmap is not _function.Function.vmap:
            raise GradError(f"{function.__name__}: has both generate_vmap_rule=True and a vmap of its own. Keep one.")
        return generated(function, args, level)
    if function.vmap is _function.Function.vmap:
        raise GradError(f"{function.__name__}: has no vmap. Set generate_vmap_rule = True, or define a static method vmap(info, in_dims, *args).")

    def forward(*given) -> Any:
        leaves, build = flatten(tuple(given))
        wholes, dims = build([a._whole if level.mine(a) else a for a in leaves]), build([0 if level.mine(a) else None for a in leaves])
        with extend.below(level):
            found = function.vmap(Info(level), dims, *wholes)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise GradError(f"{function.__name__}: Expected the vmap staticmethod to have two returns, (output, out_dims), but it returned {type(found).__name__}.")
        outs, dims = found
        single = not isinstance(outs, (tuple, list))
        spread = [dims] * (1 if single else len(outs)) if dims is None or isinstance(dims, int) else dims
        if spread is dims and (single or type(dims) is not type(outs) or len(dims) != len(outs)):
            raise GradError(f"{function.__name__}: the vmap staticmethod returned an incompatible (output, out_dims): {type(outs).__name__} and {dims}. Give one int or None, or one for each output.")
        placed = [result_of(level, o, d) for o, d in zip((outs,) if single else outs, spread)]
        return placed[0] if single else tuple(placed)

    if any(isinstance(a, Tensor) and a._origin is not None for a in args):
        return function._recorded(function._node_class(), args, None, forward)
    return forward(*args)


def result_of(level, o, d) -> Any:
    if d is None or not isinstance(o, Tensor):
        return o
    return level.wrap(o if d == 0 else o.movedim(d, 0))


def generated(function, args, level) -> Any:
    """The Function's own forward on what stands for the examples; where those have a history outside, example by example besides."""
    node = function._node_class()
    out = function._recorded(node, args, None)
    outer = [a for a in args if level.mine(a) and a._whole.requires_grad]
    if not outer or not _core.grad_mode():
        return out
    with extend.below(level):
        rows = [function.apply(*[level.example(level.one(a), k) for a in args]) for k in range(level.size)]
        single = not isinstance(rows[0], tuple)
        columns = [F.stack(list(c)) if isinstance(c[0], Tensor) else None for c in zip(*[(r,) if single else r for r in rows])]
    for o, whole in zip((out,) if single else out, columns):
        if whole is not None:
            o.__dict__["_whole"] = whole
    for i, k in node._result_of.items():  # what backward sees of a result has its history outside, too
        if type(node._saved) is tuple:
            node._saved[2 * i].__dict__["_whole"] = columns[k]
    return out


_function.INSTEAD.append(apply)
