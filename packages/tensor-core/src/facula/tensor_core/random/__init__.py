"""Random streams: generators, the functions that draw, fills in place, and directions of Sobol sequences."""
