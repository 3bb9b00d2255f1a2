from facula.data.dataset import *  # noqa: F403
from facula.data.dataset import __all__ as __all__
