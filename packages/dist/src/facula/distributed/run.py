"""facula.dist.run under PyTorch's name."""

from facula.dist.run import ChildFailedError, get_args_parser, main, run

__all__ = ["ChildFailedError", "get_args_parser", "main", "run"]

if __name__ == "__main__":
    main()
