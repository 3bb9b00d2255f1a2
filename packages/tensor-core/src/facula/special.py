"""Special functions, as torch.special has them. Those that `facula` itself offers are the same objects."""

from facula.tensor_core import _ops
from facula.tensor_core.functions import order as _order, overloads as _overloads, pointwise as _pointwise, reductions as _reductions

digamma = psi = _ops.digamma
erf, erfc, erfinv, exp2, expm1, log1p, sinc = _ops.erf, _ops.erfc, _ops.erfinv, _ops.exp2, _ops.expm1, _ops.log1p, _ops.sinc
expit = _ops.sigmoid
gammaln, gammainc, gammaincc = _ops.lgamma, _ops.igamma, _ops.igammac
i0, modified_bessel_i0 = _ops.i0, _pointwise.unhalved("modified_bessel_i0", _ops.i0)
logit, polygamma = _pointwise.logit, _pointwise.polygamma
multigammaln = _pointwise.mvlgamma
logsumexp, softmax, log_softmax = _reductions.logsumexp, _order.softmax, _order.log_softmax
round = _overloads.round
xlogy = _pointwise.scalar_first(_ops.xlogy)

i0e, i1, i1e = _ops._special_i0e, _ops._special_i1, _ops._special_i1e
modified_bessel_i1 = _pointwise.unhalved("modified_bessel_i1", i1)
ndtr, ndtri, log_ndtr = _ops._special_ndtr, _ops._special_ndtri, _ops._special_log_ndtr
entr, erfcx = _ops._special_entr, _ops._special_erfcx
bessel_j0, bessel_j1 = _ops._special_bessel_j0, _ops._special_bessel_j1
bessel_y0, bessel_y1 = _ops._special_bessel_y0, _ops._special_bessel_y1
modified_bessel_k0, modified_bessel_k1 = _ops._special_modified_bessel_k0, _ops._special_modified_bessel_k1
scaled_modified_bessel_k0 = _ops._special_scaled_modified_bessel_k0
scaled_modified_bessel_k1 = _ops._special_scaled_modified_bessel_k1
spherical_bessel_j0, airy_ai = _ops._special_spherical_bessel_j0, _ops._special_airy_ai

xlog1py = _pointwise.scalar_first(_ops._special_xlog1py)
zeta = _pointwise.scalar_first(_ops._special_zeta)
chebyshev_polynomial_t = _pointwise.scalar_first(_ops._special_chebyshev_polynomial_t)
chebyshev_polynomial_u = _pointwise.scalar_first(_ops._special_chebyshev_polynomial_u)
chebyshev_polynomial_v = _pointwise.scalar_first(_ops._special_chebyshev_polynomial_v)
chebyshev_polynomial_w = _pointwise.scalar_first(_ops._special_chebyshev_polynomial_w)
shifted_chebyshev_polynomial_t = _pointwise.scalar_first(_ops._special_shifted_chebyshev_polynomial_t)
shifted_chebyshev_polynomial_u = _pointwise.scalar_first(_ops._special_shifted_chebyshev_polynomial_u)
shifted_chebyshev_polynomial_v = _pointwise.scalar_first(_ops._special_shifted_chebyshev_polynomial_v)
shifted_chebyshev_polynomial_w = _pointwise.scalar_first(_ops._special_shifted_chebyshev_polynomial_w)
hermite_polynomial_h = _pointwise.scalar_first(_ops._special_hermite_polynomial_h)
hermite_polynomial_he = _pointwise.scalar_first(_ops._special_hermite_polynomial_he)
laguerre_polynomial_l = _pointwise.scalar_first(_ops._special_laguerre_polynomial_l)
legendre_polynomial_p = _pointwise.scalar_first(_ops._special_legendre_polynomial_p)

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
    "chebyshev_polynomial_w", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln",
    "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e", "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr",
    "log_softmax", "logit", "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "multigammaln",
    "ndtr", "ndtri", "polygamma", "psi", "round", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0",
    "xlog1py", "xlogy", "zeta",
]  # fmt: skip
