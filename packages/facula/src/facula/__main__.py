"""python -m facula: the command line."""

import sys

from facula.cli import main

if __name__ == "__main__":
    sys.exit(main())
