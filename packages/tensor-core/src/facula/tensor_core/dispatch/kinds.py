"""The kinds of arguments, as PyTorch's parser has them: which values are of a kind, what a parameter takes, and how one of another kind is refused.

What a parameter takes is read from its name, which in PyTorch means one thing nearly everywhere; FORMS lists where it does not.
PyTorch looks at the kinds of all arguments before it looks at any size, dtype or dim. So does a guard (guard.py): at those that LATER lists only
once something has failed, which costs nothing before.
"""

import functools

from facula.tensor_core import _tensor, return_types
from facula.tensor_core._errors import IntegerOverflow, IntegersOverflow, NotATensorError
from facula.tensor_core.dispatch.arguments import LACKING
from facula.tensor_core.dispatch.foreign import overriding
from facula.tensor_core._tensor import Tensor
from facula.tensor_core._types import device, dtype, layout, memory_format

# kind: (types that are right at a glance, word for a message). A size is an int that may come as a tensor of one; sizes are never one alone, as ints may be
WORDS = {
    "tensor": "Tensor", "tensors": "tuple of Tensors", "floats": "tuple of floats", "int": "int", "size": "int", "ints": "tuple of ints", "sizes": "tuple of ints", "bool": "bool", "float": "float", "number": "Number",
    "real": "Number", "str": "str", "dtype": "torch.dtype", "device": "torch.device", "layout": "torch.layout", "memory_format": "torch.memory_format", "generator": "torch.Generator",
}  # fmt: skip
FAST = {
    "tensor": (Tensor,), "tensors": (), "floats": (), "int": (), "size": (), "ints": (), "sizes": (), "bool": (bool,), "float": (float, int), "number": (int, float, bool), "real": (int, float, bool), "str": (str,),
    "dtype": (dtype,), "device": (str, int, device), "layout": (layout,), "memory_format": (memory_format,), "generator": (),
}  # fmt: skip

NAMES = {
    "tensor": """input input2 input3 other mat mat1 mat2 batch1 batch2 vec vec1 vec2 tensor index src source mask condition A B LU LD tau pivots LU_data LU_pivots
        x1 x2 a b boundaries sorted_sequence sorter count prob abs angle real imag values weights fweights aweights""",
    "size": "k num_samples minlength",
    "int": """diagonal offset dim dim1 dim2 chunks r N start_dim end_dim length dim0 dim1 axis0 axis1 dimension bins
        storage_offset steps edge_order correction""",
    "bool": """keepdim keepdims upper largest sorted descending stable right out_int32 hermitian pivot left unitriangular check_errors return_inverse
        return_counts equal_nan include_self accumulate unpack_data unpack_pivots density increasing with_replacement full_matrices adjoint as_tuple
        sparse_grad invert assume_unique replacement transpose some compute_uv""",
    "float": "eps rtol atol",
    "number": "alpha beta value maxnorm",
    "str": "reduce rounding_mode indexing interpolation side mode driver UPLO norm compute_mode",
    "dtype?": "dtype",
}  # fmt: skip
KIND = {name: kind for kind, names in NAMES.items() for name in names.split()}

INTS = frozenset(("int", "size", "ints", "sizes", "int|sizes", "int|ints", "size|sizes", "tensor|size"))

# ints that PyTorch calls symbolic, which rows do not tell apart
SIZES = dict.fromkeys("k size step start length index diagonal padding_idx ignore_index groups storage_offset".split(), "size")

# what is looked at after a failure alone, by name
LATER = {
    "sizes": "size shape sizes split_sizes pad blocksize normalized_shape", "ints": "shifts kernel_size padding dilation output_size output_padding", "ints?": "stride", "device?": "device",
    "layout?": "layout", "memory_format?": "memory_format", "generator?": "generator", "bool?": "pin_memory", "bool": "requires_grad ceil_mode count_include_pad wrap transposed train",
    "tensor?": "out weight bias", "int?": "dense_dim divisor_override", "number": "dx fill_value", "float": "rcond momentum",
}  # fmt: skip
LATER = {name: kind for kind, names in LATER.items() for name in names.split()}

# where the name does not tell: functions: parameter kind, ...; - is for several kinds that the function sorts out
FORMS = """
roll: dims ints
rot90: k int, dims sizes
flip: dims sizes
histogramdd: bins ints|tensors, range floats?
histogram: bins int|tensor, range floats?
to_sparse: blocksize ints?, layout layout?, sparse_dim int?
to_sparse_bsr to_sparse_bsc: blocksize ints
native_norm: p number?, dim ints
sparse_resize sparse_resize_and_clear: size sizes, sparse_dim size, dense_dim size
sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor sparse_compressed_tensor: size sizes?, pin_memory bool
convolution: stride sizes, padding sizes, dilation sizes, output_padding sizes, groups size, transposed bool, bias tensor?
nonzero_static: size size, fill_value int
hash_tensor fftshift ifftshift nanmean std var std_mean var_mean norm_p logsumexp: dim ints?
all any count_nonzero: dim int|sizes?
prod: dim int
squeeze_copy: dim int|sizes
argmax argmin: dim int?
unfold: size int, step int
pinv matrix_rank: atol tensor|float?, rtol tensor|float?, rcond tensor|float?, tol tensor|float?
norm matrix_norm: ord number|str?, dim ints?
mean amax amin sum nansum: dim ints?
cond: p number|str?
gradient: spacing number|tensors|floats?, dim ints?
quantile nanquantile: q tensor|float, dim int?
lstsq: rcond float?
ctc_loss: input_lengths sizes|tensor, target_lengths sizes|tensor
bucketize searchsorted: input tensor|number
index_fill masked_fill: value tensor|number
fill: value tensor|number
slice_scatter: start size?, end size?, step size
as_strided as_strided_scatter as_strided_copy: size sizes, stride sizes, storage_offset size?
scatter: src tensor|number, value number, reduce str?
repeat_interleave: repeats tensor|size, output_size size?, dim int?
split: split_size_or_sections size|sizes
unsafe_split: split_size size
tensor_split: indices_or_sections size|sizes|tensor?
hsplit vsplit dsplit: indices_or_sections int|ints?
div divide true_divide: input tensor|number, other tensor|number, rounding_mode str?, out tensor|number?
where: input tensor|number?, other tensor|number?
narrow: start size|tensor, length size
narrow_copy: start size, length size
unfold_copy: size int, step int
native_dropout bernoulli: p float?
select select_copy select_scatter: index size
unflatten: sizes sizes
arange: start number?, end number?, step number
linspace logspace: start tensor|number, end tensor|number, steps int, base float
tril triu: diagonal size
hann_window hamming_window blackman_window bartlett_window kaiser_window: window_length int, periodic bool, alpha float, beta float
randint: low size?, high size?, size sizes?
randint_like: low tensor|size?, high tensor|size?
randperm: n size
eye: n size, m size?
normal: mean tensor|float, std tensor|float, size sizes?
lerp: end tensor, weight tensor|number
sort: stable bool?, dim int, descending bool
max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices: padding ints, dilation ints, stride ints?
addmm addmv addr addbmm baddbmm: beta number, alpha number
clamp clip: min tensor|number?, max tensor|number?
nan_to_num: nan float?, posinf float?, neginf float?
tolerances: atol -, rtol -
cdist: p float, compute_mode -
diff: prepend tensor, append tensor, n int
pdist: p float
mvlgamma multigammaln: p int
matrix_power: n int
trapezoid cumulative_trapezoid vecdot: x tensor, y tensor
trapezoid trapz: dx number
vander: x tensor
vector_norm: x tensor, ord number
prelu histogram histogramdd: weight tensor
sparse_coo_tensor: values -, size sizes?, pin_memory bool, check_invariants bool?, is_coalesced bool?
index_put: values -
pow float_power typename: input -
full: value -
range: layout layout
view_copy: size -
split_copy: split_size size
from_file: offset -
use_deterministic_algorithms set_flush_denormal: mode -
histc: min real, max real
renorm: maxnorm real
xlogy xlog1py zeta: input -, other -
result_type: tensor -
round: decimals int
frombuffer: count -, offset -
std var std_mean var_mean: correction number
segment_reduce: data tensor, lengths tensor?, indices tensor?, offsets tensor?, unsafe bool, axis int
take_along_dim: indices tensor
dist: p number
tril_indices triu_indices: row int, col int
hash_tensor: mode int
tensordot: out -
adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d: output_size -
fractional_max_pool2d fractional_max_pool3d: output_size -, kernel_size -
max_unpool2d max_unpool3d: kernel_size -, stride -, padding -, output_size -
"""

SEVERAL = frozenset("fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn fftshift ifftshift gradient nanquantile all any logsumexp norm squeeze nanmean vector_norm matrix_norm hash_tensor max min std var std_mean var_mean count_nonzero quantile".split())

@functools.cache
def _forms():
    """(function, parameter): kind, of FORMS."""
    lines = (line.partition(": ") for line in FORMS.strip().split("\n"))
    return {(f, p.split()[0]): p.split()[1] for functions, _, rest in lines for p in rest.split(", ") for f in functions.split()}


def form(function, parameter):
    """What FORMS says of it."""
    return _forms().get((function.rstrip("_"), parameter))


def kind_of(function, parameter, named=True):
    """What the parameter takes: words of WORDS with | between them, ? behind them where None is one more, or None for what nobody checks here.

    named: does the name of the parameter tell?
    """
    if kind := form(function, parameter):
        return kind if kind != "-" else None
    return KIND.get(parameter) if named and not (parameter == "dim" and function.rstrip("_") in SEVERAL) else None


def later(function, parameter, named=True):
    """kind_of, and what is looked at after a failure alone."""
    function = function.rstrip("_")
    if parameter == "out" and (hasattr(return_types, function) or hasattr(return_types, "linalg_" + function)):
        return "tensors?"
    kind = kind_of(function, parameter, named)
    return kind if kind or form(function, parameter) else LATER.get(parameter)


def right(kind, value):
    """Is the value of that kind? For those that are not right at a glance."""
    if "|" in kind:
        return any(type(value) in FAST[k] or right(k, value) for k in kind.split("|"))
    return _RIGHT[kind](value)


def _int(value):
    if isinstance(value, Tensor):
        return not value.dim() and value.dtype._kind == 1 and value._origin is None
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _size(value):
    if isinstance(value, Tensor):
        return value.numel() == 1 and value.dtype._kind == 1 and value._origin is None
    return _int(value)


def _item(value):
    """Is it one of several ints, a tensor's truth value too?"""
    return value.numel() == 1 and value.dtype._kind < 2 if isinstance(value, Tensor) else _int(value)


def _sizes(value):
    return isinstance(value, (tuple, list)) and all(_item(v) or k and isinstance(v, bool) for k, v in enumerate(value))


def _real(value):
    if isinstance(value, Tensor):
        return not value.dim() and value._origin is None
    return not getattr(value, "ndim", 0) and hasattr(value, "__float__") and not isinstance(value, complex)


_RIGHT = {
    "tensor": lambda value: isinstance(value, Tensor),
    "tensors": lambda value: isinstance(value, (tuple, list)) and all(isinstance(v, Tensor) for v in value),
    "int": _int,
    "size": _size,
    "ints": lambda value: _sizes(value) or _item(value),  # one of them may stand alone
    "sizes": _sizes,
    "floats": lambda value: isinstance(value, (tuple, list)) and all(map(_real, value)),
    "bool": lambda value: isinstance(value, bool),
    "float": _real,
    "number": lambda value: _real(value) or isinstance(value, complex),
    "real": lambda value: _real(value) or isinstance(value, complex),
    "str": lambda value: isinstance(value, str),
    "dtype": lambda value: isinstance(value, dtype) or isinstance(value, type) and value in (float, int, bool, complex),
    "device": lambda value: isinstance(value, (device, str)) or _int(value),
    "layout": lambda value: isinstance(value, layout),
    "memory_format": lambda value: isinstance(value, memory_format),
    "generator": lambda value: isinstance(value, type(_tensor.default_generator)),
}


def refused(name, parameter, position, kind, value):
    """The exception for a value of a wrong kind."""
    place = "" if position is None else f" (position {position + 1})"
    error = NotATensorError if kind == "tensor" else TypeError
    wanted = " or ".join(dict.fromkeys(WORDS[k] for k in kind.split("|")))
    return error(f"{name}(): argument '{parameter}'{place} must be {wanted}, not {type(value).__name__}. Convert it.")


def want_tensor(name, parameter, position, value):
    """Refuse what is no Tensor and does not answer for itself. For short functions, which call it where a type is not Tensor itself."""
    if not isinstance(value, Tensor) and not overriding((value,)):
        raise refused(name, parameter, position, "tensor", value)


def want_tensors(name, tensors):
    """Refuse what is no sequence of Tensors."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}. Put it into a list.")
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor) and not overriding((t,)):
            raise TypeError(f"{name}(): expected Tensor as element {k} in argument 0, but got {type(t).__name__}. Convert it with facula.tensor.")


def check(name, parameter, position, kind, value):
    """Refuse a value of a wrong kind."""
    if not right(kind, value):
        raise refused(name, parameter, position, kind, value)
    if kind == "real" and isinstance(value, complex):
        raise RuntimeError(f"{name}(): value cannot be converted to type double without overflow: {parameter} is {value}. Take its real part.")
    if kind in ("int", "size", "ints") and not isinstance(value, (Tensor, tuple, list)) and not -(2**63) <= value.__index__() < 2**63:
        raise (IntegersOverflow if kind == "ints" else IntegerOverflow)(f"{name}(): Overflow when unpacking long long: {parameter} is {value}. Give one of 64 bits.")


def plain(value):
    """What is an int, or several, as Python's: PyTorch takes NumPy's, tensors of one, and behind the first truth values too."""
    if isinstance(value, (tuple, list)):
        return value if all(type(v) is int for v in value) else tuple(v.__index__() for v in value)
    return value.__index__()


def read_ints(name, parameter, position, value, kind="ints"):
    """The ints of an argument in a tuple: several, or one that stands alone. Refuses another kind."""
    if type(value) is tuple:
        for v in value:
            if type(v) is not int or not -65536 < v < 65536:
                break
        else:
            return value
    elif type(value) is int and -65536 < value < 65536:
        return (value,)
    check(name, parameter, position, kind, value)
    value = plain(value)
    return (value,) if type(value) is int else tuple(value)


def want_kinds(name, kinds, given, positions=None):
    """Refuse the first value of a wrong kind. kinds, given: by parameter; positions: of those that may be given by it, the order of `given` if not said."""
    whole = {}
    for k, (parameter, value) in enumerate(given.items()):
        kind = kinds(parameter)
        if kind and value is not LACKING and not (value is None and kind[-1] == "?"):
            kind = kind.rstrip("?")
            if not right(kind, value) and not overriding((value,)):
                raise refused(name, parameter, k if positions is None else positions.get(parameter), kind, value) from None
            if kind in INTS and type(value) is int:
                whole[parameter] = value, kind
    for parameter, (value, kind) in whole.items():  # which are unpacked when all kinds are right
        if not -(2**63) <= value < 2**63:
            raise (IntegersOverflow if kind == "ints" else IntegerOverflow)(f"{name}(): Overflow when unpacking long long: {parameter} is {value}. Give one of 64 bits.") from None


def kinds_first(name, **given):
    """Refuse an argument of a wrong kind: for functions that no guard is before, on their way to another refusal or beside their fast road."""
    want_kinds(name, lambda parameter: later(name, parameter), given, {})


def real_order(name, p):
    """Refuse the order of a norm that is no real number."""
    if isinstance(p, complex):
        raise RuntimeError(f"{name}: Expected a non-complex scalar as the order of norm, got {p}: p must be real-valued. Take its absolute value.")


def want_ints(name, parameter, position, value):
    """Refuse what is no sequence of ints."""
    place = "" if position is None else f" (position {position + 1})"
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name}(): argument '{parameter}'{place} must be tuple of ints, not {type(value).__name__}. Give a tuple.")
    for k, v in enumerate(value):
        if type(v) is not int and (isinstance(v, bool) and not k or not hasattr(v, "__index__") or isinstance(v, Tensor) and not _item(v)):  # PyTorch looks for a bool in the first place alone
            raise TypeError(f"{name}(): argument '{parameter}'{place} must be tuple of ints, but found element of type {type(v).__name__} at pos {k}. Convert it.")
        if type(v) is int and not -(2**63) <= v < 2**63:
            raise IntegersOverflow(f"{name}(): argument '{parameter}'{place} failed to unpack the object at pos {k + 1}: Overflow when unpacking long long: {v}. Give one of 64 bits.")
