"""The derivatives, by family. Importing this fills the table of facula.autograd._table."""

from . import attention, copies, dots, elementwise, fft, folds, indexing, kernels, linalg, nothing, resampling, sequence, views, window  # noqa: F401
