"""facula.dist under PyTorch's name."""

from facula.dist import *  # noqa: F403
from facula.dist import __all__ as __all__
