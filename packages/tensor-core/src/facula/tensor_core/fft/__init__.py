"""Fourier transforms: the names that `facula` itself offers, and the rows that NumPy computes (host)."""
