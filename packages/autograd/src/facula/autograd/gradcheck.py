"""gradcheck: analytic gradients against central differences."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from . import _core
from ._api import as_tuple, grad
from ._core import GradError, Tensor, is_complex, is_float, zeros_like
from ._function import Function

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError"]


class GradcheckError(GradError):
    """A gradient differs from what differences say.

    >>> x = facula.tensor([0.5], dtype=facula.float64, requires_grad=True)
    >>> try:
    ...     facula.autograd.gradcheck(lambda x: x * x.detach(), x)
    ... except RuntimeError as error:
    ...     print(type(error).__name__)
    GradcheckError
    """


def gradcheck(
    func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
    check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True,
    fast_mode=False, masked=None,
) -> bool:  # fmt: skip
    """Whether the gradients of func(*inputs) agree with central differences (func(x + eps) - func(x - eps)) / (2 eps).

    Every pair of a differentiable input and output is checked, element by element: each column of the Jacobian. fast_mode
    checks one random projection u^T J v of each pair instead. Inputs should be float64 or complex128: at single precision the
    differences are noise. Complex elements are varied in their real and their imaginary part.

    nondet_tol: how much two runs of backward may differ. check_undefined_grad: backward must also accept that only some
    results have gradients, and a jvp that only some arguments have tangents. check_grad_dtypes: gradients must have their inputs' dtypes. check_batched_grad: backward must agree
    with itself under vmap, check_batched_forward_grad: tangents, too. check_forward_ad: tangents of dual tensors must agree with differences, too (check_backward_ad=False: only they).
    masked: of sparse inputs only the listed elements are varied; by default all are.

    >>> x = facula.tensor([0.5, 2.0], dtype=facula.float64, requires_grad=True)
    >>> facula.autograd.gradcheck(facula.exp, x)
    True
    """
    if any(hasattr(x, "_v") and x.requires_grad for x in as_tuple(inputs)):
        from facula.sparse import as_sparse_gradcheck

        return as_sparse_gradcheck(gradcheck)(
            func, as_tuple(inputs), masked=bool(masked), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
            check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
            check_batched_forward_grad=check_batched_forward_grad, check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad, fast_mode=fast_mode,
        )  # fmt: skip
    if not (check_backward_ad or check_forward_ad):
        raise AssertionError("gradcheck: Expected at least one of check_forward_ad or check_backward_ad to be True, both are False. Set one.")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("gradcheck: Setting check_batched_grad=True requires check_backward_ad to be True.")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("gradcheck: Setting check_batched_forward_grad=True requires check_forward_ad to be True.")
    inputs = as_tuple(inputs)
    try:
        if check_backward_ad:
            _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, fast_mode)
        if check_batched_grad:
            _check_batched(func, inputs, atol, rtol)
        if check_forward_ad:
            _check_forward(func, inputs, eps, atol, rtol, check_undefined_grad, check_batched_forward_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True,
    nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False,
    check_rev_over_rev=True, fast_mode=False, masked=False,
) -> bool:  # fmt: skip
    """gradcheck of the gradients of func: their weights are inputs too. check_fwd_over_rev: also tangents of gradients.

    >>> x = facula.tensor([0.5, 2.0], dtype=facula.float64, requires_grad=True)
    >>> facula.autograd.gradgradcheck(facula.exp, x)
    True
    """
    for name, asked in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if asked and not check_rev_over_rev:
            raise AssertionError(f"gradgradcheck: Setting {name}=True requires check_rev_over_rev to be True. Set it, or leave {name} out.")
    inputs = as_tuple(inputs)
    outs = _differentiable(func(*inputs))
    if grad_outputs is None:
        weights = [_weights(o, gen_non_contig_grad_outputs) for o in outs]
    else:
        weights = list(as_tuple(grad_outputs))
    varied = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    def gradients(*args) -> tuple:
        xs, ws = args[: len(inputs)], args[len(inputs) :]
        for x in (*(xs[i] for i in varied), *ws):
            x.requires_grad_()  # in forward mode they come without
        found = grad(_differentiable(func(*xs)), [xs[i] for i in varied], list(ws), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients, (*inputs, *weights), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _differentiable(out) -> list:
    return [o for o in as_tuple(out) if isinstance(o, Tensor) and o.requires_grad]


def _weights(like, noncontiguous) -> Tensor:
    """Weights of a result, drawn as PyTorch draws them: a program that goes on drawing gets its numbers."""
    from facula.testing import make_tensor

    return make_tensor(tuple(like.shape), dtype=like.dtype, device=like.device, low=-1, high=1, requires_grad=True, noncontiguous=noncontiguous)


def _two(like) -> list:
    """Two weights or directions that vmap runs at once, drawn as PyTorch draws them."""
    import facula

    return [facula.randn_like(like.detach()) for _ in range(2)]


_draws = None  # a generator of its own: a function that draws from the global one in a state that is put back sees that state


def _random(like) -> Tensor:
    """Normal numbers for a direction or weights."""
    import facula

    global _draws
    if _draws is None:
        _draws = facula.Generator().manual_seed(0)
    return facula.randn(tuple(like.shape), dtype=like.dtype, generator=_draws)


def _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined, check_dtypes, fast) -> None:
    varied = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not varied:
        raise ValueError("gradcheck: expects at least one input tensor to require gradient, but none of the inputs has requires_grad=True.")
    for i in varied:
        if inputs[i].dtype.itemsize // (2 if is_complex(inputs[i]) else 1) < 8:
            import warnings

            warnings.warn(
                f"gradcheck: Input #{i} requires gradient and is not a double precision floating point or complex: {inputs[i].dtype}. "
                "Differences at that precision are noise. Use float64.",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(inputs[i].stride(), inputs[i].shape)):
            raise RuntimeError(f"gradcheck: The {i}th input has a dimension with stride 0: its elements share memory, so that none can be moved alone. Give a contiguous copy.")
    outs = [o for o in as_tuple(func(*inputs)) if isinstance(o, Tensor)]
    if any(o.is_sparse for o in outs):
        raise ValueError("gradcheck: Sparse output is not supported at gradcheck yet. Please call to_dense() on the output of fn for gradcheck.")
    places = [k for k, o in enumerate(outs) if o.requires_grad]
    if not places:
        numeric_zero(func, inputs, varied, outs, eps, atol)
        return

    def values(xs) -> list:
        results = [o for o in as_tuple(func(*xs)) if isinstance(o, Tensor)]
        for k in places:
            _same(results[k], outs[k])
        return [results[k].detach().clone() for k in places]

    compared = [outs[k] for k in places]
    compare = _projected if fast else _whole
    for i in varied:
        compare(inputs, i, compared, values, eps, atol, rtol)
    outs = compared
    for o in outs:
        _check_zero(o, inputs, varied)
        w = _random(o)
        runs = [grad([o], [inputs[i] for i in varied], [w], retain_graph=True, allow_unused=True) for _ in range(2)]
        for i, a, b in zip(varied, *runs):
            if a is not None and _far(a, b, nondet_tol, 0):
                raise GradcheckError(f"gradcheck: Backward is not reentrant, i.e., running it twice on the same values gives different gradients: the gradient of input {i} differs between two runs by more than {nondet_tol}.")
            if check_dtypes and a is not None and a.dtype is not inputs[i].dtype:
                raise GradcheckError(f"gradcheck: the gradient of input {i} is {a.dtype} and the input {inputs[i].dtype}.")
    if check_undefined:
        _check_undefined(func, inputs, [inputs[i] for i in varied])


def _same(perturbed, before) -> None:
    for what in ("shape", "dtype"):
        if getattr(perturbed, what) != getattr(before, what):
            raise AssertionError(
                f"gradcheck: Expected `func` to return outputs with the same {what} when inputs are perturbed, "
                f"but got {getattr(perturbed, what)} for {getattr(before, what)}."
            )


class _Undefined(Function):
    """The identity, whose gradient is None."""

    @staticmethod
    def forward(ctx, x) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g) -> None:
        return None


def _check_undefined(func, inputs, varied) -> None:
    """Backward takes None for the gradients of all results, and of one after the other, and then gives none, or zeros."""
    count = len(_differentiable(func(*inputs)))
    for without in ([range(count), *[(k,) for k in range(count)]] if count > 1 else [range(count)]):
        outs = [_Undefined.apply(o) if k in without else o for k, o in enumerate(_differentiable(func(*inputs)))]
        try:
            found = grad(outs, varied, [zeros_like(o.detach()) for o in outs], allow_unused=True)
        except RuntimeError as error:
            warnings.warn(
                "Backwards compatibility: New undefined gradient support checking feature found a backward that takes no None. Pass check_undefined_grad=False to leave it out.",
                stacklevel=4,
            )
            raise GradcheckError(f"gradcheck: Expected backward function to handle undefined output grads: {error}") from error
        if any(g is not None and not bool((g == 0).all()) for g in found):
            raise GradcheckError("gradcheck: Expected all input grads to be undefined or zero when all output grads are undefined or zero.")


def _check_zero(o, inputs, varied) -> None:
    """A gradient of zeros gives zeros, laid out as the input."""
    found = grad([o], [inputs[i] for i in varied], [zeros_like(o.detach())], retain_graph=True, allow_unused=True)
    for i, g in zip(varied, found):
        if g is None:
            continue
        if g.layout is not inputs[i].layout:
            raise GradcheckError(f"gradcheck: grad is incorrect layout ({g.layout} is not {inputs[i].layout}) of input {i}. Convert it in backward.")
        if not bool((g.detach() == 0).all().item()):
            raise GradcheckError(f"gradcheck: backward not multiplied by grad_output: a gradient of zeros gives input {i} one that is not zero.")


def _check_batched(func, inputs, atol, rtol) -> None:
    """Two backward passes at once against two."""
    varied = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    for k, o in enumerate(_differentiable(func(*inputs))):
        ws = _two(o)
        alone = [grad([o], varied, [w], retain_graph=True, allow_unused=True) for w in ws]
        with _named_batched():
            both = grad([o], varied, [_core.stack(ws)], retain_graph=True, allow_unused=True, is_grads_batched=True)
        for i, g in enumerate(both):
            if g is not None and any(_far(g[n], alone[n][i], atol, rtol) for n in range(2)):
                raise GradcheckError(f"gradcheck: the gradient of output {k} with respect to input {i} under vmap differs from that without.")


@contextlib.contextmanager
def _named_batched(forward=False) -> Iterator[None]:
    """A block in which vmap runs, whose errors are the check's."""
    try:
        yield
    except RuntimeError as error:
        what = "gradcheck failed while testing batched gradient computation with forward-mode AD" if forward else "gradcheck or gradgradcheck failed while testing batched gradient computation"
        leave_out = "check_batched_forward_grad" if forward else "check_batched_grad"
        raise GradcheckError(f"gradcheck: While computing batched gradients, got: {error}\n\n{what}. Run under vmap what it computes, or leave out {leave_out}=True.") from error


def _check_forward(func, inputs, eps, atol, rtol, undefined, batched) -> None:
    """Tangents along random directions against differences."""
    from . import forward_ad

    places = [k for k, o in enumerate(as_tuple(func(*inputs))) if isinstance(o, Tensor) and is_float(o) and o.requires_grad]
    plain = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
    varied = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    def pushed(along) -> list:
        """The results' tangents, from those of some inputs: {index: tangent}."""
        with forward_ad.dual_level():
            outs = as_tuple(func(*[forward_ad.make_dual(t, along[k]) if k in along else t for k, t in enumerate(plain)]))
            return [forward_ad.unpack_dual(outs[k]).tangent for k in places]

    for i in varied:
        x = inputs[i]
        v = _random(x)

        def alone(v, i=i) -> list:
            return pushed({k: v if k == i else zeros_like(plain[k]) for k in varied})

        tangents = alone(v)
        if batched:
            _check_batched_forward(alone, x.detach(), i, atol, rtol)
        up, down = (_with_moved(inputs, i, s * eps * v, lambda xs: [copied(o) for o in as_tuple(func(*xs))]) for s in (1, -1))
        for k, tangent in zip(places, tangents):
            numeric = (up[k].detach() - down[k].detach()) / (2 * eps)
            analytic = numeric * 0 if tangent is None else tangent.detach()
            if _far(analytic, numeric, atol * max(1.0, x.numel() ** 0.5), rtol):
                raise GradcheckError(f"gradcheck: Jacobian computed with forward mode mismatch for output {k} with respect to input {i}: a projection of it differs from what differences say by up to {float((analytic - numeric).abs().max().item()):.3g}.")
    if undefined:
        _check_undefined_forward(pushed, inputs, varied)


def _check_undefined_forward(pushed, inputs, varied) -> None:
    """An input without a tangent is as good as one whose tangent is zeros."""
    for i in varied:
        others = {k: _random(inputs[k]) for k in varied if k != i}
        zeros = pushed({k: zeros_like(inputs[i].detach()) if k == i else others[k].clone() for k in varied})
        for k, (a, b) in enumerate(zip(zeros, pushed(others))):
            if a is not None and b is not None and _far(b, a, 1e-8, 1e-5):
                raise GradcheckError(f"gradcheck: the tangent of output {k} is another where input {i} has no tangent than where its tangent is zeros. Take None in jvp as zeros.")


def _check_batched_forward(pushed, x, i, atol, rtol) -> None:
    """Two tangents at once against two."""
    from .func import vmap

    vs = _two(x)
    alone = [pushed(w) for w in vs]
    with _named_batched(forward=True):
        both = vmap(lambda w: tuple(_core.zeros((), x.dtype, x.device) if t is None else t for t in pushed(w)))(_core.stack(vs))
    for k, t in enumerate(both):
        if any(alone[n][k] is not None and _far(t[n], alone[n][k], atol, rtol) for n in range(2)):
            raise GradcheckError(f"gradcheck: the tangent of output {k} along input {i} under vmap differs from that without.")


def numeric_zero(func, inputs, varied, outs, eps, atol) -> None:
    """Results without history must not depend on the inputs."""
    if not any(is_float(o) for o in outs):
        return
    for i in varied:
        for e in range(inputs[i].numel()):
            up, down = (_with_moved(inputs, i, _one(inputs[i], e, s * eps), lambda xs: [copied(o) for o in as_tuple(func(*xs))]) for s in (1, -1))
            for a, b in zip(up, down):
                if isinstance(a, Tensor) and is_float(a) and _far(a, b, atol * eps, 0):
                    raise GradcheckError(f"gradcheck: Numerical gradient for function expected to be zero, as a result has no history, but it is not with respect to input {i}.")


def copied(o) -> Any:
    return o.detach().clone() if isinstance(o, Tensor) else o


def _one(x, e, step) -> Tensor:
    """A tensor like x of zeros, but for step at element e."""
    delta = zeros_like(x.detach()).reshape(-1)
    delta[e] = step
    return delta.reshape(tuple(x.shape))


def _overlaps(x) -> bool:
    """Whether elements of x may share memory: then one cannot be moved alone."""
    reach = 0
    for stride, size in sorted((stride, size) for stride, size in zip(x.stride(), x.shape) if size > 1):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _with_moved(inputs, i, delta, compute) -> Any:
    """compute(inputs) while delta is added to input i itself: func may reach it otherwise than by its arguments, as modules do."""
    x = inputs[i]
    if x.is_sparse or x.is_conj() or _overlaps(x):
        return compute([*inputs[:i], (x.detach() + delta).requires_grad_(), *inputs[i + 1 :]])
    data = x.data
    kept = data.clone()
    data.add_(delta)
    try:
        return compute(inputs)
    finally:
        data.copy_(kept)


def _far(a, b, atol, rtol) -> bool:
    a, b = a.detach(), b.detach()
    gap = (a - b).abs()
    return bool((gap > b.abs() * rtol + atol).any().item()) or bool((gap.isnan()).any().item())


def _whole(inputs, i, outs, values, eps, atol, rtol) -> None:
    """All elements of the Jacobian of every output with respect to input i.

    In terms of a real loss L, the gradient of a complex z is dL/d Re z + i dL/d Im z; with L = Re(conj(w) out) that is compared with
    the differences of L, for w = 1 (and i where out is complex) at one element of out at a time.
    """
    x = inputs[i]
    directions = (1, 1j) if is_complex(x) else (1,)
    columns = {}
    for e in range(x.numel()):
        for d in directions:
            up, down = (_with_moved(inputs, i, _one(x, e, s * d * eps), values) for s in (1, -1))
            columns[e, d] = [((a - b) / (2 * eps)).reshape(-1) for a, b in zip(up, down)]
    for k, o in enumerate(outs):
        flat = [0j if is_complex(o) else 0.0] * o.numel()
        for element in range(o.numel()):
            for unit in (1j, 1) if is_complex(o) else (1,):
                weight = list(flat)
                weight[element] = unit
                g = _analytic(o, x, weight)
                for e in range(x.numel()):
                    for d in directions:
                        c = complex(columns[e, d][k][element].item())
                        numeric = (unit.conjugate() * c).real
                        analytic = _part(g, e, d)
                        if not abs(analytic - numeric) <= atol + rtol * abs(numeric):
                            raise GradcheckError(
                                f"gradcheck: {'While considering the imaginary part of complex outputs only, ' if unit == 1j else ''}"
                                f"Jacobian mismatch for output {k} with respect to input {i}: "
                                f"d out[{element}] / d in[{e}] is {numeric:.6g} numerically and {analytic:.6g} analytically."
                            )


def _analytic(o, x, weight) -> Tensor | None:
    import facula

    w = facula.tensor(weight, dtype=o.dtype).reshape(tuple(o.shape))
    (g,) = grad([o], [x], [w], retain_graph=True, allow_unused=True)
    return None if g is None else dense(g.detach()).reshape(-1)


def dense(g) -> Tensor:
    return g.to_dense() if g.is_sparse else g


def _part(g, e, d) -> float:
    if g is None:
        return 0.0
    value = complex(g[e].item())
    return value.imag if d == 1j else value.real


def _projected(inputs, i, outs, values, eps, atol, rtol) -> None:
    """One number per output: Re(conj(u) . J v) for random u and v."""
    x = inputs[i]
    if x.numel() == 0:
        return
    v = _random(x)
    scale = max(float((v.abs() ** 2).sum().item()) ** 0.5, 1e-30)
    v = v / scale
    up, down = (_with_moved(inputs, i, s * eps * v, values) for s in (1, -1))
    for k, o in enumerate(outs):
        u = _random(o)
        if o.numel() == 0:
            continue
        numeric = complex((u.conj() * ((up[k] - down[k]) / (2 * eps))).sum().item()).real
        (g,) = grad([o], [x], [u], retain_graph=True, allow_unused=True)
        analytic = 0.0 if g is None else complex((dense(g.detach()).conj() * v).sum().item()).real
        # what each element of the Jacobian may be off by adds up in u^T J v: this mode refuses nothing that the whole comparison takes
        room = atol * max(1.0, float(u.abs().sum().item()) * float(v.abs().sum().item())) + rtol * abs(numeric)
        if not abs(analytic - numeric) <= room:
            raise GradcheckError(
                f"gradcheck: Jacobian mismatch for output {k} with respect to input {i}: a projection of it is {numeric:.6g} numerically "
                f"and {analytic:.6g} analytically. Run without fast_mode to see which element."
            )
