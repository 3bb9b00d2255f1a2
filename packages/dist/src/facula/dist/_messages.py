"""What a store and its processes send each other: numbers, text, bytes and lists of them, of a bounded length.

    4 bytes      the length of what follows, big-endian
    a value      N (none)   T F (truth)   I S B, 4 bytes of length, then the digits, the text, the bytes   L, 4 bytes of count, the items

Nothing else can be said, so nothing that arrives can name code or ask for more memory than it fills.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

LIMIT = 1 << 28  # bytes of a message: stores are for addresses and small values
DEPTH = 4  # of lists in lists: [name, [keys]] is the deepest that is sent
DIGITS = 40
_ROOM = 1 << 16
_LENGTH = struct.Struct("!I")
_PLAIN = {b"N": None, b"T": True, b"F": False}


class NoMessage(ValueError):
    """Bytes that are no message."""


def pack(value: Any) -> bytes:
    """The bytes of a value. Raises TypeError for what is no number, text, bytes or list of them."""
    if value is None or type(value) is bool:
        return {None: b"N", True: b"T", False: b"F"}[value]
    if type(value) is list:
        return b"L" + _LENGTH.pack(len(value)) + b"".join(map(pack, value))
    for kind, tag, encoded in ((int, b"I", lambda: b"%d" % value), (str, b"S", lambda: value.encode()), (bytes, b"B", lambda: value)):
        if isinstance(value, kind):
            body = encoded()
            return tag + _LENGTH.pack(len(body)) + body
    raise TypeError(f"store: a {type(value).__name__} cannot be sent. Give text, bytes or a number.")


def unpack(body: bytes) -> Any:
    """The value of such bytes, all of them. Raises NoMessage for others."""
    try:
        value, end = _unpack(body, 0, DEPTH)
    except (struct.error, ValueError) as error:
        raise NoMessage(f"no message: {error}") from None
    if end != len(body):
        raise NoMessage(f"a message of {end} bytes came with {len(body) - end} more")
    return value


def _unpack(body: bytes, at: int, depth: int) -> tuple[Any, int]:
    tag, at = body[at : at + 1], at + 1
    if tag in _PLAIN:
        return _PLAIN[tag], at
    (length,), at = _LENGTH.unpack_from(body, at), at + _LENGTH.size
    if length > len(body) - at:
        raise NoMessage(f"{length} bytes or items where {len(body) - at} bytes are left")
    if tag == b"L" and depth:
        items = []
        for _ in range(length):
            item, at = _unpack(body, at, depth - 1)
            items.append(item)
        return items, at
    piece, at = body[at : at + length], at + length
    if tag == b"I" and length <= DIGITS:
        return int(piece), at
    if tag == b"S":
        return piece.decode(), at
    if tag == b"B":
        return piece, at
    raise NoMessage(f"the tag {tag!r}")


def send(link: socket.socket, value: Any) -> None:
    """Send a value. Raises ValueError for one that is too long."""
    body = pack(value)
    if len(body) > LIMIT:
        raise ValueError(f"store: a message of {len(body)} bytes; {LIMIT} are possible. Send large data by a collective.")
    link.sendall(_LENGTH.pack(len(body)) + body)


def receive(link: socket.socket) -> Any:
    """The next value. Raises NoMessage for bytes that are none, OSError where the connection ends."""
    (length,) = _LENGTH.unpack(exactly(link, _LENGTH.size))
    if length > LIMIT:
        raise NoMessage(f"a message of {length} bytes; {LIMIT} are possible")
    return unpack(exactly(link, length))


def exactly(link: socket.socket, length: int) -> bytes:
    """That many bytes; room is taken as they arrive, for as many again. Raises OSError where the connection ends before."""
    body, at = bytearray(), 0
    while at < length:
        body += bytes(min(length - at, max(at, _ROOM)))
        with memoryview(body) as view:
            while at < len(view):
                n = link.recv_into(view[at:])
                if not n:
                    raise OSError("the connection was closed")
                at += n
    return bytes(body)
