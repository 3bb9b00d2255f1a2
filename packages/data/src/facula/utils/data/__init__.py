"""facula.data under PyTorch's name, with its submodules."""

from facula.data import *  # noqa: F403
from facula.data import __all__ as __all__

from . import dataloader as dataloader
from . import dataset as dataset
from . import distributed as distributed
from . import sampler as sampler
