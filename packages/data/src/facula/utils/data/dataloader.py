from facula.data.dataloader import *  # noqa: F403
from facula.data.dataloader import __all__ as __all__
