"""python -m facula.torch: run a program written for PyTorch, or list the names it uses."""

from __future__ import annotations

import argparse
import os
import runpy
import sys

from ._enable import enabled


def main(arguments: list[str] | None = None, prog: str = "python -m facula.torch") -> int:
    p = argparse.ArgumentParser(prog=prog, description="Run a program written for PyTorch on Facula, unchanged.")
    p.add_argument("--shadow", action="store_true", help="hide an installed PyTorch from the program")
    p.add_argument("--check", metavar="WHAT", help="run nothing: list the torch names that a file, a folder or an installed library uses")
    p.add_argument("--missing", action="store_true", help="with --check: only those that are not here")
    p.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    p.add_argument("script", nargs="?", metavar="SCRIPT")
    p.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="the program's own arguments")
    options = p.parse_args(sys.argv[1:] if arguments is None else arguments)
    if options.check is not None:
        from ._check import report

        return report(options.check, options.missing)
    if options.script is None:
        p.error("give a program, or --check WHAT")
    try:
        context = enabled(shadow=options.shadow)
        context.__enter__()
    except RuntimeError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    argv, path = sys.argv, sys.path[:]
    sys.argv = [options.script, *options.arguments]
    # What `python script.py` does: the program's folder comes first.
    sys.path[0:0] = [os.getcwd() if options.module else os.path.dirname(os.path.abspath(options.script))]
    try:
        if options.module:
            runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(options.script, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = argv, path
        context.__exit__(None, None, None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
