"""class Tensor: a typed handle of the C library and what autograd hangs on it."""

from facula.tensor_core import _warned
from facula.tensor_core._grad_mode import grad_mode
from facula.tensor_core._lib import NULL, lib
from facula.tensor_core._types import DEVICES, DTYPES, Size, device, format_id, strided

_shape_id, number_of = lib.fc_shape_id, lib.number_of
_sizes = []  # Size of every interned shape, by id
_owners = {}  # borrowed memory: owner id -> the object that owns it, until the last handle over it dies
default_generator = None  # what random functions draw from; set by _generator
of_class = None  # override.py's, once there is a subclass of a user's
leaving = None  # while an interpreter listens: told (tensor, name of the function) when values leave the tensors


def _read_shape(h):
    """The Size of a handle; one tuple per distinct shape is kept."""
    id = _shape_id(h)
    if id < 0:
        return Size(lib.fc_size(h, d) for d in range(lib.fc_ndim(h)))
    while id >= len(_sizes):
        known = len(_sizes)
        _sizes.append(Size(lib.fc_shape_dim(known, d) for d in range(lib.fc_shape_ndim(known))))
    return _sizes[id]


def disabled_torch_function(func, types, args=(), kwargs=None):
    """The __torch_function__ of classes that are tensors like any other: func itself."""
    return func(*args, **(kwargs or {}))


class Tensor(lib.Slots):
    """A multi-dimensional array of one dtype over a shared storage.

    `facula.tensor` makes one from Python data. `_origin` is None exactly when `requires_grad` is False; it is the node of the part
    that records gradients. `_viewed` is the tensor that a view looks into.

    >>> import facula
    >>> facula.tensor([[1.0, 2.0], [3.0, 4.0]]).sum(0)
    tensor([4., 6.])
    """

    __slots__ = ("__dict__", "__weakref__")  # and those of lib.Slots: _h, _shape, _origin, _viewed, _grad
    __hash__ = object.__hash__
    __array_priority__ = 1000  # NumPy's operators leave mixed expressions to us

    def __new__(cls, *data, **options):
        from facula.tensor_core.memory.legacy import construct

        return construct(cls, *data, **options)

    # --- subclasses: see _override

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        said = getattr(cls.__torch_function__, "__func__", None)
        if getattr(cls, "__module__", "").partition(".")[0] == "facula" and said is Tensor.__dict__["__torch_function__"].__func__:
            cls.__torch_function__ = disabled_torch_function  # the library's own that say nothing are tensors like any other
        if cls.__torch_function__ is disabled_torch_function:
            cls.__torch_function__ = staticmethod(disabled_torch_function)
            return
        from facula.tensor_core.dispatch import override as _override

        _override.prepare(cls)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """What func means for tensors of this class: the same as for others, with results of this class.

        >>> import facula
        >>> Length = type("Length", (facula.Tensor,), {"__module__": "mine"})
        >>> (facula.ones(2).as_subclass(Length) * 2).sum()
        Length(4.)
        """
        from facula.tensor_core.dispatch import override as _override

        return _override.default(cls, func, types, args, kwargs)

    @staticmethod
    def _make_subclass(cls, data, require_grad=False):
        """A tensor of class cls over data's memory, without its history."""
        return make_subclass(cls, data, require_grad)

    # --- description ------------------------------------------------------------------------------------------------

    shape = property(lib.shape_of, doc="Sizes of the dims, as a Size.\n\n>>> facula.zeros(2, 3).shape\ntorch.Size([2, 3])\n")
    ndim = property(lib.ndim_of, doc="Number of dims.\n\n>>> facula.zeros(2, 3).ndim\n2\n")
    dtype = property(lib.dtype_of, doc="Element type.\n\n>>> facula.zeros(2).dtype\ntorch.float32\n")
    device = property(lib.device_of, doc="Where it lives.\n\n>>> facula.zeros(2).device\ndevice(type='cpu')\n")
    is_meta = property(lib.on_meta, doc="Has it a shape and a dtype, and no elements?\n\n>>> facula.zeros(2, device='meta').is_meta\nTrue\n")
    size, stride, data_ptr, element_size = lib.Slots.size, lib.Slots.stride, lib.Slots.data_ptr, lib.Slots.element_size
    dim, ndimension, numel, nelement = lib.Slots.dim, lib.Slots.ndimension, lib.Slots.numel, lib.Slots.nelement
    is_floating_point, is_complex = lib.Slots.is_floating_point, lib.Slots.is_complex

    def storage_offset(self):
        """Position of the first element in the storage, in elements.

        >>> facula.arange(5)[2:].storage_offset()
        2
        """
        return lib.fc_offset(self._h)

    @property
    def layout(self):
        """How it keeps its elements.

        >>> facula.zeros(2).layout
        torch.strided
        """
        return strided

    @property
    def itemsize(self):
        """Bytes per element.

        >>> facula.ones(1).itemsize
        4
        """
        return self.dtype.itemsize

    @property
    def nbytes(self):
        """Bytes of all elements.

        >>> facula.zeros(2, 3).nbytes
        24
        """
        return self.numel() * self.dtype.itemsize

    def is_signed(self):
        """Can its dtype hold negative numbers?

        >>> facula.zeros(2, dtype=facula.uint8).is_signed()
        False
        """
        return self.dtype.is_signed

    def is_contiguous(self, *, memory_format=None):
        """Does it lie in memory in the order of its dims (or of the memory format)?

        >>> facula.zeros(2, 3).t().is_contiguous()
        False
        """
        return bool(lib.fc_is_contiguous(self._h, 0 if memory_format is None else format_id("is_contiguous", memory_format)))

    is_cuda = is_sparse = is_quantized = is_mkldnn = is_mps = is_xpu = is_nested = False
    is_sparse_csr = is_xla = is_ipu = is_mtia = is_maia = is_vulkan = False

    @property
    def is_cpu(self):
        """Does it live in the memory of the CPU?

        >>> facula.zeros(2).is_cpu
        True
        """
        return lib.fc_device(self._h) == 0

    def get_device(self):
        """The index of its device, -1 for the CPU.

        >>> facula.zeros(2).get_device()
        -1
        """
        return -1

    # --- gradients: what the tape hangs here ------------------------------------------------------------------------

    requires_grad = property(lib.wants_grad, doc="Is a gradient wanted? Setting it needs facula-autograd.\n\n>>> facula.ones(2, requires_grad=True).requires_grad\nTrue\n")

    @requires_grad.setter
    def requires_grad(self, flag):
        from facula.tensor_core.dispatch import slow

        if flag is not True and flag is not False:
            raise RuntimeError(f"requires_grad must be a bool, not {type(flag).__name__} {flag!r}. Write True or False.")
        (slow.tape or slow.need_tape()).requires_grad(self, flag)

    grad = property(lib.grad_of, doc="The gradient that backward() accumulated, or None.\n\n>>> x = facula.ones(2, requires_grad=True)\n>>> (3 * x).sum().backward()\n>>> x.grad\ntensor([3., 3.])\n")

    @grad.setter
    def grad(self, value):
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value.shape != self.shape:
                raise RuntimeError(f"assigned grad has data of a different size: {list(value.shape)} for a tensor of {list(self.shape)}. Reshape it.")
            if value.dtype is not self.dtype and self.grad_dtype not in (None, value.dtype):
                raise RuntimeError(f"assigned grad has data of a different type: {value.dtype} for a tensor of {self.dtype}. Convert it with .to().")
        self._grad = value

    @grad.deleter
    def grad(self):
        self._grad = None

    @property
    def grad_dtype(self):
        """The dtype that this leaf's gradients are cast to: its own, unless another was set; None where any may be assigned.

        >>> import facula
        >>> x = facula.ones(2, requires_grad=True)
        >>> x.grad_dtype = facula.float64
        >>> (x * 2).sum().backward()
        >>> x.grad.dtype
        torch.float64
        """
        if self._origin is not None and not self.is_leaf:
            raise RuntimeError("grad_dtype: can only be accessed on leaf tensors, and this one is a result with history. Use detach().")
        return self.__dict__.get("_grad_dtype", self.dtype)

    @grad_dtype.setter
    def grad_dtype(self, dtype):
        if self._origin is not None and not self.is_leaf:
            raise RuntimeError("grad_dtype: can only be set on leaf tensors, and this one is a result with history. Use detach().")
        if dtype is not None and type(dtype) is not type(self.dtype):
            raise RuntimeError(f"grad_dtype: must be a dtype or None, but got {type(dtype).__name__}.")
        if dtype is not None and self.grad is not None and self.grad.dtype is not dtype:
            raise RuntimeError(f"grad_dtype: cannot be set to {dtype} because there is already a gradient of {self.grad.dtype}. Clear it first (.grad = None).")
        self.__dict__["_grad_dtype"] = dtype
        if self._origin is not None:
            from facula.tensor_core.dispatch import slow as _dispatch

            _dispatch.tape.grad_dtype(self)

    @property
    def _version(self):
        """How many times the memory was written in place. Raises RuntimeError for an inference tensor, of which that is not counted."""
        if lib.fc_inference(self._h):
            raise RuntimeError("Inference tensors do not track version counter. Clone it to get a normal tensor.")
        return lib.fc_version(self._h)

    @property
    def _base(self):
        return self._viewed if self._is_view() else None

    def _values_of_all(self):
        """The tensor itself; a stand-in for several examples (of vmap) answers the tensor that has them all."""
        return self

    def _is_view(self):
        return self._viewed is not None and not lib.fc_inference(self._h)  # of an inference tensor nothing is known as a view

    def detach(self):
        """The same memory and version, without a gradient history.

        >>> import facula
        >>> facula.ones(2).detach().requires_grad
        False
        """
        try:
            h = lib.fc_alias(self._h, 0)
        except AttributeError:
            from facula.tensor_core.dispatch.kinds import want_tensor

            want_tensor("detach", "input", 0, self)
            raise
        lib.fc_epoch_ignore(h)
        return own_tensor(h)  # no base: a write to it is no write to a view with history

    @property
    def data(self):
        """The same memory without history and with a version counter of its own: writes to it go unnoticed.

        >>> x = facula.ones(2, requires_grad=True)
        >>> x.data.requires_grad
        False
        """
        return own_tensor(lib.fc_alias(self._h, 1))

    @data.setter
    def data(self, value):
        from facula.tensor_core.memory.resize import set_data

        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if type(value) is not Tensor and value.layout is not self.layout or value.is_meta != self.is_meta:
            mine, given = (self.layout, self.device), (value.layout, value.device)
            raise RuntimeError(f"data: incompatible tensor type: {given} set to a tensor of {mine}. Convert it first.")
        if self._origin is not None and value.dtype._kind < 2:
            raise RuntimeError(f"data set to a tensor that requires gradients must be floating point or complex dtype, got {value.dtype}. Convert it first.")
        set_data(self, value)

    # --- one element ------------------------------------------------------------------------------------------------

    def item(self):
        """The only element as a Python number. Raises RuntimeError for any other number of elements.

        >>> import facula
        >>> facula.tensor([2.5]).item()
        2.5
        """
        if leaving is not None:
            leaving(self, "item")
        try:
            h = self._h
        except AttributeError:
            raise TypeError(f"Tensor.item: is for a Tensor, not for {type(self).__name__} {self!r}. Convert it with facula.tensor.") from None
        value = number_of(h)
        if value is not None:
            return value
        if lib.fc_numel(h) != 1:
            raise RuntimeError(f"a Tensor with {lib.fc_numel(h)} elements cannot be converted to Scalar (shape {tuple(self.shape)}). Reduce or index it first.")
        if lib.fc_device(h) == 1:
            raise RuntimeError("Tensor.item() cannot be called on meta tensors: they have no elements.")
        if (lib.fc_offset(h) + 1) * self.itemsize > lib.fc_storage_bytes(h):
            raise RuntimeError(f"item: the storage was resized to {lib.fc_storage_bytes(h)} bytes, too few for element {lib.fc_offset(h)}. Resize it again first.")
        if lib.fc_lazy(h):
            return own_tensor(lib.fc_resolve(h)).item()
        return lib.fc_item_real(h)  # a half

    def __bool__(self):
        n = lib.fc_numel(self._h)
        if n != 1:
            raise RuntimeError(
                f"Boolean value of Tensor with {'no values' if n == 0 else 'more than one value'} is ambiguous (shape {tuple(self.shape)}). Use .any() or .all()."
            )
        return bool(self.item())

    def _scalar(self):
        if self.numel() != 1:
            raise ValueError(f"only one element tensors can be converted to Python scalars, this one has shape {tuple(self.shape)}. Reduce or index it first.")
        return self.item()

    def _real_scalar(self):
        value = self._scalar()
        if isinstance(value, complex):
            if value.imag:
                raise RuntimeError(f"value cannot be converted to a real number without overflow: {value}. Take .real first.")
            return value.real
        return value

    def __int__(self):
        if leaving is None and type(value := number_of(self._h)) in (int, float):
            return int(value)
        return int(self._real_scalar())

    def __float__(self):
        if self._origin is not None and grad_mode():
            _warned.has_history()
        if leaving is None and type(value := number_of(self._h)) is float:
            return value
        return float(self._real_scalar())

    def __complex__(self):
        if self._origin is not None and grad_mode():
            _warned.has_history()
        return complex(self._scalar())

    def __index__(self):
        if self.dtype._kind > 1 or self.numel() != 1:
            raise TypeError(f"only integer tensors of a single element can be converted to an index, this one is {self.dtype._name} of shape {tuple(self.shape)}. Convert with int().")
        return int(self.item())

    def __len__(self):
        shape = self.shape
        if not shape:
            raise TypeError("len() of a 0-d tensor")
        return shape[0]

    def __iter__(self):
        if not self.dim():
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __delitem__(self, key):
        raise TypeError("Tensor does not support deleting items. Index what is to stay.")

    def __contains__(self, value):
        if not isinstance(value, (Tensor, int, float, complex)) and not hasattr(value, "dtype"):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}.")
        return bool((self == value).any())


def _no_grad(tensor):
    """.grad of a tensor with a history and no gradient: the tape may have something to say about it."""
    from facula.tensor_core.dispatch import slow as _dispatch

    return _dispatch.tape.no_grad(tensor)


def _stale_wants_grad(tensor):
    from facula.tensor_core.dispatch import slow as _dispatch

    return _dispatch.tape.wanted(tensor)


lib.set_tensor_type(Tensor)
lib.describe_by(DTYPES, DEVICES, _sizes, _read_shape, _stale_wants_grad, _no_grad)
own_tensor = lib.tensor_of  # a Tensor around a new handle; raises RuntimeError for None, which only a failed allocation leaves here
_new = object.__new__


def make_subclass(cls, t, requires_grad=False):
    """A tensor of class cls over t's memory (same version counter, no history): what Parameter and its like are made of."""
    made = _new(cls)
    made._h = lib.fc_alias(t._h, 0)
    made._origin = None
    made._viewed = None
    made._shape = None
    if requires_grad:
        made.requires_grad = True
    return made


__all__ = ["NULL", "Tensor", "device", "make_subclass", "own_tensor"]
