"""Sparse tensors: COO (tensor) and compressed ones (rows), the rows of the table that serve them (ops, shapes), products."""
