"""Event files: protobuf's encoding of the few messages that are written, and the records they lie in."""

from __future__ import annotations

import struct

# --- protobuf: a field is a varint of (number << 3 | wire type), then its value -----------------------------------------


def _varint(n: int) -> bytes:
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes([*out, n])


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _bytes(field: int, value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _packed(field: int, values) -> bytes:
    return _bytes(field, struct.pack(f"<{len(values)}d", *values))


# --- records ------------------------------------------------------------------------------------------------------------


def _table() -> list[int]:
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_CRC = _table()


def _masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and moved as TFRecord wants it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked_crc(length)) + data + struct.pack("<I", _masked_crc(data))


# --- pieces of Summary ---------------------------------------------------------------------------------------------------


def _metadata(plugin: str, content: bytes = b"") -> bytes:
    """Summary.Value's field that says which plugin shows it."""
    return _bytes(9, _bytes(1, _bytes(1, plugin) + (_bytes(2, content) if content else b"")))


def _value(tag: str, body: bytes) -> bytes:
    """Summary.Value inside a Summary."""
    return _bytes(1, _bytes(1, tag) + body)
