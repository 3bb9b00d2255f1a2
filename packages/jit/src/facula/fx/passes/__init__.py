"""Walks over graphs that note something on every node."""
