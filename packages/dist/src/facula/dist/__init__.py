"""Several processes working together. `facula.distributed` is this package under PyTorch's name.

    import facula.distributed as dist

    dist.init_process_group("mpi")       # under mpirun -n 4; or "gloo" for a world of one process
    dist.all_reduce(gradient, op=dist.ReduceOp.AVG)
"""

import sys
import types

import facula

from ._collectives import *  # noqa: F403
from ._collectives import __all__ as _collectives
from ._engines import ReduceOp
from ._group import *  # noqa: F403
from ._group import __all__ as _group
from ._group import _rank_not_in_group  # noqa: F401 - libraries ask it
from ._objects import *  # noqa: F403
from ._objects import __all__ as _objects
from ._point_to_point import *  # noqa: F403
from ._point_to_point import __all__ as _point_to_point
from ._store import *  # noqa: F403
from ._store import __all__ as _stores
from ._work import Work

__all__ = ["ReduceOp", "Work", *_collectives, *_group, *_objects, *_point_to_point, *_stores]


class _PartAndFunction(types.ModuleType):
    """Importing this part puts it in the place of the function facula.dist, whose name it bears: so it is that function too."""

    def __call__(self, input, other, p=2):
        """|input - other| in the p-norm, facula.dist."""
        return facula.Tensor.dist(input, other, p)


sys.modules[__name__].__class__ = _PartAndFunction
