"""The command `facula`: train, info, torch."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

__all__ = ["main"]

# Imported only when asked for: `facula --version` should not build a network.
COMMANDS = {
    "train": "train a network on a data set, draw its learning curve and its mistakes",
    "info": "what is installed and what this machine offers",
    "torch": "run a program written for PyTorch on Facula",
}


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="facula", description="PyTorch's system in separately installable parts.")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, text in COMMANDS.items():
        # Everything after the command's name is the command's own (a program's options may look like ours).
        if not arguments or arguments[0] != name:
            commands.add_parser(name, help=text, add_help=False)
            continue
        if name == "torch":  # whose output is the program's own
            return importlib.import_module("facula.torch.__main__").main(arguments[1:], prog="facula torch")
        return _to_a_reader(name, arguments[1:])
    options = parser.parse_args(arguments)
    if options.version:
        import facula

        print(f"facula {facula.__version__}")
        return 0
    parser.print_help()
    return 2


GONE, INTERRUPTED = 141, 130  # what a shell says of a program that SIGPIPE or SIGINT ended


def _to_a_reader(name: str, arguments: list[str]) -> int:
    """The status of a command; GONE, without a word, where who read what it prints went away (`facula info | head -1`).

    What the system refuses, a folder or room on a disk, is one line and 1.
    """
    try:
        status = importlib.import_module(f"facula.cli.{name}").main(arguments, prog=f"facula {name}")
        if sys.stdout:  # None where it was closed before the command began
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        _drop_output()
        return GONE
    except OSError as error:
        print(f"facula {name}: {error}", file=sys.stderr)
        _drop_output()
        return 1
    except KeyboardInterrupt:
        print(f"facula {name}: interrupted", file=sys.stderr)
        return INTERRUPTED


def _drop_output() -> None:
    """What cannot be written any more goes nowhere, or Python itself complains when it flushes at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
