"""Calls that the flat functions do not finish themselves: odd operands, `out=`, interpreters, subclasses, refusals, NumPy's rows."""
