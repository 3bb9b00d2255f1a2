"""Ops without derivative: truth values, indices, bits, random numbers."""

from .._table import none

none("eq", "ne", "lt", "le", "gt", "ge")
none("logical_and", "logical_or", "logical_xor", "logical_not")
none("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
none("isnan", "isinf", "isfinite", "signbit", "any", "all", "argmax", "argmin", "count_nonzero")
