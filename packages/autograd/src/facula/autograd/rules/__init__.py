"""The derivatives, by family. Importing this fills the table of facula.autograd._table."""

from . import activation, attention, copies, dots, elementwise, fft, folds, indexing, kernels, linalg, nothing, resampling, sequence, special, views, window  # noqa: F401
