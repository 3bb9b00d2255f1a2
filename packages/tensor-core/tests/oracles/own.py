"""Rows with a kernel of their own."""

import numpy as np

from . import O

O("copy", lambda x: np.array(x), cases=lambda t: [(t(3, 4),), (t(),), (t(0, 3),)])
