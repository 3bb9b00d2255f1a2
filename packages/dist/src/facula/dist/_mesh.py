"""A TCP connection between every two processes of a world, and the messages that wait to be taken.

A message is a header (channel, tag, length) and bytes. One thread per connection reads, so that a sender never waits for the
receiver's program; messages of one sender, channel and tag are taken in the order in which they were sent.

Whoever connects says who it is and proves that it knows the key of the environment variable FACULA_DIST_KEY (none by default).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import pathlib
import socket
import struct
import threading
import time

from ._messages import exactly as _exactly
from .config import from_environment

_HELLO = struct.Struct("!8sIII")  # magic, world size, rank, the port where it listens
_HEADER = struct.Struct("!qqq")  # channel, tag, length
_MAGIC = b"facula-1"
_PROOF = 32


class Mesh:
    """All processes of a world. address: (host, port) of rank 0, or the path of a file in which rank 0 writes its own."""

    def __init__(self, rank: int, size: int, address: tuple[str, int] | str, timeout: float) -> None:
        self.rank, self.size, self.timeout = rank, size, timeout
        self._deadline = time.monotonic() + timeout
        self._arrived: dict[tuple[int, int, int], list[bytes | None]] = {}
        self._taken: dict[tuple[int, int, int], int] = {}
        self._news = threading.Condition()
        self._gone: dict[int, str] = {}
        self._links: dict[int, socket.socket] = {}
        self._locks = {r: threading.Lock() for r in range(size)}
        self._key = from_environment().get("FACULA_DIST_KEY", "").encode()
        self._file = address if isinstance(address, str) else None
        self._closing = False
        try:
            self._meet(address)
        except BaseException:
            self.close()
            raise
        for r, link in self._links.items():
            link.settimeout(None)
            threading.Thread(target=self._read, args=(r, link), name=f"facula.dist from {r}", daemon=True).start()

    # --- meeting

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise RuntimeError(
                f"init_process_group: only {len(self._links) + 1} of {self.size} processes had arrived after {self.timeout:g} s. "
                "Start all of them, with the same address."
            )
        return left

    def _meet(self, address) -> None:
        if self.rank == 0:
            host, port = (("127.0.0.1", 0) if self._file else address)
            with _listening(host, port) as door:
                if self._file:
                    whole = pathlib.Path(f"{self._file}.{os.getpid()}")
                    whole.write_text(f"127.0.0.1 {door.getsockname()[1]}")
                    os.replace(whole, self._file)
                places = dict(self._accept(door) for _ in range(1, self.size))
            table = json.dumps([(r, *place) for r, place in sorted(places.items())]).encode()
            for link in self._links.values():
                link.sendall(struct.pack("!I", len(table)) + table)
            return
        link = self._dial(address)
        with _listening(link.getsockname()[0], 0) as door:
            self._introduce(0, link, door.getsockname()[1])
            table = {r: place for r, *place in json.loads(_exactly(link, struct.unpack("!I", _exactly(link, 4))[0]))}
            for r in range(1, self.rank):
                self._introduce(r, self._dial(table[r]), 0)
            for _ in range(self.rank + 1, self.size):
                self._accept(door)

    def _dial(self, address) -> socket.socket:
        while True:
            try:
                where = tuple(pathlib.Path(address).read_text().split()) if isinstance(address, str) else address
                link = socket.create_connection((where[0], int(where[1])), timeout=min(self._left(), 10))
                link.settimeout(self._left())
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return link
            except (OSError, IndexError, ValueError):  # not there yet
                self._left()
                time.sleep(0.02)

    def _introduce(self, other: int, link: socket.socket, port: int) -> None:
        hello = _HELLO.pack(_MAGIC, self.size, self.rank, port)
        link.sendall(hello + hmac.new(self._key, _exactly(link, _PROOF) + hello, hashlib.sha256).digest())
        self._links[other] = link

    def _accept(self, door: socket.socket) -> tuple[int, tuple[str, int]]:
        """The rank of the next process that belongs here, and where it listens."""
        while True:
            door.settimeout(self._left())
            try:
                link, (host, *_) = door.accept()
                link.settimeout(min(self._left(), 30))
                nonce = os.urandom(_PROOF)
                link.sendall(nonce)
                hello = _exactly(link, _HELLO.size)
                proof = _exactly(link, _PROOF)
            except TimeoutError:
                self._left()
                continue
            except OSError:
                continue
            magic, size, rank, port = _HELLO.unpack(hello)
            known = magic == _MAGIC and size == self.size and 0 < rank < size and rank not in self._links
            if not known or not hmac.compare_digest(proof, hmac.new(self._key, nonce + hello, hashlib.sha256).digest()):
                link.close()
                continue
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._links[rank] = link
            return rank, (host, port)

    # --- messages

    def _read(self, source: int, link: socket.socket) -> None:
        try:
            while True:
                channel, tag, length = _HEADER.unpack(_exactly(link, _HEADER.size))
                body = _exactly(link, length)
                with self._news:
                    self._arrived.setdefault((source, channel, tag), []).append(body)
                    self._news.notify_all()
        except OSError as error:
            with self._news:
                self._gone[source] = str(error)
                self._news.notify_all()

    def send(self, to: int, channel: int, tag: int, body) -> None:
        body = memoryview(body).cast("B")
        try:
            with self._locks[to]:
                link = self._links[to]
                link.sendall(_HEADER.pack(channel, tag, len(body)))
                link.sendall(body)
        except OSError as error:
            raise RuntimeError(f"rank {to} cannot be reached from rank {self.rank}: {error}. Look at its own error.") from error

    def ticket(self, source: int, channel: int, tag: int) -> tuple:
        """The claim to the next message of that sender, channel and tag."""
        key = (source, channel, tag)
        with self._news:
            number = self._taken[key] = self._taken.get(key, 0) + 1
        return (*key, number - 1)

    def take(self, ticket: tuple, timeout: float | None = None) -> bytes:
        """The message of a ticket, waiting for it; as long as the world does unless a timeout in seconds is given."""
        *key, number = ticket
        key, timeout = tuple(key), self.timeout if timeout is None else timeout
        with self._news:
            while len(self._arrived.get(key, ())) <= number:
                if key[0] in self._gone:
                    raise RuntimeError(f"rank {key[0]} has gone while rank {self.rank} waited for it: {self._gone[key[0]]}. Look at its own error.")
                if not self._news.wait(timeout):
                    raise RuntimeError(f"rank {self.rank} waited {timeout:g} s for a message of rank {key[0]}. Do all call the same collectives?")
            messages = self._arrived[key]
            body, messages[number] = messages[number], None
            if key[2] < 0:  # a collective's tag is used once
                del self._arrived[key], self._taken[key]
            return body

    def waiting(self, sources: list[int], channel: int, tag: int) -> tuple:
        """The ticket of the first message there is from any of these."""
        with self._news:
            while True:
                for source in sources:
                    key = (source, channel, tag)
                    number = self._taken.get(key, 0)
                    if len(self._arrived.get(key, ())) > number:
                        self._taken[key] = number + 1
                        return (*key, number)
                if not self._news.wait(self.timeout):
                    raise RuntimeError(f"rank {self.rank} waited {self.timeout:g} s for a message of anybody.")

    def close(self) -> None:
        for link in self._links.values():
            try:
                link.shutdown(socket.SHUT_WR)  # what was sent arrives; the others read to its end
            except OSError:
                pass
        if self._file and self.rank == 0:
            pathlib.Path(self._file).unlink(missing_ok=True)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    door = socket.socket(family, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
    except OSError as error:
        door.close()
        raise RuntimeError(f"init_process_group: rank 0 cannot listen at {host}:{port}: {error}. Choose another port.") from error
    door.listen(128)
    return door


