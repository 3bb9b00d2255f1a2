"""python -m facula.dist.run --nproc-per-node=2 program.py arguments...: starts a program several times, as torchrun does.

Each process finds RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT and the others of torchrun in its environment,
so that init_process_group("gloo") needs no argument. When one fails, the others are ended and the launcher fails, unless --max-restarts is left.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
import types

__all__ = ["ChildFailedError", "get_args_parser", "main", "run"]

GRACE = 30.0  # seconds that a process has to end when it is told to


class ChildFailedError(RuntimeError):
    """A process of the program failed. failures: local rank -> its exit code, negative for a signal.

    >>> issubclass(facula.dist.run.ChildFailedError, RuntimeError)
    True
    """

    def __init__(self, name: str, failures: dict[int, int]) -> None:
        self.name, self.failures = name, failures
        told = ", ".join(f"local rank {r} ended with {_ending(code)}" for r, code in failures.items())
        super().__init__(f"{name} failed: {told}. Look at its own error above.")


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def get_args_parser() -> argparse.ArgumentParser:
    """The command line; options may be written with - or _.

    >>> facula.dist.run.get_args_parser().parse_args(["--nproc-per-node", "2", "train.py"]).nproc_per_node
    '2'
    """
    p = argparse.ArgumentParser(prog="python -m facula.dist.run", description="Start a program in several processes that find one another.", allow_abbrev=False)

    def option(name: str, **kwargs) -> None:
        p.add_argument(*dict.fromkeys((f"--{name}", f"--{name.replace('-', '_')}")), **kwargs)

    option("nproc-per-node", default="1", metavar="N", help='processes on this machine; "cpu" or "auto": one for each processor')
    option("nnodes", default="1", metavar="N", help="machines; this is started on each of them")
    option("node-rank", type=int, default=0, metavar="R", help="which of the machines this is")
    option("master-addr", default="127.0.0.1", metavar="HOST", help="the machine of node rank 0")
    option("master-port", type=int, default=None, metavar="PORT", help="where rank 0 listens (29500; alone on a machine, any free port with --standalone)")
    option("standalone", action="store_true", help="this machine alone, at any free port")
    option("rdzv-backend", default="static", choices=("static", "c10d"), help="both meet at the endpoint, with ranks by --node-rank")
    option("rdzv-endpoint", default="", metavar="HOST:PORT", help="the same as --master-addr and --master-port")
    option("rdzv-id", default="none", metavar="NAME", help="TORCHELASTIC_RUN_ID")
    option("max-restarts", type=int, default=0, metavar="N", help="how often all processes are started anew when one fails")
    option("monitor-interval", type=float, default=0.1, metavar="SECONDS", help="how often the processes are looked at")
    option("role", default="default", metavar="NAME", help="ROLE_NAME")
    p.add_argument("-m", "--module", action="store_true", help="PROGRAM is a module's name")
    option("no-python", action="store_true", help="PROGRAM is run as it is, without python")
    p.add_argument("training_script", metavar="PROGRAM")
    p.add_argument("training_script_args", nargs=argparse.REMAINDER, metavar="...")
    return p


def _count(text: str) -> int:
    if text in ("cpu", "auto"):
        return os.cpu_count() or 1
    try:
        found = int(text)
    except ValueError:
        found = 0
    if found < 1:
        raise ValueError(f"run: --nproc-per-node is {text!r}. Give a whole number from 1, cpu or auto.")
    return found


def _nodes(text: str) -> int:
    low, _, high = text.partition(":")
    if not low.isdigit() or int(low) < 1 or high not in ("", low):
        raise ValueError(f"run: --nnodes is {text!r}. Give a whole number from 1: the number of machines does not change.")
    return int(low)


def _meeting(options: argparse.Namespace) -> tuple[str, int]:
    if options.standalone:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return "127.0.0.1", s.getsockname()[1]
    if options.rdzv_endpoint:
        host, _, port = options.rdzv_endpoint.rpartition(":") if ":" in options.rdzv_endpoint else (options.rdzv_endpoint, "", "29400")
        return host, int(port)
    return options.master_addr, 29500 if options.master_port is None else options.master_port


def _environment(options: argparse.Namespace, local: int, size: int, nodes: int, meeting: tuple[str, int], restarts: int) -> dict[str, str]:
    rank, world = options.node_rank * size + local, nodes * size
    made = {
        "LOCAL_RANK": local, "RANK": rank, "GROUP_RANK": options.node_rank, "ROLE_RANK": rank, "ROLE_NAME": options.role, "LOCAL_WORLD_SIZE": size,
        "WORLD_SIZE": world, "GROUP_WORLD_SIZE": nodes, "ROLE_WORLD_SIZE": world, "MASTER_ADDR": meeting[0], "MASTER_PORT": meeting[1],
        "TORCHELASTIC_RESTART_COUNT": restarts, "TORCHELASTIC_MAX_RESTARTS": options.max_restarts, "TORCHELASTIC_RUN_ID": options.rdzv_id,
    }  # fmt: skip
    threads = {"OMP_NUM_THREADS": 1, "FACULA_NUM_THREADS": max(1, (os.cpu_count() or 1) // size)} if size > 1 else {}
    return {**{k: str(v) for k, v in threads.items()}, **os.environ, **{k: str(v) for k, v in made.items()}}


def _command(options: argparse.Namespace, python: list[str]) -> list[str]:
    if options.no_python:
        if options.module:
            raise ValueError("run: --no-python and --module together. Choose one.")
        return [options.training_script, *options.training_script_args]
    return [*python, *(["-m"] if options.module else []), options.training_script, *options.training_script_args]


def run(options: argparse.Namespace, python: list[str] | None = None) -> None:
    """Start the program and wait for all of its processes. Raises ChildFailedError if one fails.

    python: the command that runs a program, this interpreter by default.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
    ...     _ = file.write("import os; assert os.environ['WORLD_SIZE'] == '2'"), file.flush()
    ...     facula.dist.run.run(facula.dist.run.get_args_parser().parse_args(["--nproc-per-node", "2", file.name]))
    """
    size, nodes = _count(options.nproc_per_node), _nodes(options.nnodes)
    if not 0 <= options.node_rank < nodes:
        raise ValueError(f"run: --node-rank is {options.node_rank} of {nodes} machines. Ranks go from 0.")
    command = _command(options, python or [sys.executable, "-u"])
    for restarts in range(options.max_restarts + 1):
        meeting = _meeting(options)
        started = [subprocess.Popen(command, env=_environment(options, k, size, nodes, meeting, restarts)) for k in range(size)]
        try:
            failures = _watch(started, options.monitor_interval)
        finally:
            _end(started)
        if not failures:
            return
    raise ChildFailedError(options.training_script, failures)


def _watch(started: list[subprocess.Popen], interval: float) -> dict[int, int]:
    """Wait for all, or for the first that fails: local rank -> exit code of those that failed."""
    while True:
        codes = [process.poll() for process in started]
        failures = {k: code for k, code in enumerate(codes) if code}
        if failures or None not in codes:
            return failures
        time.sleep(interval)


def _end(started: list[subprocess.Popen]) -> None:
    for process in started:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + GRACE
    for process in started:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _stop(number: int, frame: types.FrameType | None) -> None:
    raise SystemExit(128 + number)


def main(args: list[str] | None = None, python: list[str] | None = None) -> None:
    """The command; exits with 1 if a process failed.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
    ...     _ = file.write("import os; assert os.environ['WORLD_SIZE'] == '2'"), file.flush()
    ...     facula.dist.run.main(["--nproc-per-node", "2", file.name])
    """
    options = get_args_parser().parse_args(args)
    signal.signal(signal.SIGTERM, _stop)  # then the processes are ended too
    try:
        run(options, python)
    except (ChildFailedError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
