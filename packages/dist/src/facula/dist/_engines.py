"""What moves bytes among processes. An engine sees NumPy arrays; everything about tensors is above them, in _work and what uses it."""

from __future__ import annotations

import enum

__all__ = ["MPIEngine", "ReduceOp", "SingleEngine"]


class ReduceOp(enum.Enum):
    """How values of all processes become one.

    >>> [op.name for op in facula.dist.ReduceOp][:4]
    ['SUM', 'AVG', 'PRODUCT', 'MIN']
    """

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "band"
    BOR = "bor"
    BXOR = "bxor"


# PyTorch's name of what SUM and its like are
ReduceOp.RedOpType = ReduceOp


class SingleEngine:
    """A world of one process: what is sent arrives where it came from."""

    rank = 0
    size = 1
    ranks = [0]

    def all_reduce(self, array, op: ReduceOp):
        return array

    def broadcast(self, array, src: int):
        return array

    def all_gather(self, array) -> list:
        return [array]

    def all_to_all(self, arrays: list) -> list:
        return arrays

    def all_gather_object(self, value) -> list:
        return [value]

    def send(self, array, dst: int, tag: int) -> None:
        raise RuntimeError(f"send: rank {dst} is this process, the only one. There is nobody to send to.")

    def receive(self, array, src: int | None, tag: int):
        raise RuntimeError("recv: this process is the only one. There is nobody to receive from.")

    def barrier(self) -> None: ...

    def close(self) -> None: ...


class MPIEngine:
    """All processes that mpirun started, through mpi4py.

    Arrays arrive contiguous. Every collective is called by all processes in the same order; the messages are
    MPI's own, so any MPI that mpi4py was built for will do.
    """

    def __init__(self) -> None:
        try:
            from mpi4py import MPI
        except ImportError as error:
            raise RuntimeError(
                "init_process_group: the mpi backend needs mpi4py, which is not installed: pip install facula-dist[mpi]"
            ) from error
        self.MPI = MPI
        # A communicator of our own: messages of the program's other MPI code cannot be taken for ours.
        self.comm = MPI.COMM_WORLD.Dup()
        self.rank = self.comm.Get_rank()
        self.size = self.comm.Get_size()
        self.ranks = list(range(self.size))

    def _op(self, op: ReduceOp):
        name = {"avg": "SUM", "product": "PROD"}.get(op.value, op.value.upper())
        return getattr(self.MPI, name)

    def all_reduce(self, array, op: ReduceOp):
        out = array.copy()
        # MPI knows no float16: the sum is made in float32 and rounded once.
        wide = out.astype("float32") if out.dtype == "float16" else out
        self.comm.Allreduce(self.MPI.IN_PLACE, wide, op=self._op(op))
        if op is ReduceOp.AVG:
            wide = wide / self.size
        return wide.astype(array.dtype)

    def _bytes(self, array):
        # Where nothing is computed every dtype travels as its bytes (0-d arrays have no byte view).
        return array.reshape(-1).view("uint8")

    def broadcast(self, array, src: int):
        out = array.copy()
        self.comm.Bcast(self._bytes(out), root=src)
        return out

    def all_gather(self, array) -> list:
        import numpy

        out = numpy.empty((self.size, *array.shape), array.dtype)
        self.comm.Allgather(self._bytes(array), out.reshape(-1).view("uint8"))
        return list(out)

    def all_to_all(self, arrays: list) -> list:
        import numpy

        out = numpy.empty((self.size, *arrays[0].shape), arrays[0].dtype)
        self.comm.Alltoall(numpy.stack(arrays).reshape(-1).view("uint8"), out.reshape(-1).view("uint8"))
        return list(out)

    def all_gather_object(self, value) -> list:
        return self.comm.allgather(value)

    def send(self, array, dst: int, tag: int) -> None:
        self.comm.Send(self._bytes(array), dest=dst, tag=tag)

    def receive(self, array, src: int | None, tag: int):
        out, status = array.copy(), self.MPI.Status()
        source = self.MPI.ANY_SOURCE if src is None else src
        self.comm.Recv(self._bytes(out), source=source, tag=tag, status=status)
        return out, status.Get_source()

    def barrier(self) -> None:
        self.comm.Barrier()

    def close(self) -> None:
        self.comm.Free()
