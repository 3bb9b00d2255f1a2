"""The command `facula`: train, info, torch."""

from __future__ import annotations

import argparse
import importlib
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
        module = importlib.import_module("facula.torch.__main__" if name == "torch" else f"facula.cli.{name}")
        return module.main(arguments[1:], prog=f"facula {name}")
    options = parser.parse_args(arguments)
    if options.version:
        import facula

        print(f"facula {facula.__version__}")
        return 0
    parser.print_help()
    return 2
