"""`out=`: PyTorch's conditions in one place, for rows (`fit`, before they run) and for compositions (`into`, after)."""

import warnings

from facula.tensor_core import _ops
from facula.tensor_core.dispatch import slow as _dispatch
from facula.tensor_core.dispatch.arguments import as_dtype
from facula.tensor_core.dispatch.slow import execute, has_origin, refresh_stale, told_of_output
from facula.tensor_core._errors import DTypeError
from facula.tensor_core._grad_mode import grad_mode
from facula.tensor_core._lib import lib
from facula.tensor_core.memory.resize import result_on_meta, set_data
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import strided as strided_layout

# What writes into an output of the result's own dtype alone; all others into any dtype that the result can be cast to.
# Names of rows without leading _, and of compositions.
EXACT = frozenset("""
    abs neg sign sgn frac conj_physical ceil floor trunc round bitwise_not lerp where_rows clamp_numbers nan_to_num heaviside
    gelu gelu_tanh softplus log_sigmoid softshrink hardshrink isposinf isneginf signbit
    amax amin argmax argmin norm_p logcumsumexp max min aminmax cummax cummin median nanmedian mode kthvalue sort msort topk
    softmax log_softmax searchsorted histc histogram quantile nanquantile isin multinomial frexp complex polar float_power
    gather gather_sparse_grad scatter scatter_add scatter_prod scatter_max scatter_min scatter_reduce index_reduce index_select index_add index_copy
    take take_along_dim masked_select nonzero nonzero_static hash_tensor triangle diag diag_embed slice_scatter renorm avg_pool2d avg_pool3d
    matmul linear addmm addmv addbmm baddbmm tensordot cross linalg.cross linalg.multi_dot linalg.vecdot
    linalg.det linalg.slogdet slogdet linalg.inv linalg.inv_ex linalg.solve linalg.solve_ex linalg.solve_triangular triangular_solve
    linalg.cholesky linalg.cholesky_ex linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.lu_solve lu_unpack
    linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve linalg.qr qr ormqr linalg.eigh linalg.eigvalsh linalg.svd linalg.svdvals svd
    linalg.norm linalg.vector_norm linalg.matrix_norm
    alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy slice_copy squeeze_copy t_copy
    transpose_copy unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy split_copy split_with_sizes_copy unbind_copy
""".split())  # fmt: skip
OWN_DTYPE = frozenset("amax amin logcumsumexp".split())  # of EXACT, which ask for the output's dtype, the input's own, before they look for dims
_LISTS = frozenset({"split_copy", "split_with_sizes_copy", "unbind_copy"})  # which give lists of any length, not tuples that the parser knows
UNWARNED = frozenset("addbmm bernoulli linspace log_sigmoid logspace lu multinomial narrow_copy range split_copy".split())  # resize an output that holds elements without a word
# How an output may lie over the inputs that a call names: nowhere in APART and compositions, where all is written before all is read;
# over the whole of one, element by element, in pointwise rows, scans and WHOLE. What names none reads them all before it writes.
APART = frozenset("gather gather_sparse_grad scatter scatter_add scatter_prod scatter_max scatter_min index_select index_add index_copy cat stack".split())
WRITTEN = APART - {"gather", "gather_sparse_grad", "index_select", "cat", "stack"} | {"scatter_reduce"}  # the first input with other elements: it may be the output
IN_COLUMNS = frozenset("""
    cholesky_inverse geqrf linalg.householder_product linalg.ldl_solve linalg.lu_factor linalg.lu_factor_ex ormqr triangular_solve
""".split())  # of WHOLE where the output's columns lie together: LAPACK works in it, into any other the result is copied
WHOLE = IN_COLUMNS | frozenset("""
    addmm addmv addbmm baddbmm addr kron bernoulli diff frexp logcumsumexp logit nan_to_num renorm round
    max min aminmax median nanmedian mode sort msort topk linalg.solve_triangular
""".split())  # fmt: skip
_INDICES_ANYWHERE = frozenset({"kthvalue", "sort"})  # of whose outputs the first alone is looked at
SUMMED = frozenset({"sum", "prod", "nansum"})  # in the dtype of the output


def public(op):
    return op.name.lstrip("_")


def kept(target, *others):
    """target, or a copy of it where backward may keep what is written over: target's own history asks for that, and that of what it meets.

    A subclass may stand for tensors with a history, as those inside vmap do."""
    if target.__class__ is Tensor and (not grad_mode() or target._origin is None and not has_origin(others)):
        return target
    if target.__class__ is not Tensor or _ops.interpreting or target._origin is None:
        return _ops.copy(target, None, 1)
    refresh_stale((target,))
    made = _ops.copy(target.detach(), None, 1)
    made._origin = target._origin  # it is what target was: no step of its own
    return made


def written(target, result):
    """result, written over target by a composition in place: one step of its history, as where a row does it."""
    if result._origin is None or result.__class__ is not Tensor or target.__class__ is not Tensor or _ops.interpreting or result.dtype is not target.dtype or result.shape != target.shape:
        return _ops.copy_into_(target, result)
    return _dispatch.tape.takes(target, result)


def into(name, result, out, inputs=(), strides=False):
    """result, or out(s) after it was copied there: resized where the shape is another, as PyTorch does.

    inputs: tensors whose memory out may not share, or only as `clear` says. strides: an output that is resized lies as the result does, not contiguously.
    """
    if out is None:
        return result
    if copied(result, out, inputs):
        return out
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            got = f"{len(out)} of them" if isinstance(out, (tuple, list)) else type(out).__name__
            raise (RuntimeError if name in _LISTS and isinstance(out, (tuple, list)) else TypeError)(f"{name}: out must be a tuple of {len(result)} tensors, one for each result, got {got}.")
        written = [into(name, r, o, inputs if not k or name not in _INDICES_ANYWHERE else (), strides) for k, (r, o) in enumerate(zip(result, out))]
        return type(result)(*written) if hasattr(result, "_fields") else tuple(written)
    a_tensor(name, out)
    if result.layout is not strided_layout:
        from facula.tensor_core.sparse import ops as sparse_ops

        return sparse_ops.given(name, result, out)
    refuse_history(name, (result, out))
    check_dtype(name, result.dtype, out)
    if name in ("take", "masked_select"):
        apart(name, out, ())
    if resize(name, out, result.shape) and strides and out.dtype is result.dtype:
        lie_as(out, result)
    clear(name, out, inputs)
    return _ops.copy_into_(out, result)


def copied(result, out, inputs=()):
    """Copy a result into an output of its dtype and shape, where no more is to be asked. Was it?"""
    return not _ops.interpreting and lib.copied(out, result, inputs)


def lie_as(out, result):
    """Give an output that was just resized the result's strides."""
    if out.stride() == result.stride() or out._origin is not None:
        return
    extent = 1 + sum(s * (n - 1) for n, s in zip(result.shape, result.stride())) if result.numel() else 0
    if extent > result.numel():  # a part of something larger
        out.resize_((extent,))
    set_data(out, _ops.as_strided(out, result.shape, result.stride(), None))


def refuse_history(name, tensors):
    """Refuse an output where one of these tensors has a history and histories are kept."""
    if has_origin(tensors) and grad_mode():
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad. Detach them.")
    if _ops.interpreting:
        told_of_output(name, tensors)


def taken(name, out):
    """Ready an output for a factory: a leaf's wish for a gradient is refused where histories are kept, and else ends, for the call says it anew."""
    if out._origin is not None and out.is_leaf:
        refuse_history(name, (out,))
        out.requires_grad_(False)


def write(op, args, out):
    """A row into out: its shape and dtype are inferred first, what it computes in does not depend on out."""
    name = public(op)
    asked = as_dtype(args[-1]) if op.kind in ("fold", "scan") and op.params[-1].name == "dtype" and args[-1] is not None else None
    if op.kind == "fold" and name in SUMMED and args[-1] is None:
        if name == "nansum" and out.dtype._kind < 2 <= args[0].dtype._kind:
            raise DTypeError(f"nansum: not implemented for {out.dtype._scalar_type} where the input is {args[0].dtype._scalar_type}: it has no NaN. Give an output of a floating dtype.")
        args = (*args[:-1], out.dtype)
    elif op.kind == "scan" and op.params[-1].name == "dtype" and args[-1] is None:
        args = (*args[:-1], out.dtype)
    try:
        result = result_on_meta(op, args)  # which refuses a dim that is not there
    except IndexError:
        if name in OWN_DTYPE:
            same_dtype(name, args[0].dtype, out)
        raise
    if asked is not None:
        same_dtype(name, asked, out)
    dtype = result.dtype if result is not None else out.dtype
    if name in ("clamp_min", "clamp_max") and not isinstance(args[1], Tensor):
        same_dtype(name, dtype, out)
    of_complex = name in ("abs", "angle") and args[0].dtype._kind == 3  # which convert, and lie contiguously where a real output is resized
    check_dtype("angle" if of_complex else name, dtype, out)
    if op.kind in ("map1", "map2", "map3") or name == "index_select":
        apart(name, out, ())
    inputs = args[0] if name in ("cat", "stack") else [args[k] for k in op.tensors]
    if op.kind in ("map1", "map2", "map3"):  # as it lies before it is resized
        partly_apart(name, out, inputs)
    if result is not None and name not in APART and out.shape != result.shape and any(isinstance(t, Tensor) and (t is out or lib.fc_same_storage(out._h, t._h)) for t in inputs):
        if op.kind not in ("map1", "map2", "map3"):
            return into(name, execute(op, args), out)  # which ends what it reads before it moves it
        if any(t is out for t in inputs):
            execute(op, args, out)  # refuses: an operand keeps its shape
    if result is not None and resize(name, out, result.shape) and not (of_complex and out.dtype._kind < 3) and name != "special_ndtr":  # a composition there
        lie_as(out, result)
    if name in APART:
        clear(name, out, inputs)
    if dtype is out.dtype and op.kind != "scan":  # whose verbs see to it
        execute(op, args, out)
        return out
    if op.kind == "scan":
        partly_apart(name, out, args)
    if dtype is out.dtype:
        execute(op, args, out)
        return out
    result = execute(op, args)
    _ops.copy_into_(out if out._origin is None else out.detach(), result)  # of an op without derivatives: no write that the tape has to hear of
    return out


def a_tensor(name, out):
    """Refuse an output that is no tensor."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}. Pass one made by facula.empty.")


def check_dtype(name, dtype, out):
    """Refuse an output of a dtype that a result of this dtype is not written to."""
    if name in EXACT:
        same_dtype(name, dtype, out)
    elif not lib.fc_can_cast(dtype._id, out.dtype._id):
        raise DTypeError(f"{name}: result type {dtype._scalar_type} can't be cast to the desired output type {out.dtype._scalar_type}. Give an output of dtype {dtype._name}.")


def same_dtype(name, dtype, out):
    """Refuse an output of another dtype than the result's, or that is no tensor."""
    a_tensor(name, out)
    if out.dtype is not dtype:
        if name in ("isposinf", "isneginf"):
            raise RuntimeError(f"{name} does not support non-boolean outputs, got {out.dtype._name}. Give one of dtype bool.")
        raise RuntimeError(f"{name}: Expected object of scalar type {dtype._scalar_type} but got scalar type {out.dtype._scalar_type} for argument 'out': Expected out tensor to have dtype {dtype._name}, but got {out.dtype._name} instead. Give an output of that dtype.")


def resize(name, out, shape):
    """Give out the result's shape, with a warning if it held elements. Had it another one?"""
    if out.shape == shape:
        return False
    if out.numel() and name not in UNWARNED:
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the required output "
            f"shape {list(shape)}. Pass an output of that shape, or an empty one: out.resize_(0).",
            stacklevel=5,
        )
    if out._origin is None:
        out.resize_(shape)
    else:  # a leaf, and what writes into it has no derivative: refused elsewhere where it has
        set_data(out, out.detach().resize_(shape))
    return True


def apart(name, out, inputs):
    """Refuse an output two elements of which are one in memory, or that lies where an input lies."""
    if not out.is_contiguous() and any(n > 1 and s == 0 for n, s in zip(out.shape, out.stride())) and out.numel():
        _shared(name, out, "more than one element of the written-to tensor refers")
    for t in inputs:
        if t is out or isinstance(t, Tensor) and lib.fc_same_storage(out._h, t._h) and _dense(out) and _dense(t) and _meet(out, t):
            _shared(name, out, "some elements of the input tensor and the written-to tensor refer")


def clear(name, out, inputs):
    """Refuse an output for where it lies: two elements of it in one place, or over an input otherwise than the function takes it."""
    apart(name, out, ())
    if name in IN_COLUMNS and (out.dim() < 2 or not out.mT.is_contiguous()):
        return
    for k, t in enumerate(inputs):
        whole = name in WHOLE or name in WRITTEN and not k or k and name in ("gather", "gather_sparse_grad")  # whose index may be written over
        (partly_apart if whole else apart)(name, out, (t,))


def _shared(name, out, what):
    """Refuse an output for where it lies; one on meta lies nowhere."""
    if not out.is_meta:
        raise RuntimeError(f"{name}: unsupported operation: {what} to a single memory location. Please clone() the tensor before performing the operation.")


def same_place(t, out):
    return t is out or (t.data_ptr(), t.shape, t.stride()) == (out.data_ptr(), out.shape, out.stride())


def partly_apart(name, out, inputs):
    """Refuse an output that lies over a part of an input: over all of it, element by element, it may."""
    for t in inputs:
        if isinstance(t, Tensor) and t is not out and lib.fc_same_storage(out._h, t._h) and _dense(out) and _dense(t) and _meet(out, t):
            if (t.data_ptr(), t.numel(), t.stride()) != (out.data_ptr(), out.numel(), out.stride()):
                _shared(name, out, "some elements of the input tensor and the written-to tensor refer")


def _dense(t):
    """Do the elements fill a stretch of memory?"""
    run = 1
    for s, n in sorted((s, n) for s, n in zip(t.stride(), t.shape) if n > 1):
        if s != run:
            return False
        run *= n
    return t.numel() > 0


def _meet(a, b):
    first, second = ((t.data_ptr(), t.data_ptr() + t.numel() * t.dtype.itemsize) for t in (a, b))
    return first[0] < second[1] and second[0] < first[1]
