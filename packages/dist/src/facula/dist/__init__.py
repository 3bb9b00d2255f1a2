"""Several processes working together. `facula.distributed` is this package under PyTorch's name.

    import facula.distributed as dist

    dist.init_process_group("mpi")       # under mpirun -n 4; or "gloo" for a world of one process
    dist.all_reduce(gradient, op=dist.ReduceOp.AVG)
"""

from ._collectives import *  # noqa: F403
from ._collectives import __all__ as _collectives
from ._engines import ReduceOp
from ._group import *  # noqa: F403
from ._group import __all__ as _group
from ._group import _rank_not_in_group  # noqa: F401 - libraries ask it
from ._store import *  # noqa: F403
from ._store import __all__ as _stores

__all__ = ["ReduceOp", *_collectives, *_group, *_stores]
