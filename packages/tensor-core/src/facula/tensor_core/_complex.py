"""Complex tensors over their real view."""

from facula.tensor_core import _ops


def conjugate(input):
    """The conjugate, computed: a copy with the sign of every imaginary part turned."""
    from facula.tensor_core._create import tensor

    pairs = _ops.real_view(input)
    signs = tensor([1.0, -1.0], dtype=pairs.dtype, device=pairs.device)
    return _ops.complex_view(_ops.mul(_ops.copy(pairs, None, 0), signs))
