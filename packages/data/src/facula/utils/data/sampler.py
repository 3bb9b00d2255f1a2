from facula.data.sampler import *  # noqa: F403
from facula.data.sampler import __all__ as __all__
