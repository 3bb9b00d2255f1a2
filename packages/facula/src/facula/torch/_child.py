"""Imported first by multiprocessing's fork server: the processes that it forks find Facula under PyTorch's name."""

from ._enable import enabled

enabled(shadow=True).__enter__()
