"""Where a script spends its time: python -m facula.utils.bottleneck script.py [its arguments]

Runs the script twice, once under cProfile (Python functions) and once under the profiler of facula.autograd (operations), and
prints both beside a summary of the machine. The script must end within reasonable time and should do the same each time.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import os
import platform
import pstats
import sys

import facula
from facula.autograd import profiler

__all__ = ["main", "run"]


def environment() -> str:
    """What the numbers below were measured with."""
    return "\n".join([
        f"facula {facula.__version__}, Python {platform.python_version()} ({platform.system()} {platform.machine()})",
        f"{os.cpu_count()} CPUs, {facula.get_num_threads()} threads in use, running with CPU only",
    ])  # fmt: skip


def executed(path, arguments, around) -> None:
    """Run the script as __main__ with its arguments, inside the context `around`."""
    with open(path, "rb") as f:
        code = compile(f.read(), path, "exec")
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    module = type(sys)("__main__")
    module.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.argv, sys.path[0:0], sys.modules["__main__"] = [path, *arguments], [os.path.dirname(os.path.abspath(path))], module
    try:
        with around:
            exec(code, module.__dict__)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = before


def run(path, arguments=(), rows=15) -> str:
    """The report on a script, as text.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
    ...     _ = file.write("import facula; facula.ones(2).exp()"), file.flush()
    ...     report = facula.utils.bottleneck.run(file.name)
    >>> "cProfile output" in report
    True
    """
    python = cProfile.Profile()
    executed(path, arguments, python)
    functions = io.StringIO()
    pstats.Stats(python, stream=functions).sort_stats("tottime").print_stats(rows)
    operations = profiler.profile()
    executed(path, arguments, operations)
    parts = [
        ("Environment Summary", environment()),
        ("cProfile output", functions.getvalue().strip()),
        (f"autograd profiler output: the {rows} operations that took longest altogether", operations.key_averages().table(sort_by="self_cpu_time_total", row_limit=rows)),
    ]
    return "\n".join(f"{'-' * 80}\n  {title}\n{'-' * 80}\n{text}" for title, text in parts)


def main(arguments=None) -> None:
    """The command line: a script and its arguments, of which the report is printed.

    >>> import contextlib, io, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".py") as file, contextlib.redirect_stdout(io.StringIO()) as report:
    ...     _ = file.write("import facula; facula.ones(2).exp()"), file.flush()
    ...     facula.utils.bottleneck.main([file.name])
    >>> "cProfile output" in report.getvalue()
    True
    """
    parser = argparse.ArgumentParser(prog="python -m facula.utils.bottleneck", description="Shows where a script spends its time.")
    parser.add_argument("--rows", type=int, default=15, help="lines of each table")
    parser.add_argument("script", help="the script to run")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    options = parser.parse_args(arguments)
    if not os.path.isfile(options.script):
        parser.error(f"{options.script} is not a file. Give the path of a Python script.")
    if options.rows < 1:
        parser.error(f"--rows must be at least 1, not {options.rows}.")
    print(run(options.script, options.args, options.rows))


if __name__ == "__main__":
    main()
