"""Linear algebra: what facula.linalg and the older names of `facula` offer, over rows that NumPy computes (host)."""
