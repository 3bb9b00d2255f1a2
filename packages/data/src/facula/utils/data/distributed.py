from facula.data.distributed import *  # noqa: F403
from facula.data.distributed import __all__ as __all__
