"""The derivatives, by family. Importing this fills the table of facula.autograd._table."""

from . import attention, copies, dots, elementwise, folds, indexing, kernels, nothing, resampling, sequence, views, window  # noqa: F401
