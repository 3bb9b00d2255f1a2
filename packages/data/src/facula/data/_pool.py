"""The main process's end of the workers: starting, feeding, hearing of results and deaths, stopping."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler

from ._protocol import BATCH, RESUME, STOP
from ._worker import worker_main

STOP_SECONDS = 5.0  # how long a worker may take to finish its last batch before it is terminated


class Pool:
    def __init__(self, context, num_workers: int, *worker_args) -> None:
        context = context or multiprocessing.get_context()
        self.owner = os.getpid()
        self.processes, self.tasks, self.results = [], [], []
        try:
            for worker_id in range(num_workers):
                task_out, task_in = context.Pipe(duplex=False)
                result_out, result_in = context.Pipe(duplex=False)
                process = context.Process(
                    target=worker_main,
                    args=(task_out, result_in, *worker_args, worker_id, num_workers),
                    daemon=True,  # stopped with the main process even if nobody stops the pool
                )
                process.start()
                # Closed before the next fork, so that a pipe ends when its own worker does.
                task_out.close()
                result_in.close()
                self.processes.append(process)
                self.tasks.append(task_in)
                self.results.append(result_out)
        except BaseException:
            self.stop()
            raise

    def send(self, worker: int, task) -> None:
        try:
            self.tasks[worker].send(task)
        except OSError:
            pass  # the worker is dead: the next receive says so

    def receive(self, workers, timeout: float):
        """The next (worker, kind, number, payload) from one of `workers`; raises if one dies or time runs out."""
        connections = {self.results[w]: w for w in workers}
        deadline = time.monotonic() + timeout if timeout else None
        remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready = wait(list(connections), remaining)
        if not ready:
            raise RuntimeError(
                f"DataLoader timed out after {timeout} seconds. Raise timeout, or look for what blocks the dataset."
            )
        connection = ready[0]
        worker = connections[connection]
        try:
            kind, number, payload = ForkingPickler.loads(connection.recv_bytes())
        except (EOFError, ConnectionError) as error:
            raise RuntimeError(self._obituary(worker)) from error
        return worker, kind, number, payload

    def _obituary(self, worker: int) -> str:
        process = self.processes[worker]
        process.join(STOP_SECONDS)
        code = process.exitcode
        if code is None:
            how = "closed its pipe"
        elif code < 0:
            how = f"was killed by signal {signal.Signals(-code).name}"
        else:
            how = f"ended with exit code {code}"
        return (
            f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly: worker {worker} {how}. "
            "Look at its output; with num_workers=0 the same error shows its traceback."
        )

    def resume(self) -> None:
        """Starts a new pass: every worker makes a fresh iterator; results of the old pass are thrown away."""
        for worker in range(len(self.processes)):
            self.send(worker, RESUME)
        for worker in range(len(self.processes)):
            while self.receive([worker], 0)[1] != "ready":
                pass

    def dismiss(self, worker: int) -> None:
        """Lets one worker go that has nothing more to read."""
        self.send(worker, STOP)

    def stop(self) -> None:
        """Stops the workers. In a forked child, which inherits the pool and may collect it, nothing: they are not its."""
        if os.getpid() != self.owner:
            return
        for worker in range(len(self.processes)):
            self.dismiss(worker)
        # A worker may be blocked sending a batch that nobody wants: read on until its pipe ends.
        open_pipes, deadline = set(self.results), time.monotonic() + STOP_SECONDS
        while open_pipes and (left := deadline - time.monotonic()) > 0:
            for connection in wait(list(open_pipes), left):
                try:
                    connection.recv_bytes()
                except (EOFError, OSError):
                    open_pipes.discard(connection)
        for process, tasks, results in zip(self.processes, self.tasks, self.results):
            if open_pipes:
                process.terminate()
            process.join(STOP_SECONDS)
            tasks.close()
            results.close()
        self.processes, self.tasks, self.results = [], [], []


__all__ = ["BATCH", "Pool"]
