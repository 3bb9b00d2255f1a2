"""torch.version: the reference's version; no GPU toolkits."""

from ._names import REFERENCE

__version__ = REFERENCE
debug = False
cuda = None
hip = None
xpu = None
git_version = "facula"
