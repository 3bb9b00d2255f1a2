"""Tensors from one process to another."""

from __future__ import annotations

from ._group import ProcessGroup, _group_of
from ._work import Work, _array, _check_rank, _write

__all__ = [
    "P2POp",
    "batch_isend_irecv",
    "irecv",
    "isend",
    "recv",
    "send",
]


def send(tensor, dst: int, group: ProcessGroup | None = None, tag: int = 0) -> None:
    """Sends to rank `dst`, which receives with the same tag."""
    engine = _group_of(group).engine
    dst = _check_rank("send", "dst", dst, engine)
    if dst == engine.rank:
        raise ValueError(f"send: Invalid destination rank: destination rank {dst} should not be the same as the rank of the current process.")
    engine.send(_array("send", tensor), dst, tag)


def recv(tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0) -> int:
    """Fills `tensor` with what rank `src` (None: anybody) sent; returns the sender's rank."""
    engine = _group_of(group).engine
    if src is not None:
        src = _check_rank("recv", "src", src, engine)
    array, sender = engine.receive(_array("recv", tensor), src, tag)
    _write(tensor, array)
    return engine.ranks[sender]


def isend(tensor, dst: int, group: ProcessGroup | None = None, tag: int = 0) -> Work:
    """send(), which waits for nobody."""
    send(tensor, dst, group, tag)
    return Work()


def irecv(tensor, src: int | None = None, group: ProcessGroup | None = None, tag: int = 0) -> Work:
    """recv(), of which wait() fills the tensor."""
    engine = _group_of(group).engine
    if src is not None:
        src = _check_rank("irecv", "src", src, engine)
    like = _array("irecv", tensor)
    finish = engine.expect(like, src, tag) if hasattr(engine, "expect") else lambda timeout: engine.receive(like, src, tag)
    return Work(lambda timeout: _write(tensor, finish(timeout)[0]))


class P2POp:
    """One isend or irecv, for batch_isend_irecv."""

    def __init__(self, op, tensor, peer: int, group: ProcessGroup | None = None, tag: int = 0) -> None:
        if op not in (isend, irecv):
            raise ValueError(f"P2POp: expected op to be isend or irecv, got {op!r}.")
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Starts all of them."""
    if not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError("batch_isend_irecv: expected a non-empty list of P2POp.")
    return [p.op(p.tensor, p.peer, p.group, p.tag) for p in p2p_op_list]
