"""Points that fill a cube more evenly than random ones: Sobol sequences, with PyTorch's numbers.

>>> from facula.quasirandom import SobolEngine
>>> SobolEngine(2).draw(4)
tensor([[0.0000, 0.0000],
        [0.5000, 0.5000],
        [0.7500, 0.2500],
        [0.2500, 0.7500]])
"""

import numpy

import facula
from facula.tensor_core.random import joe_kuo as _joe_kuo

__all__ = ["SobolEngine"]


class SobolEngine:
    """The Sobol sequence in [0, 1)**dimension; scrambled, it is another one for each seed.

    dimension: 1 to MAXDIM. scramble: Owen's scrambling by random lower triangular matrices and a shift, drawn from a generator of
    this seed, or from the default one. Raises ValueError for other dimensions.

    Source of the direction numbers: tensor_core/random/joe_kuo.py. Of scrambling: Matousek, On the L2-discrepancy for anchored boxes (1998), J. Complexity 14.

    >>> facula.quasirandom.SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = _joe_kuo.MAXBIT
    MAXDIM = _joe_kuo.MAXDIM

    def __init__(self, dimension, scramble=False, seed=None):
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"SobolEngine: {dimension} dimensions. Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}].")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.sobolstate = facula.from_numpy(_joe_kuo.direction_numbers(dimension))
        if scramble:
            self._scramble()
        else:
            self.shift = facula.zeros(dimension, dtype=facula.int64)
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self):
        generator = None if self.seed is None else facula.Generator().manual_seed(self.seed)
        weights = 2 ** numpy.arange(self.MAXBIT)
        shift = facula.randint(2, (self.dimension, self.MAXBIT), generator=generator)
        self.shift = facula.from_numpy(shift.numpy() @ weights)
        matrices = facula.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator).tril().numpy()
        matrices[:, range(self.MAXBIT), range(self.MAXBIT)] = 1
        bits = self.sobolstate.numpy()[:, :, None] >> numpy.arange(self.MAXBIT - 1, -1, -1) & 1  # highest first, as in the matrices' columns
        self.sobolstate = facula.from_numpy((bits @ matrices.transpose(0, 2, 1) & 1) @ weights[::-1])

    def draw(self, n=1, out=None, dtype=None):
        """The next n points: (n, dimension), of dtype or the default one; into `out`, which is resized.

        >>> SobolEngine(1).draw(3).T
        tensor([[0.0000, 0.5000, 0.7500]])
        """
        dtype = facula.get_default_dtype() if dtype is None else dtype
        first = self.num_generated == 0
        rest = self._steps(n - first)
        points = (facula.from_numpy(rest).to(dtype) * 2.0**-self.MAXBIT) if len(rest) else facula.empty(0, self.dimension, dtype=dtype)
        result = facula.cat((self._first_point.to(dtype), points)) if first else points
        self.num_generated += n
        return result if out is None else out.resize_(result.shape).copy_(result)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2**m points. Raises ValueError where the points drawn so far and these are not a power of two: the sequence is balanced there alone."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"SobolEngine: The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been previously "
                f"generated, then: n={self.num_generated}+2**{m}={total}. Draw with draw(n) instead, or call reset()."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Start again at the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leave out n points."""
        self._steps(n - (self.num_generated == 0))
        self.num_generated += n
        return self

    def _steps(self, n):
        """The next n states, the last of which is kept. Each is the one before, with the numbers of one bit added: Gray's order."""
        if n <= 0:
            return numpy.empty((0, self.dimension), numpy.int64)
        number = numpy.arange(n) + max(self.num_generated - 1, 0)
        lowest_zero = numpy.log2((~number & (number + 1)).astype(float)).astype(int)
        added = self.sobolstate.numpy().T[lowest_zero]
        added[0] ^= self.quasi.numpy()
        states = numpy.bitwise_xor.accumulate(added, axis=0)
        self.quasi = facula.from_numpy(states[-1].copy())
        return states

    def __repr__(self):
        said = [f"dimension={self.dimension}"] + (["scramble=True"] if self.scramble else []) + ([f"seed={self.seed}"] if self.seed is not None else [])
        return f"{type(self).__name__}({', '.join(said)})"
