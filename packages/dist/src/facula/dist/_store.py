"""Stores: a few small values that processes set and wait for, in this process, in a file, or over TCP."""

from __future__ import annotations

import contextlib
import datetime
import os
import socket
import struct
import threading
import time
from typing import Any, Callable

from ._messages import NoMessage, receive as _receive, send as _send

__all__ = ["DistStoreError", "FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]

_FOREVER = datetime.timedelta(seconds=300)


class DistStoreError(RuntimeError):
    """A key that nobody set in time, or a store that cannot be reached.

    >>> issubclass(facula.dist.DistStoreError, RuntimeError)
    True
    """


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


class Store:
    """Keys and bytes. Subclasses say how a table changes (`_change`) and, where they can, how one waits for that (`_pause`).

    >>> store = facula.dist.HashStore()
    >>> isinstance(store, facula.dist.Store), store.add("count", 2), store.add("count", 3)
    (True, 2, 5)
    """

    timeout = _FOREVER

    def set_timeout(self, timeout: datetime.timedelta) -> None:
        """How long get and wait wait."""
        self.timeout = timeout

    def _change(self, what: Callable[[dict], Any]) -> Any:
        """what(table), alone with it."""
        raise RuntimeError(f"{type(self).__name__}: a Store as such keeps nothing. Use HashStore, FileStore or TCPStore.")

    def _call(self, name: str, *args: Any) -> Any:
        return self._change(lambda table: _ACTIONS[name](table, *args))

    def _pause(self, left: float) -> None:
        time.sleep(min(0.01, left))

    def set(self, key: str, value: str | bytes) -> None:
        """Set a key."""
        self._call("set", key, _bytes(value))

    def get(self, key: str) -> bytes:
        """The value of a key, waiting for it. Raises DistStoreError after the timeout."""
        self.wait([key])
        return self._call("get", key)

    def add(self, key: str, amount: int) -> int:
        """Add to the number that a key holds, 0 at first; returns the sum."""
        return self._call("add", key, int(amount))

    def append(self, key: str, value: str | bytes) -> None:
        """Add bytes to the end of a key's value."""
        self._call("append", key, _bytes(value))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a key if its value is the expected one (or if there is none and nothing is expected); returns what it holds then."""
        return self._call("compare_set", key, _bytes(expected_value), _bytes(desired_value))

    def delete_key(self, key: str) -> bool:
        """Remove a key; was it there?"""
        return self._call("delete_key", key)

    def num_keys(self) -> int:
        """How many keys there are."""
        return self._call("num_keys")

    def check(self, keys: list[str]) -> bool:
        """Are all of them there?"""
        return self._call("check", list(keys))

    def multi_get(self, keys: list[str]) -> list[bytes]:
        """get of each."""
        return [self.get(k) for k in keys]

    def multi_set(self, keys: list[str], values: list[str | bytes]) -> None:
        """set of each."""
        if len(keys) != len(values):
            raise ValueError(f"multi_set: {len(keys)} keys and {len(values)} values. Give as many.")
        for key, value in zip(keys, values):
            self.set(key, value)

    def wait(self, keys: list[str], timeout: datetime.timedelta | None = None) -> None:
        """Return when all keys are there. Raises DistStoreError after the timeout."""
        limit = (timeout or self.timeout).total_seconds()
        deadline = time.monotonic() + limit
        while not self.check(keys):
            left = deadline - time.monotonic()
            if left <= 0:
                raise DistStoreError(f"{type(self).__name__}: waited {limit:g} s for the keys {', '.join(keys)}. Does somebody set them?")
            self._pause(left)

    def has_extended_api(self) -> bool:
        """Are append, multi_get and multi_set there? They are."""
        return True


def _add(table: dict, key: str, amount: int) -> int:
    held = table.get(key, b"0")
    try:
        found = int(held) + amount
    except ValueError:
        raise DistStoreError(f"add: {key!r} holds {held[:40]!r}, which is no number. Use another key.") from None
    table[key] = str(found).encode()
    return found


def _compare_set(table: dict, key: str, expected: bytes, desired: bytes) -> bytes:
    if key not in table:
        if expected:
            return expected
        table[key] = desired
    elif table[key] == expected:
        table[key] = desired
    return table[key]


_ACTIONS: dict[str, Callable[..., Any]] = {
    "set": lambda table, key, value: table.__setitem__(key, value),
    "get": lambda table, key: table[key],
    "add": _add,
    "append": lambda table, key, value: table.__setitem__(key, table.get(key, b"") + value),
    "compare_set": _compare_set,
    "delete_key": lambda table, key: table.pop(key, None) is not None,
    "num_keys": len,
    "check": lambda table, keys: all(k in table for k in keys),
}


_ARGUMENTS: dict[str, tuple[type, ...]] = {
    "set": (str, bytes), "get": (str,), "add": (str, int), "append": (str, bytes), "compare_set": (str, bytes, bytes), "delete_key": (str,),
    "num_keys": (), "check": (list,),
}  # fmt: skip


def _asked(message: Any) -> tuple[str, list]:
    """(action, arguments) of a message. Raises NoMessage for one that asks for nothing that a store does."""
    name = message[0] if type(message) is list and message else None
    if type(name) is not str or tuple(map(type, message[1:])) != _ARGUMENTS.get(name):
        raise NoMessage("a message asks for nothing that a store does")
    return name, message[1:]


class HashStore(Store):
    """A store for the threads of one process.

    >>> store = facula.dist.HashStore()
    >>> store.set("step", "3")
    >>> store.get("step")
    b'3'
    """

    def __init__(self) -> None:
        self._table: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def _change(self, what: Callable[[dict], Any]) -> Any:
        with self._lock:
            return what(self._table)


class FileStore(Store):
    """A store in a file that all processes see. The last of world_size processes to let go of it removes it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = facula.dist.FileStore(folder + "/store", 1)
    ...     store.set("step", "3")
    ...     print(store.get("step"))
    b'3'
    """

    def __init__(self, file_name: str | os.PathLike, world_size: int = -1) -> None:
        self.path, self.world_size = os.fspath(file_name), world_size
        self._lock = threading.Lock()
        self._open = True
        self._change(lambda table: _add(table, _USERS, 1))

    def _change(self, what: Callable[[dict], Any]) -> Any:
        import fcntl

        with self._lock, open(self.path, "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed
            file.seek(0)
            table = _read_table(file.read())
            before = dict(table)
            found = what(table)
            if table != before:
                file.truncate(0)
                file.write(_write_table(table))
        return found

    def num_keys(self) -> int:
        return super().num_keys() - 1  # that of the users

    def __del__(self) -> None:
        if getattr(self, "_open", False):
            self._open = False
            with contextlib.suppress(OSError, ValueError, DistStoreError):
                if self._change(lambda table: _add(table, _USERS, -1)) == 0 and self.world_size >= 0:
                    os.unlink(self.path)


_USERS = "\0users"
_LENGTHS = struct.Struct("!II")


def _write_table(table: dict[str, bytes]) -> bytes:
    return b"".join(_LENGTHS.pack(len(k), len(v)) + k + v for k, v in ((k.encode("utf-8", "surrogateescape"), v) for k, v in table.items()))


def _read_table(body: bytes) -> dict[str, bytes]:
    table, at = {}, 0
    while at + _LENGTHS.size <= len(body):
        key, value = _LENGTHS.unpack_from(body, at)
        at += _LENGTHS.size
        if key + value > len(body) - at:
            break
        table[body[at : at + key].decode("utf-8", "surrogateescape")] = body[at + key : at + key + value]
        at += key + value
    if at != len(body):
        raise DistStoreError(f"FileStore: the file of {len(body)} bytes falls apart at byte {at}. Is it another program's? Remove it.")
    return table


class TCPStore(Store):
    """A store in one process (is_master=True), which the others reach over TCP.

    port: 0 is any free one; `.port` says which. wait_for_workers: the master returns when world_size processes have come.
    Values are bytes; nothing that arrives is executed.

    >>> store = facula.dist.TCPStore("localhost", 0, 1, is_master=True)
    >>> store.set("step", "3")
    >>> store.get("step")
    b'3'
    """

    def __init__(
        self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False, timeout: datetime.timedelta = _FOREVER,
        wait_for_workers: bool = True, multi_tenant: bool = False, master_listen_fd: int | None = None, use_libuv: bool = True,
    ) -> None:  # fmt: skip
        if master_listen_fd is not None:
            raise ValueError("TCPStore: master_listen_fd cannot be taken over. Give a port.")
        self.host, self.timeout = host_name, timeout
        self._lock = threading.Lock()
        self._server = _Server(host_name, port, multi_tenant) if is_master else None
        self.port = self._server.port if self._server is not None and self._server.port else port
        self._link = _connect(host_name, self.port, timeout.total_seconds())
        self.add("\0here", 1)
        if is_master and wait_for_workers and world_size is not None and world_size > 0:
            deadline = time.monotonic() + timeout.total_seconds()
            while (here := self.add("\0here", 0)) < world_size:
                if time.monotonic() > deadline:
                    raise DistStoreError(f"TCPStore: {here} of {world_size} processes came to port {self.port} in {timeout}. Start all of them.")
                time.sleep(0.01)

    def _call(self, name: str, *args: Any) -> Any:
        with self._lock:
            try:
                _send(self._link, [name, *args])
                ok, found = _receive(self._link)
            except (OSError, NoMessage) as error:
                raise DistStoreError(f"TCPStore: {self.host}:{self.port} has gone: {error}. Look at its own error.") from error
        if not ok:
            raise DistStoreError(f"TCPStore: {name}: {found}")
        return found

    def num_keys(self) -> int:
        return super().num_keys() - 1  # that of those who are here

    def __del__(self) -> None:
        for part in (getattr(self, "_link", None), getattr(self, "_server", None)):
            if part is not None:
                part.close()


def _connect(host: str, port: int, timeout: float) -> socket.socket:
    deadline = time.monotonic() + timeout
    while True:
        try:
            link = socket.create_connection((host, port), timeout=min(10.0, max(timeout, 0.1)))
            link.settimeout(None)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link
        except OSError as error:  # not there yet
            if time.monotonic() > deadline:
                raise DistStoreError(f"TCPStore: nobody at {host}:{port} after {timeout:g} s: {error}. Start the master.") from error
            time.sleep(0.02)


class _Server:
    """The table, and a thread for each connection."""

    def __init__(self, host: str, port: int, share: bool) -> None:
        self.table: dict[str, bytes] = {}
        self.lock = threading.Lock()
        self.links: list[socket.socket] = []
        self.port = 0
        try:
            self.door = socket.create_server((host, port))
        except OSError as error:
            if share:  # another store of this process serves there
                self.door = None
                return
            raise DistStoreError(f"TCPStore: The server socket has failed to listen on {host}:{port}: {error}. Choose another port.") from error
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self._accept, name="facula.dist store", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self.door.accept()
            except OSError:  # closed
                return
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.links.append(link)
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        # whoever sends what is no message is cut off
        with link, contextlib.suppress(OSError, NoMessage):
            while True:
                name, args = _asked(_receive(link))
                try:
                    with self.lock:
                        found = [True, _ACTIONS[name](self.table, *args)]
                except Exception as error:
                    found = [False, f"{type(error).__name__}: {error}"]
                _send(link, found)

    def close(self) -> None:
        if self.door is not None:
            for part in (self.door, *self.links):
                # A thread that waits on a socket keeps it, and so its port, over a close(): shutdown() wakes it.
                with contextlib.suppress(OSError):
                    part.shutdown(socket.SHUT_RDWR)
                part.close()


class PrefixStore(Store):
    """Another store, with a prefix before every key.

    >>> store = facula.dist.HashStore()
    >>> facula.dist.PrefixStore("run", store).set("step", "3")
    >>> facula.dist.PrefixStore("run", store).get("step")
    b'3'
    """

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self.underlying_store, self.timeout = prefix, store, store.timeout

    def _call(self, name: str, *args: Any) -> Any:
        if name == "num_keys":
            return self.underlying_store.num_keys()
        if name == "check":
            return self.underlying_store.check([self._key(k) for k in args[0]])
        return self.underlying_store._call(name, self._key(args[0]), *args[1:])

    def _key(self, key: str) -> str:
        return f"{self.prefix}/{key}"
