"""torch._convert_indices_... and other functions without a public name that libraries call with tensors."""

from __future__ import annotations

from collections import namedtuple

import facula

Attribute = namedtuple("Attribute", ["value", "type"])  # torch.jit.Attribute: a value that a script is told the type of


def _convert_indices_from_coo_to_csr(input, size, *, out_int32=False, out=None):
    """Where each of `size` rows begins in sorted row indices, the end last: (size + 1,)."""
    rows = facula.arange(size + 1, dtype=input.dtype, device=input.device)
    found = facula.searchsorted(input.contiguous(), rows, out_int32=out_int32)
    return _into(out, found)


def _convert_indices_from_csr_to_coo(crow_indices, col_indices, *, out_int32=False, transpose=False, out=None):
    """(2, N): row and column of each element; transposed, column and row."""
    rows = facula.repeat_interleave(facula.arange(crow_indices.numel() - 1, device=crow_indices.device), crow_indices.diff())
    found = facula.stack([col_indices.to(rows.dtype), rows] if transpose else [rows, col_indices.to(rows.dtype)])
    found = found.to(facula.int32 if out_int32 else facula.int64)
    return _into(out, found)


def _int_mm(self, mat2, *, out=None):
    """self @ mat2 of (M, K) int8 or uint8 and (K, N) int8, in int32."""
    for name, t, dtypes in (("self", self, (facula.int8, facula.uint8)), ("mat2", mat2, (facula.int8,)), ("result", out, (facula.int32,))):
        if t is not None and t.dtype not in dtypes:
            raise RuntimeError(f"_int_mm: Expected {name} dtype to be {' or '.join(d._name for d in dtypes)} but got {t.dtype._name}. Convert it.")
    found = facula.mm(self.int(), mat2.int())
    if out is None:
        return found
    if out.shape != found.shape:
        raise RuntimeError(f"_int_mm: Expected result of shape {tuple(found.shape)} but got {tuple(out.shape)}. Give one of that shape.")
    return out.copy_(found)


def _validate_sparse_coo_tensor_args(indices, values, size, is_coalesced=None, check_pinning=None):
    """Refuse what sparse_coo_tensor refuses."""
    facula.sparse_coo_tensor(indices, values.detach(), size, is_coalesced=is_coalesced)


def _validate_sparse_compressed_tensor_args(compressed_indices, plain_indices, values, size, layout, check_pinning=None):
    """Refuse what sparse_compressed_tensor refuses."""
    facula.sparse_compressed_tensor(compressed_indices, plain_indices, values.detach(), size, layout=layout)


def _segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """torch.segment_reduce."""
    return facula.segment_reduce(data, reduce, lengths=lengths, indices=indices, offsets=offsets, axis=axis, unsafe=unsafe, initial=initial)


def _no_grad_uniform_(tensor, a, b, generator=None):
    """Fill with uniform numbers, unrecorded."""
    return facula.nn.init.uniform_(tensor, a, b, generator)


def _no_grad_normal_(tensor, mean, std, generator=None):
    """Fill with normal numbers, unrecorded."""
    return facula.nn.init.normal_(tensor, mean, std, generator)


def _softmax_backward_data(grad_output, output, dim, input_dtype, *, grad_input=None):
    """The gradient of softmax's input, from that of what it gave."""
    return _into(grad_input, _through("_softmax_backward_data", lambda g, y: (g - (g * y).sum(dim, True)) * y, grad_output, output, input_dtype))


def _log_softmax_backward_data(grad_output, output, dim, input_dtype, *, out=None):
    """The gradient of log_softmax's input, from that of what it gave."""
    return _into(out, _through("_log_softmax_backward_data", lambda g, y: g - y.exp() * g.sum(dim, True), grad_output, output, input_dtype))


def _through(name, formula, grad_output, output, input_dtype):
    if grad_output.dtype is not output.dtype or grad_output.dtype is facula.float32 and input_dtype is facula.float16:
        given = f"{grad_output.dtype} for {output.dtype} of an input of {input_dtype}"
        raise RuntimeError(f"{name}: expected one scalar type, got {given}. Convert the gradient.")
    if not output.is_floating_point():
        raise NotImplementedError(f'"{name}" not implemented for {output.dtype._name!r}. Convert both to a floating dtype.')
    if grad_output.shape != output.shape:
        raise RuntimeError(f"{name}: expected a gradient of size {list(output.shape)}, got {list(grad_output.shape)}. Give one of that size.")
    wide = facula.promote_types(output.dtype, facula.float32)
    return formula(grad_output.to(wide), output.to(wide)).to(output.dtype)


def _into(out, found):
    return found if out is None else out.resize_(found.shape).copy_(found)
