"""Who takes part: rank and world size, from the arguments, a URL or the environment."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from .config import from_environment


def rendezvous(init_method: str, rank: int, world_size: int) -> tuple[int, int]:
    """(rank, world size) by an env://, tcp:// or file:// method; -1 means not given.

    `rank` and `world_size` may also stand in the URL's query, as in file:///shared/file?rank=0&world_size=1.
    """
    url = urlsplit(init_method)
    if url.scheme == "env":
        found = _environment(rank, world_size)
    elif url.scheme == "tcp":
        if not url.hostname or url.port is None:
            raise _error("tcp", f"host and port expected, the method is {init_method!r}. Write tcp://host:port")
        found = _arguments("tcp", url.query, rank, world_size)
    elif url.scheme == "file":
        if not url.path:
            raise _error("file", f"path missing, the method is {init_method!r}. Write file:///folder/file")
        found = _arguments("file", url.query, rank, world_size)
    else:
        raise RuntimeError(
            f"init_process_group: No rendezvous handler for {url.scheme}:// ({init_method!r}). Use env, tcp or file."
        )
    rank, world_size = found
    if world_size < 1 or not 0 <= rank < world_size:
        raise ValueError(
            f"init_process_group: rank {rank} in a world of {world_size}. Ranks go from 0 to world size - 1."
        )
    return rank, world_size


def address(init_method: str) -> tuple[str, int] | str:
    """Where rank 0 of a world of several is met: (host, port), or a file's path. The method has been checked by `rendezvous`."""
    url = urlsplit(init_method)
    if url.scheme == "env":
        variables = from_environment()
        return variables["MASTER_ADDR"], int(variables["MASTER_PORT"])
    return (url.hostname or "", url.port or 0) if url.scheme == "tcp" else url.path


def _error(scheme: str, problem: str) -> ValueError:
    return ValueError(f"Error initializing facula.distributed using {scheme}:// rendezvous: {problem}.")


def _arguments(scheme: str, query: str, rank: int, world_size: int) -> tuple[int, int]:
    given = parse_qs(query)
    values = {}
    for name, value in (("rank", rank), ("world_size", world_size)):
        if value < 0 and name in given:
            value = _number(scheme, name, given[name][-1])
        if value < 0:
            raise _error(scheme, f"{name.replace('_', ' ')} parameter missing. Pass {name}= to init_process_group")
        values[name] = value
    return values["rank"], values["world_size"]


def _environment(rank: int, world_size: int) -> tuple[int, int]:
    variables = from_environment()
    needed = [] if rank >= 0 else ["RANK"]
    needed += [] if world_size >= 0 else ["WORLD_SIZE"]
    for name in [*needed, "MASTER_ADDR", "MASTER_PORT"]:
        if name not in variables:
            raise _error("env", f"environment variable {name} expected, but not set. Set it, or use tcp or file")
    _number("env", "MASTER_PORT", variables["MASTER_PORT"])
    return (
        rank if rank >= 0 else _number("env", "RANK", variables["RANK"]),
        world_size if world_size >= 0 else _number("env", "WORLD_SIZE", variables["WORLD_SIZE"]),
    )


def _number(scheme: str, name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise _error(scheme, f"{name} should be a whole number, it is {text!r}") from error
