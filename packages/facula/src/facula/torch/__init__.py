"""Programs written for PyTorch, run on Facula unchanged.

    python -m facula.torch script.py arguments...     or     facula torch script.py arguments...

    with facula.torch.enabled():
        import torch, torchvision

Inside, `import torch` and everything below it is served from Facula's parts. Nothing is left behind: `sys.modules` is
as before when the block ends. A PyTorch that is installed is never hidden unless the caller says so (shadow=True).
"""

from ._enable import enabled
from ._names import REFERENCE
from ._resolve import MissingName

__all__ = ["REFERENCE", "MissingName", "enabled"]
