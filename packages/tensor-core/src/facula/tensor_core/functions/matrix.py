"""Products of matrices and vectors, and sums with them."""

from facula.tensor_core import _ops, _warned
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core._errors import DTypeError, RankError, ShapeError
from facula.tensor_core.dispatch.kinds import check, kinds_first, want_tensor, want_tensors
from facula.tensor_core.dispatch.out import a_tensor, clear, into, resize, same_dtype
from facula.tensor_core.dispatch.run import fitting
from facula.tensor_core.functions import create as _create
from facula.tensor_core.functions.shape import broadcast_shapes
from facula.tensor_core._state import promote_types
from facula.tensor_core._lib import lib
from facula.tensor_core._tensor import Tensor


def _want(op, **operands):
    """Refuse the first operand that is no tensor; not asked where all are plain ones."""
    for position, (name, operand) in enumerate(operands.items()):
        want_tensor(op, name, position, operand)


def mm(input, mat2, *, out=None):
    """Product of two matrices. Raises RuntimeError for other ranks.

    >>> import facula
    >>> facula.mm(facula.ones(1, 2), facula.ones(2, 1))
    tensor([[2.]])
    >>> facula.ones(1, 2).mm(facula.ones(2, 1))
    tensor([[2.]])
    """
    if not (type(input) is type(mat2) is Tensor):
        _want("mm", input=input, mat2=mat2)
    if input.dim() != 2 or mat2.dim() != 2:
        kinds_first("mm", out=out)
        raise ShapeError(f"mm: both arguments must be 2D matrices, but self is {input.dim()}D and mat2 is {mat2.dim()}D. Use matmul for others.")
    return _ops.matmul(input, mat2, out=out)


def linear_plus(input, weight, bias):
    """linear with a bias that broadcasts over the result, instead of a vector."""
    rows = _ops.unsqueeze(input, 0) if input.dim() == 1 else input
    product = _ops.linear(rows, weight)
    result = _ops.add(product, bias)
    if result.shape != product.shape:
        raise ShapeError(f"linear: a bias of shape {tuple(bias.shape)} does not broadcast over the result of shape {tuple(product.shape)}. Give one number for each row of weight.")
    return _ops.squeeze(result, (0,)) if input.dim() == 1 else result


@_dispatch.one_step(matmul="BmmBackward0")
def bmm(input, mat2, *, out=None):
    """Products of two batches of matrices.

    >>> x = facula.tensor([[[1.0, 2.0]], [[3.0, 4.0]]])
    >>> facula.bmm(x, facula.tensor([[[1.0], [1.0]], [[10.0], [0.0]]]))
    tensor([[[ 3.]],
    <BLANKLINE>
            [[30.]]])
    >>> x.bmm(facula.tensor([[[1.0], [1.0]], [[10.0], [0.0]]]))
    tensor([[[ 3.]],
    <BLANKLINE>
            [[30.]]])
    """
    if not (type(input) is type(mat2) is Tensor):
        _want("bmm", input=input, mat2=mat2)
    if input.dim() != 3 or mat2.dim() != 3:
        kinds_first("bmm", out=out)
        raise (RankError if min(input.dim(), mat2.dim()) < 3 else ShapeError)(f"bmm: batch1 and batch2 must be 3D tensors, got {input.dim()}D and {mat2.dim()}D. Use matmul for others.")
    if input.shape[0] != mat2.shape[0]:
        kinds_first("bmm", out=out)
        raise ShapeError(f"bmm: batch sizes must agree, got {input.shape[0]} and {mat2.shape[0]} ({tuple(input.shape)} and {tuple(mat2.shape)}).")
    return _ops.matmul(input, mat2, out=out)


def mv(input, vec, *, out=None):
    """Product of a matrix and a vector.

    >>> x = facula.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> facula.mv(x, facula.tensor([1.0, 10.0]))
    tensor([21., 43.])
    >>> x.mv(facula.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    if not (type(input) is type(vec) is Tensor):
        _want("mv", input=input, vec=vec)
    if input.dim() != 2 or vec.dim() != 1:
        kinds_first("mv", out=out)
        raise (ShapeError if input.dim() else RankError)(f"mv: vector + matrix @ vector expected, got {input.dim()}D and {vec.dim()}D. Use matmul for others.")
    return _ops.matmul(input, vec, out=out)


def dot(input, tensor, *, out=None):
    """Product of two vectors of one length.

    >>> x = facula.tensor([1.0, 2.0])
    >>> facula.dot(x, facula.tensor([3.0, 4.0]))
    tensor(11.)
    >>> x.dot(facula.tensor([3.0, 4.0]))
    tensor(11.)
    """
    if not (type(input) is type(tensor) is Tensor):
        _want("dot", input=input, tensor=tensor)
    if input.dim() != 1 or tensor.dim() != 1:
        kinds_first("dot", out=out)
        raise ShapeError(f"dot: 1D tensors expected, but got {input.dim()}D and {tensor.dim()}D tensors. Use matmul for others.")
    if input.shape != tensor.shape:
        kinds_first("dot", out=out)
        if input.dtype is not tensor.dtype and not _dispatch.listened():
            raise DTypeError(f"dot : expected both vectors to have same dtype, but found {input.dtype._name} and {tensor.dtype._name}. Convert one with .to().")
        raise ShapeError(f"dot: inconsistent tensor size, expected tensor [{input.shape[0]}] and src [{tensor.shape[0]}] to have the same number of elements")
    return _ops.matmul(input, tensor, out=out)


def vdot(input, other, *, out=None):
    """Product of the conjugate of a vector and another.

    >>> x = facula.tensor([1j, 2.0])
    >>> facula.vdot(x, x)
    tensor(5.+0.j)
    >>> x.vdot(x)
    tensor(5.+0.j)
    """
    if not isinstance(input, Tensor) or not input.is_complex():
        product = dot(input, other, out=out)
    elif out is None and isinstance(other, Tensor) and other.is_conj() and not input.is_conj():
        product = dot(input, other.conj()).conj()  # no copy, and a conjugate as PyTorch's
    else:
        product = dot(input.conj(), other, out=out)
    return _dispatch.one_node(product, "VdotBackward0", input, other)


def outer(input, vec2, *, out=None):
    """Products of every element of one vector with every element of another.

    >>> x = facula.tensor([1.0, 2.0])
    >>> facula.outer(x, facula.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    >>> x.outer(facula.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    if not (type(input) is type(vec2) is Tensor):
        _want("outer", input=input, vec2=vec2)
    if input.dim() != 1 or vec2.dim() != 1:
        kinds_first("outer", out=out)
        raise ShapeError(f"outer: Expected 1-D arguments, but got {input.dim()}-D and {vec2.dim()}-D.")
    return _ops.mul(_ops.view(input, (input.shape[0], 1)), vec2, out=out)


ger = outer


def older_order(name, given, beta, alpha):
    """Operands and factors as PyTorch once took them: addmm(beta, input, alpha, mat1, mat2), input.addmm(beta, mat1, mat2)."""
    tensors, factors = ([g for g in given if isinstance(g, Tensor) is kind] for kind in (True, False))
    if len(tensors) != 3 or not 1 <= len(factors) <= 2 or isinstance(given[-1], Tensor) is False or isinstance(given[-2], Tensor) is False:
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({', '.join(type(g).__name__ for g in given)}). Give three tensors, beta and alpha by name.")
    _dispatch.older_order(name, factors[0], 4)
    return (*tensors, *factors, *(beta, alpha)[len(factors):])


def addmm(input, mat1, mat2, *older, beta=1, alpha=1, out=None):
    """beta * input + alpha * (mat1 @ mat2).

    >>> x = facula.ones(2, 2)
    >>> facula.addmm(x, facula.tensor([[1.0], [2.0]]), facula.tensor([[3.0, 4.0]]), beta=10)
    tensor([[13., 14.],
            [16., 18.]])
    >>> x.addmm(facula.tensor([[1.0], [2.0]]), facula.tensor([[3.0, 4.0]]), beta=10)
    tensor([[13., 14.],
            [16., 18.]])
    """
    if older:
        input, mat1, mat2, beta, alpha = older_order("addmm", (input, mat1, mat2, *older), beta, alpha)
    if not (type(input) is type(mat1) is type(mat2) is Tensor):
        _want("addmm", input=input, mat1=mat1, mat2=mat2)
    if (t := _row_of("addmm", input, mat1, mat2, beta, alpha, out)) is not None:
        return t
    if mat1.dim() != 2 or mat2.dim() != 2:
        kinds_first("addmm", beta=beta, alpha=alpha, out=out)
        raise ShapeError(f"addmm: mat1 and mat2 must be matrices, got {mat1.dim()}-D and {mat2.dim()}-D tensors")
    return _dispatch.one_node(_scaled_sum("addmm", input, _ops.matmul, mat1, mat2, beta, alpha, out), "AddmmBackward0", input, mat1, mat2)


def addmv(input, mat, vec, *older, beta=1, alpha=1, out=None):
    """beta * input + alpha * (mat @ vec).

    >>> x = facula.ones(2)
    >>> facula.addmv(x, facula.tensor([[1.0, 2.0], [3.0, 4.0]]), facula.tensor([1.0, 1.0]))
    tensor([4., 8.])
    >>> x.addmv(facula.tensor([[1.0, 2.0], [3.0, 4.0]]), facula.tensor([1.0, 1.0]))
    tensor([4., 8.])
    """
    if older:
        input, mat, vec, beta, alpha = older_order("addmv", (input, mat, vec, *older), beta, alpha)
    if not (type(input) is type(mat) is type(vec) is Tensor):
        _want("addmv", input=input, mat=mat, vec=vec)
    if (t := _row_of("addmv", input, mat, vec, beta, alpha, out)) is not None:
        return t
    return _dispatch.one_node(_scaled_sum("addmv", input, mv, mat, vec, beta, alpha, out), "AddmvBackward0", input, mat, vec)


def addbmm(input, batch1, batch2, *older, beta=1, alpha=1, out=None):
    """beta * input + alpha * the sum over the batch of products.

    >>> x = facula.zeros(2, 2)
    >>> facula.addbmm(x, facula.ones(3, 2, 1), facula.ones(3, 1, 2))
    tensor([[3., 3.],
            [3., 3.]])
    >>> x.addbmm(facula.ones(3, 2, 1), facula.ones(3, 1, 2))
    tensor([[3., 3.],
            [3., 3.]])
    """
    if older:
        input, batch1, batch2, beta, alpha = older_order("addbmm", (input, batch1, batch2, *older), beta, alpha)
    if not (type(input) is type(batch1) is type(batch2) is Tensor):
        _want("addbmm", input=input, batch1=batch1, batch2=batch2)
    if (t := _row_of("addbmm", input, batch1, batch2, beta, alpha, out)) is not None:
        return t
    summed = _scaled_sum("addbmm", input, lambda x, y: _ops.sum(bmm(x, y), 0, dtype=x.dtype), batch1, batch2, beta, alpha, out)
    return _dispatch.one_node(summed, "AddbmmBackward0", input, batch1, batch2)


def baddbmm(input, batch1, batch2, *older, beta=1, alpha=1, out=None):
    """beta * input + alpha * (batch1 @ batch2).

    >>> x = facula.ones(1, 2, 2)
    >>> facula.baddbmm(x, facula.ones(1, 2, 3), facula.ones(1, 3, 2))
    tensor([[[4., 4.],
             [4., 4.]]])
    >>> x.baddbmm(facula.ones(1, 2, 3), facula.ones(1, 3, 2))
    tensor([[[4., 4.],
             [4., 4.]]])
    """
    if older:
        input, batch1, batch2, beta, alpha = older_order("baddbmm", (input, batch1, batch2, *older), beta, alpha)
    if not (type(input) is type(batch1) is type(batch2) is Tensor):
        _want("baddbmm", input=input, batch1=batch1, batch2=batch2)
    if (t := _row_of("baddbmm", input, batch1, batch2, beta, alpha, out)) is not None:
        return t
    return _dispatch.one_node(_scaled_sum("baddbmm", input, bmm, batch1, batch2, beta, alpha, out), "BaddbmmBackward0", input, batch1, batch2)


def addr(input, vec1, vec2, *older, beta=1, alpha=1, out=None):
    """beta * input + alpha * outer(vec1, vec2). Of bool tensors: (beta and input) or (alpha and outer).

    >>> x = facula.zeros(2, 2)
    >>> facula.addr(x, facula.tensor([1.0, 2.0]), facula.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    >>> x.addr(facula.tensor([1.0, 2.0]), facula.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    if older:
        input, vec1, vec2, beta, alpha = older_order("addr", (input, vec1, vec2, *older), beta, alpha)
    if not (type(input) is type(vec1) is type(vec2) is Tensor):
        _want("addr", input=input, vec1=vec1, vec2=vec2)
    if (out is None or _as_is(input, out)) and _is_outer(input, vec1, vec2, beta, alpha) and not _ops.interpreting:
        return _dispatch.one_node(_ops._addr(input, _ops.unsqueeze(vec1, 1), vec2, beta=beta, alpha=alpha, out=out), "AddrBackward0", input, vec1, vec2)
    kinds = {t.dtype._kind for t in (input, vec1, vec2)}
    _real_factors("addr", kinds, beta, alpha)
    if not (input.dtype is vec1.dtype is vec2.dtype) and vec1.dim() == vec2.dim() == 1:  # computed in the dtype that all three make
        both = promote_types(promote_types(vec1.dtype, vec2.dtype), input.dtype)
        input, vec1, vec2 = input.to(both), vec1.to(both), vec2.to(both)
    if type(beta) not in _REAL or type(alpha) not in _REAL:
        kinds_first("addr", beta=beta, alpha=alpha)
    beta = fitting("addr", beta, input.dtype)
    for word, number in (("beta", beta), ("alpha", alpha)):
        if kinds <= {0, 1} and isinstance(number, (float, complex)):
            raise RuntimeError(f"addr: For integral input tensors, argument {word} must not be a floating point number, got {number}.")
        if kinds != {0} and isinstance(number, bool):
            raise RuntimeError(f"addr: Boolean {word} only supported for Boolean results, got {number} for {input.dtype._name}. Give {int(number)}.")
    if kinds == {0}:
        beta, alpha = bool(beta), bool(alpha)
    return _dispatch.one_node(_sum_of("addr", input, outer, vec1, vec2, beta, alpha, out), "AddrBackward0", input, vec1, vec2)


def _row_of(name, input, x, y, beta, alpha, out):
    """alpha * x @ y + beta * input where the row does it: one floating dtype, real factors, shapes that fit, out's too. None elsewhere."""
    if _ops.interpreting or not _is_row(_RANKS[name], input, x, y, beta, alpha) or out is not None and not _as_is(input, out):
        return None
    if out is not None and beta:
        clear(name, out, (input,))
    try:
        result = _ops._plus_product(input, x, y, beta, alpha, name == "addbmm", out=out)
    except RuntimeError:  # shapes that do not fit: refused in other words
        return None
    return result if out is None or result.shape == input.shape else None


_REAL = (float, int)
_RANKS = {"addmm": (2, 2), "addmv": (2, 1), "addbmm": (3, 3), "baddbmm": (3, 3)}


def _is_row(ranks, input, x, y, beta, alpha):
    """Are they what the row takes, of these ranks?"""
    kind = input.dtype
    return type(beta) in _REAL and type(alpha) in _REAL and kind is x.dtype is y.dtype and kind._kind > 1 and (x.dim(), y.dim()) == ranks


def _is_outer(input, x, y, beta, alpha):
    """Are they what addr's row takes? Of halves every step is rounded, and bool has no sums."""
    kind = input.dtype
    if not (kind is x.dtype is y.dtype) or not kind._kind or kind._kind == 2 and kind.itemsize == 2 or len(x.shape) != 1 or len(y.shape) != 1 or input.shape != (x.shape[0], y.shape[0]):
        return False
    return beta and (type(beta) is type(alpha) is int and -128 < beta < 128 > abs(alpha) if kind._kind == 1 else type(beta) in _REAL and type(alpha) in _REAL)


def adder(name):
    """What writes input = beta * input + alpha * x @ y, of (input, (x, y), {beta, alpha}), where that is all there is to it and nobody has to
    hear of it, and says whether it did. One function for each name: the small ones among these sums are calls more than sums."""
    plus_product, apart, over = _ops._plus_product_, _ops.odd_apart, name == "addbmm"
    ranks = _RANKS.get(name)

    def added(input, args, options):
        if _ops.interpreting or len(args) != 2:
            return False
        x, y = args
        if not (type(x) is type(y) is type(input) is Tensor) or apart(input, x, y):
            return False
        beta, alpha = options.get("beta", 1), options.get("alpha", 1)
        if len(options) > ("beta" in options) + ("alpha" in options):  # a keyword of no such function: refused in other words
            return False
        if ranks is None:
            return _is_outer(input, x, y, beta, alpha) and _ops._addr_(input, _ops.unsqueeze(x, 1), y, beta=beta, alpha=alpha) is input
        if not _is_row(ranks, input, x, y, beta, alpha):
            return False
        try:
            plus_product(input, x, y, beta, alpha, over)
        except RuntimeError:  # shapes that do not fit: refused in other words
            return False
        return True

    return added


def _as_is(t, out):
    """Has the output this tensor's dtype and shape?"""
    return type(out) is Tensor and out.dtype is t.dtype and out.shape == t.shape


def _real_factors(name, kinds, beta, alpha):
    """Refuse complex factors of real tensors."""
    if 3 not in kinds and (isinstance(beta, complex) or isinstance(alpha, complex)):
        raise RuntimeError(f"{name}: value cannot be converted to type float without overflow: beta={beta}, alpha={alpha}. Give real factors.")


def _scaled_sum(name, input, multiply, x, y, beta, alpha, out):
    """_sum_of tensors of one dtype; integers take the factors cut to integers."""
    if name in ("addbmm", "baddbmm") and (x.dim() < 2 or y.dim() < 3) and not _dispatch.listened():  # PyTorch reads these sizes before all else
        kinds_first(name, beta=beta, alpha=alpha, out=out)
        raise RankError(f"{name}: batch1 and batch2 must be 3D tensors, got {x.dim()}D and {y.dim()}D. Add dims with unsqueeze.")
    if not (input.dtype is x.dtype is y.dtype) and not _dispatch.listened():  # autocast may be about to make them agree
        kinds_first(name, beta=beta, alpha=alpha, out=out)
        raise RuntimeError(f"{name}: Input dtypes must be the same, got {input.dtype._name}, {x.dtype._name} and {y.dtype._name}. Convert them.")
    if type(beta) is not int or type(alpha) is not int:
        check(name, "beta", None, "number", beta)
        check(name, "alpha", None, "number", alpha)
        _real_factors(name, {input.dtype._kind}, beta, alpha)
    if input.dtype._kind < 2:
        if input.dtype._kind == 0:
            raise DTypeError(f"{name}: not implemented for 'Bool'. Convert with .to(facula.int64).")
        beta, alpha = int(fitting(name, beta, input.dtype)), int(fitting(name, alpha, input.dtype))
    return _sum_of(name, input, multiply, x, y, beta, alpha, out)


def _sum_of(name, input, multiply, x, y, beta, alpha, out):
    """beta = 0 leaves input out altogether, NaN and all, as PyTorch does. Halves compute in float32 and round once; addr, of one product,
    rounds after every step, and its factors."""
    half = input.dtype
    halves = half.itemsize == 2 and half._kind == 2 and x.dtype is y.dtype is half
    if halves and multiply is outer:
        beta, alpha = (_create.full((), number, dtype=half).item() for number in (beta, alpha))
        x, alpha = _ops.mul(x, alpha), 1
    elif halves:
        result = _sum_of(name, input.float(), multiply, x.float(), y.float(), beta, alpha, None).to(half)
        return result if out is None else into(name, result, out, (_ops.expand(input, result.shape),) if beta else ())
    if out is not None:
        a_tensor(name, out)
    if out is not None and name != "addr":
        same_dtype(name, input.dtype, out)
    if multiply is outer and beta == 0 and alpha != 1:
        x, alpha = _ops.mul(x, alpha), 1
    product = multiply(x, y)
    if input.dim() > product.dim() or broadcast_shapes(input.shape, product.shape) != product.shape:
        raise ShapeError(f"The expanded size of the tensor must match the existing size: input {tuple(input.shape)} does not expand to {tuple(product.shape)}.")
    if out is not None:
        resize(name, out, product.shape)
        given = _ops.expand(input, product.shape)
        clear(name, out, (given, _ops.unsqueeze(x, 1), y) if multiply is outer else (given,) if beta else ())
        if input.shape != product.shape and lib.fc_same_storage(out._h, input._h):
            input = _ops.copy(given, None, 0)  # all of it is read, also where it is written over
    if multiply is outer and beta != 0 and input.dtype is x.dtype is y.dtype and input.dtype._kind and not halves:
        return _ops._addr(input, _ops.unsqueeze(x, 1), y, beta=beta, alpha=alpha, out=out)
    if alpha != 1:
        product = _ops.mul(product, alpha)
    if beta == 0:
        return _ops.add(product, 0 if product.dtype._kind else False, out=out)
    if multiply is outer and not input.is_contiguous() and input.shape == product.shape:  # the result lies as input does
        return _ops.add(input if beta == 1 else _ops.mul(input, beta), product, out=out)
    return _ops.add(product, input, alpha=+beta, out=out) if input.dtype._kind == 2 else _ops.add(product, input if beta == 1 else _ops.mul(input, beta), out=out)


def chain_matmul(*matrices, out=None):
    """Product of several matrices in the cheapest order.

    >>> facula.chain_matmul(facula.ones(2, 3), facula.ones(3, 4), facula.ones(4, 1))
    tensor([[12.],
            [12.]])
    """
    from facula.linalg import multi_dot

    _warned.superseded("chain_matmul", "linalg.multi_dot([...])")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices, got none.")
    want_tensors("chain_matmul", matrices)
    for t in matrices:
        if t.dim() != 2:
            raise RuntimeError(f"chain_matmul: Tensor dimension is {t.dim()}, expected 2 instead. Use linalg.multi_dot for vectors at the ends.")
    if len(matrices) == 1:
        return into("chain_matmul", matrices[0], out)
    return multi_dot(matrices, out=out)


__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "dot", "ger", "mm", "mv", "outer", "vdot",
]  # fmt: skip
_NO_METHOD = {"chain_matmul"}
METHODS = [n for n in __all__ if n not in _NO_METHOD]
