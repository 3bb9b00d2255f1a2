"""Linear algebra: what facula.linalg and the older names of `facula` offer, over rows (host) that csrc/cpu/linalg.c and NumPy's LAPACK compute."""
