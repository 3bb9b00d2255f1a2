"""dtype, device, Size, layout and memory_format: the small values that describe a tensor."""

from facula.tensor_core._lib import lib


def final(cls):
    """A class that no other is made of, as in PyTorch, where these are C's."""

    def refuse(sub, **_):
        raise TypeError(f"{sub.__name__}: type 'torch.{cls.__name__}' is not an acceptable base type. Hold one in an attribute.")

    cls.__init_subclass__ = classmethod(refuse)
    return cls


@final
class dtype:
    """Element type of a tensor, such as `facula.float32`.

    >>> import facula
    >>> facula.float32.itemsize, facula.int8.is_floating_point
    (4, False)
    """

    __slots__ = ("_name", "_id", "itemsize", "_kind", "_code")

    def __init__(self, name, id, itemsize, kind, code):
        self._name, self._id, self.itemsize, self._kind, self._code = name, id, itemsize, kind, code

    @property
    def is_floating_point(self):
        return self._kind == 2

    @property
    def is_complex(self):
        return self._kind == 3

    @property
    def is_signed(self):
        return self._kind >= 2 and self is not float8_e8m0fnu or self._name.startswith("int")

    def to_real(self):
        """The dtype of this one's real and imaginary parts."""
        return {"complex64": float32, "complex128": float64}.get(self._name, self)

    def to_complex(self):
        """The complex dtype that holds this one. Raises RuntimeError for dtypes that are not floating, and for float8."""
        if self._kind < 2 or self in FLOAT8:
            raise RuntimeError(f"to_complex: there is no complex dtype for {self._name}. Convert to float32 or float64 first.")
        return complex128 if self._name in ("float64", "complex128") else complex64

    @property
    def abbr(self):
        """Its name in few letters: f32, i64, bf16."""
        return "b8" if self is bool_ else self._name.replace("float", "f").replace("complex", "c").replace("uint", "u").replace("int", "i").replace("_", "")

    @property
    def _scalar_type(self):
        """What PyTorch's messages and type names call it: Float, Long, ..."""
        return _SCALAR_TYPES.get(self._name, self._name)

    def __repr__(self):
        return "torch." + self._name

    def __reduce__(self):
        return self._name


# kind: 0 bool, 1 integer, 2 float, 3 complex; code: NumPy's type string ("" where NumPy has none)
_TABLE = (
    ("bool", 1, 0, "|b1"), ("uint8", 1, 1, "|u1"), ("int8", 1, 1, "|i1"), ("int16", 2, 1, "<i2"), ("int32", 4, 1, "<i4"),
    ("int64", 8, 1, "<i8"), ("uint16", 2, 1, "<u2"), ("uint32", 4, 1, "<u4"), ("uint64", 8, 1, "<u8"), ("float16", 2, 2, "<f2"),
    ("bfloat16", 2, 2, ""), ("float32", 4, 2, "<f4"), ("float64", 8, 2, "<f8"), ("complex64", 8, 3, "<c8"), ("complex128", 16, 3, "<c16"),
    ("float8_e4m3fn", 1, 2, ""), ("float8_e5m2", 1, 2, ""), ("float8_e4m3fnuz", 1, 2, ""), ("float8_e5m2fnuz", 1, 2, ""), ("float8_e8m0fnu", 1, 2, ""),
)  # fmt: skip
DTYPES = tuple(dtype(name, id, size, kind, code) for id, (name, size, kind, code) in enumerate(_TABLE))
(bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, float32, float64, complex64, complex128) = DTYPES[:15]
FLOAT8 = (float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu) = DTYPES[15:]  # stored and converted: few ops take them
_SCALAR_TYPES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    **{d._name: d._name.capitalize() for d in FLOAT8},
}  # fmt: skip
BY_SCALAR_TYPE = {d._scalar_type: d for d in DTYPES}
BY_NAME = {d._name: d for d in DTYPES}
ALIASES = {"half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64, "cfloat": complex64, "cdouble": complex128}
BY_CODE = {d._code: d for d in DTYPES if d._code}


def _whole(place, value):
    """A size as int. Raises TypeError for what is no integer."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{type(value).__name__}')")
    return value.__index__()


@final
class Size(lib.Sizes):
    """Shape of a tensor: a tuple of ints.

    >>> import facula
    >>> facula.zeros(2, 3).shape.numel()
    6
    """

    __slots__ = ()

    def __new__(cls, sizes=(), /):
        made = tuple.__new__(cls, sizes)
        for size in made:
            if type(size) is not int:
                return tuple.__new__(cls, [_whole(n, v) for n, v in enumerate(made)])
        return made

    def numel(self):
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self):
        return f"torch.Size({list(self)})"

    __str__ = __repr__

    def __add__(self, other):
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self))

    def __mul__(self, n):
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)


_DEVICE_TYPES = ("cpu", "meta", "cuda")
# what else PyTorch can name: programs compare with device("mps") and ask nothing of it
_NAMED_TYPES = ("cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone").split()
_entered = []  # the default devices to come back to, innermost last


@final
class device:
    """Where a tensor lives: `device("cpu")`, `device("meta")` (shapes and dtypes only), `device("cuda", 0)`.

    Types of other hardware can be named and compared ("mps", "xpu", ...); a tensor there is refused.
    Raises RuntimeError for a type that does not exist.

    >>> facula.device("cpu")
    device(type='cpu')
    >>> facula.zeros(2, device=facula.device("meta")).device
    device(type='meta')
    """

    __slots__ = ("type", "index")

    def __init__(self, type, index=None):
        if index is not None and (not hasattr(index, "__index__") or hasattr(index, "_h") and (index.dim() or index.dtype._kind != 1)):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {index.__class__.__name__}. Give the number of the device.")
        if hasattr(index, "_h"):
            index = index.__index__()
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        elif isinstance(type, int) and not isinstance(type, bool):
            if not -(2**63) <= type < 2**63:
                raise ValueError(f"device: Overflow when unpacking long long: the index is {type}. Give one of 64 bits.")
            if type < 0:
                raise RuntimeError(f"device: Device index must not be negative, got {type}.")
            type, index = "cuda", type
            if index >= 2**63:
                from facula.tensor_core._errors import IntegerOverflow  # which imports this

                raise IntegerOverflow(f"device: Overflow when unpacking long long: index is {index}. Give the number of a device.")
        elif isinstance(type, str) and ":" in type:
            if index is not None:
                raise RuntimeError(f"device: the type should not include an index when one is given too, got {type!r} and {index}. Give it once.")
            type, _, number = type.partition(":")
            if not number.isdigit() or number != str(int(number)):
                raise RuntimeError(f"device: invalid device string: '{type}:{number}'. Write it like 'cpu' or 'cuda:0'.")
            index = int(number)
        elif not isinstance(type, str):
            raise TypeError(f"device: wants a string or a device, got {type!r}. Write it like device('cpu').")
        if type not in _NAMED_TYPES:
            raise RuntimeError(f"device: Expected one of {', '.join(_NAMED_TYPES)} device type at start of device string: {type}. Choose one of them.")
        self.type, self.index = type, index

    @property
    def _place(self):  # by another name than a dtype's number, or it would be taken for one
        if self.type not in _DEVICE_TYPES:
            raise no_backend(self.type)
        return _DEVICE_TYPES.index(self.type)

    def __repr__(self):
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __enter__(self):
        """`with facula.device("meta"):` factories make their tensors there."""
        from facula.tensor_core import _state

        _entered.append(_state.get_default_device())
        _state.set_default_device(self)
        return self

    def __exit__(self, *_):
        from facula.tensor_core import _state

        _state.set_default_device(_entered.pop())

    def __reduce__(self):
        return device, (self.type, self.index) if self.index is not None else (self.type,)


def no_backend(kind, made=True):
    """The error of a tensor for a type of device that this build has nothing of. made: by a factory, not moved there."""
    lacks = f"this build of facula has no {kind.upper()} backend. Use device='cpu'."
    if kind in ("cuda", "xpu", "mtia"):
        return AssertionError(f"Torch not compiled with {kind.upper()} enabled: {lacks}")
    if kind in ("hpu", "privateuseone"):
        return ModuleNotFoundError(f"No module named 'torch.{kind}': {lacks}")
    if made or kind == "lazy":
        return NotImplementedError(f"Could not run 'aten::empty.memory_format' with arguments from the '{kind.upper()}' backend: {lacks}")
    return RuntimeError(f"PyTorch is not linked with support for {kind} devices: {lacks}")


DEVICES = tuple(device(t) for t in _DEVICE_TYPES[:2])


class _Named:
    __slots__ = ("_name", "_number")  # no _id, or it would be taken for a dtype

    def __init__(self, name, number):
        self._name, self._number = name, number

    def __repr__(self):
        return "torch." + self._name

    def __reduce__(self):
        return self._name


@final
class layout(_Named):
    """How a tensor keeps its elements: `facula.strided`.

    >>> facula.ones(2).layout, facula.ones(2).to_sparse().layout
    (torch.strided, torch.sparse_coo)
    """

    __slots__ = ()


@final
class memory_format(_Named):
    """Order of dims in memory: `facula.contiguous_format`, `preserve_format`, `channels_last`, `channels_last_3d`.

    >>> x = facula.empty(1, 2, 2, 2, memory_format=facula.channels_last)
    >>> x.stride()
    (8, 1, 4, 2)
    """

    __slots__ = ()


strided = layout("strided", 0)
sparse_coo = layout("sparse_coo", 1)
sparse_csr = layout("sparse_csr", 2)
sparse_csc = layout("sparse_csc", 3)
sparse_bsr = layout("sparse_bsr", 4)  # for comparisons: no tensor has it
sparse_bsc = layout("sparse_bsc", 5)
def format_id(name, given):
    """The number of a memory format. Raises TypeError for anything else."""
    if type(given) is not memory_format:
        raise TypeError(f"{name}(): argument 'memory_format' must be torch.memory_format, not {type(given).__name__}. Give facula.channels_last, for one.")
    return given._number


contiguous_format = memory_format("contiguous_format", 0)
preserve_format = memory_format("preserve_format", 1)
channels_last = memory_format("channels_last", 2)
channels_last_3d = memory_format("channels_last_3d", 3)
