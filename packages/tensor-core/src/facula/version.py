"""Facula's version, and the GPU toolkits it was built with: none."""

from facula import __version__

cuda = hip = xpu = rocm = None
debug = False
git_version = "unknown"

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]
