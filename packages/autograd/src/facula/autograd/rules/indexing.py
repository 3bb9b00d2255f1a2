"""Derivatives of reads and writes through index tensors."""

import facula as F

from .._table import D
from ._tools import scaled, zeros

D("gather",       x=lambda g, x_shape, dim, index: F.scatter_add(zeros(x_shape, g), dim, index, g))
D("index_select", x=lambda g, x_shape, dim, index: F.index_add(zeros(x_shape, g), dim, index, g))
D("scatter",      x=lambda g, dim, index: F.scatter(g, dim, index, zeros(index.shape, g)),
                  z=lambda g, dim, index: F.gather(g, dim, index))
D("scatter_add",  x=lambda g: g,    z=lambda g, dim, index: F.gather(g, dim, index))
D("index_add",    x=lambda g: g,    z=lambda g, dim, index: F.index_select(g, dim, index))
D("index_copy",   x=lambda g, dim, index: F.index_fill(g, dim, index, 0),    z=lambda g, dim, index: F.index_select(g, dim, index))
D("flip",         x=lambda g, dims: F.flip(g, dims))

_ = scaled
