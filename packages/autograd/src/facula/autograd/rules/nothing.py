"""Ops without derivative: truth values, indices, bits; and random fills, which forget what was there."""

from .._core import ops
from .._table import forgets, none, unrecorded, zero

none("eq", "ne", "lt", "le", "gt", "ge")
forgets("eq", "ne", "lt", "le", "gt", "ge")
none("logical_and", "logical_or", "logical_xor", "logical_not")
unrecorded("logical_and", "logical_or", "logical_xor", "logical_not")
none("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
none("bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm")
none("isnan", "isinf", "isfinite", "isposinf", "isneginf", "signbit", "any", "all", "argmax", "argmin", "count_nonzero")
none("arange_of", "linspace_of", "view_dtype", "_triangle_indices", "_one_hot", "_hash", "_lu_order", "_multinomial")

zero(*(op.name for op in ops.values() if op.kind == "random"))  # what a fill overwrites has no influence
