"""The engine of the backend "gloo": arrays among processes over TCP, reduced in the order of ranks, so with the same bits everywhere."""

from __future__ import annotations

import itertools
import pickle

from ._engines import ReduceOp
from ._mesh import Mesh


def _reducer(op: ReduceOp):
    import numpy

    return {
        "sum": numpy.add, "avg": numpy.add, "product": numpy.multiply, "min": numpy.minimum, "max": numpy.maximum, "band": numpy.bitwise_and,
        "bor": numpy.bitwise_or, "bxor": numpy.bitwise_xor,
    }[op.value]  # fmt: skip


class SocketEngine:
    """Some processes of a mesh. ranks: who they are in the world; collectives are called by all of them in the same order."""

    def __init__(self, mesh: Mesh, ranks: list[int], channel: int = 0, timeout: float | None = None) -> None:
        self.mesh, self.ranks, self.channel, self.timeout = mesh, ranks, channel, timeout
        self.rank, self.size = ranks.index(mesh.rank), len(ranks)
        self._tags = itertools.count(-1, -1)  # programs' own tags are not negative

    def _others(self):
        return (r for r in range(self.size) if r != self.rank)

    def _exchange(self, bodies: list) -> list:
        """What every process has for this one; bodies[r] is what this one has for rank r."""
        tag = next(self._tags)
        for r in self._others():
            self.mesh.send(self.ranks[r], self.channel, tag, bodies[r])
        return [bodies[r] if r == self.rank else self._next(r, tag) for r in range(self.size)]

    def _next(self, r: int, tag: int, timeout: float | None = None) -> bytes:
        return self.mesh.take(self.mesh.ticket(self.ranks[r], self.channel, tag), timeout or self.timeout)

    def all_reduce(self, array, op: ReduceOp):
        import numpy

        # Of every part one process makes the reduction. float16 is reduced in float32 and rounded once.
        flat = array.reshape(-1)
        parts = numpy.array_split(flat.astype("float32") if flat.dtype == "float16" else flat, self.size)
        reduce, mine = _reducer(op), parts[self.rank]
        found = [numpy.frombuffer(b, mine.dtype) for b in self._exchange([numpy.ascontiguousarray(p) for p in parts])]
        total = found[0].copy()
        for other in found[1:]:
            reduce(total, other, out=total)
        if op is ReduceOp.AVG:
            total = (total / self.size).astype(total.dtype)
        whole = numpy.concatenate([numpy.frombuffer(b, mine.dtype) for b in self._exchange([total] * self.size)])
        return whole.astype(array.dtype).reshape(array.shape)

    def broadcast(self, array, src: int):
        tag = next(self._tags)
        if self.rank == src:
            for r in self._others():
                self.mesh.send(self.ranks[r], self.channel, tag, array.reshape(-1).view("uint8"))
            return array
        return self._as(array, self._next(src, tag))

    def _as(self, like, body: bytes):
        import numpy

        if len(body) != like.nbytes:
            raise RuntimeError(f"rank {self.rank} expected {like.nbytes} bytes ({like.shape} {like.dtype}), got {len(body)}. Give tensors alike on all ranks.")
        return numpy.frombuffer(body, like.dtype).reshape(like.shape).copy()

    def all_gather(self, array) -> list:
        return [self._as(array, b) for b in self._exchange([array.reshape(-1).view("uint8").tobytes()] * self.size)]

    def all_to_all(self, arrays: list) -> list:
        import numpy

        found = self._exchange([numpy.ascontiguousarray(a).reshape(-1).view("uint8").tobytes() for a in arrays])
        # parts may differ in length; the caller knows their shapes
        return [numpy.frombuffer(b, arrays[0].dtype).copy() for b in found]

    def all_gather_object(self, value) -> list:
        body = pickle.dumps(value)
        return [value if r == self.rank else pickle.loads(b) for r, b in enumerate(self._exchange([body] * self.size))]

    def send(self, array, dst: int, tag: int) -> None:
        self.mesh.send(self.ranks[dst], self.channel, tag, array.reshape(-1).view("uint8"))

    def receive(self, array, src: int | None, tag: int):
        return self.expect(array, src, tag)()

    def expect(self, array, src: int | None, tag: int):
        """A function that waits for the message: it has its place among those of its sender from now on."""
        if src is not None:
            ticket = self.mesh.ticket(self.ranks[src], self.channel, tag)

        def wait(timeout=None):
            claimed = ticket if src is not None else self.mesh.waiting([self.ranks[r] for r in self._others()], self.channel, tag)
            return self._as(array, self.mesh.take(claimed, timeout or self.timeout)), self.ranks.index(claimed[0])

        return wait

    def barrier(self) -> None:
        self._exchange([b""] * self.size)

    def missing(self, timeout: float | None, everybody: bool) -> list[tuple[int, str]]:
        """A barrier that answers who did not come, and why: the first one, or everybody."""
        tag, found = next(self._tags), []
        for r in self._others():
            self.mesh.send(self.ranks[r], self.channel, tag, b"")
        for r in self._others():
            try:
                self._next(r, tag, timeout)
            except RuntimeError as error:
                found.append((self.ranks[r], str(error)))
                if not everybody:
                    break
        return found

    def close(self) -> None:
        if self.channel == 0:
            self.mesh.close()
