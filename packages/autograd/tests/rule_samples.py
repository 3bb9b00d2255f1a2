"""Sample arguments for the derivative of each row, in the order of its signature, float tensors in float64."""

from backend import torch
from facula.tensor_core import extend
from rule_samples_linalg import SAMPLES as LINALG

F64, C128 = torch.float64, torch.complex128


def normal(*shape):
    return torch.randn(*shape, dtype=F64) if shape else torch.randn((), dtype=F64)


def away(*shape, low=0.3):
    """Away from 0, where kinks are, in both signs."""
    x = normal(*shape)
    return x.sign() * (x.abs() + low)


def positive(*shape):
    return normal(*shape).abs() + 0.5


def probability(*shape):
    return normal(*shape).sigmoid()


def inside(*shape):
    """In (-1, 1)."""
    return normal(*shape).tanh() * 0.8


def between(*shape):
    """Not near an integer or a half."""
    return normal(*shape).round() + 0.2 + 0.1 * inside(*shape)


def complex_(*shape):
    return torch.randn(shape, dtype=C128)


def distinct(*shape):
    """Elements at least 0.1 apart, shuffled."""
    n = 1
    for s in shape:
        n *= s
    return (torch.randperm(n).to(F64) * 0.1 - 0.55).reshape(shape)


def index(high, *shape):
    return torch.randint(0, high, shape)


LAYOUTS = {
    "contiguous": lambda a: a.clone(),
    "transposed": lambda a: a.transpose(0, -1).contiguous().transpose(0, -1) if a.ndim > 1 else a.clone(),
    "sliced": lambda a: sliced(a),
}


def sliced(a):
    """The same values at every second place of a larger tensor."""
    if a.ndim == 0:
        return a.clone()
    wide = torch.zeros((*a.shape[:-1], 2 * a.shape[-1] + 1), dtype=a.dtype)
    wide[..., 1::2] = a
    return wide[..., 1::2].detach()


def unary(make, *others):
    return [lambda: (make(3, 4),), lambda: (make(),), lambda: (make(0, 3),), *[(lambda m=m: (m(3, 4),)) for m in others]]


def binary(first, second, *others, extra=(), numbers=True):
    found = [
        lambda: (first(3, 4), second(3, 4), *extra),
        lambda: (first(3, 4), second(4), *extra),
        lambda: (first(3, 1), second(2, 1, 4), *extra),
        lambda: (first(), second(3), *extra),
    ]
    if numbers:
        found.append(lambda: (first(3, 4), 2.5, *extra))
    return found + [(lambda m=m: (m(3, 4), m(4), *extra)) for m in others]


def folds(make, dims=(None, 0, (0, -1), 1), extra=lambda dim, keepdim: (dim, keepdim), shape=(3, 4, 2)):
    found = [lambda: (make(2, 3), *extra(dims[-1], False))]
    for dim in dims:
        for keepdim in (False, True):
            found.append(lambda d=dim, k=keepdim: (make(*shape), *extra(d, k)))
    return found


def with_zero(*shape):
    x = away(*shape)
    x.view(-1)[1] = 0.0
    return x


SAMPLES = {
    # arithmetic
    "add": binary(normal, normal, complex_, extra=(1,)) + [lambda: (normal(3), normal(3), 2.5)],
    "sub": binary(normal, normal, complex_, extra=(1,)) + [lambda: (normal(3), normal(3), 2.5)],
    "rsub": binary(normal, normal, complex_, extra=(1,)) + [lambda: (normal(3), normal(3), 2.5)],
    "mul": binary(normal, normal, complex_) + [lambda: (normal(3), complex_(3)), lambda: (normal(3), 2j), lambda: (2.0, normal(3))],
    "div": binary(normal, away, complex_) + [lambda: (normal(3), complex_(3)), lambda: (2.0, away(3))],
    "fmod": [lambda: (between(3, 4), 1.0 + positive(3, 4)), lambda: (away(3), 2.5)],
    "remainder": [lambda: (between(3, 4), 1.0 + positive(3, 4)), lambda: (away(3), 2.5)],
    "pow": binary(positive, normal) + [lambda: (normal(3), 2), lambda: (normal(3), 3), lambda: (normal(3), 0), lambda: (2.5, normal(3)), lambda: (complex_(3), 3)],
    "_renorm_factor": [lambda: (positive(3, 4), 0.7)],
    "_addr": [lambda: (normal(3, 4), normal(3, 1), normal(4), 1, 1), lambda: (normal(3, 4), normal(3, 1), normal(4), 2, 0.5)],
    "addcmul": [lambda: (normal(3, 4), normal(4), normal(3, 1), 1), lambda: (normal(3), normal(3), normal(3), 2.5)],
    "addcdiv": [lambda: (normal(3, 4), normal(4), away(3, 1), 1), lambda: (normal(3), normal(3), away(3), 2.5)],
    "lerp": [lambda: (normal(3, 4), normal(4), normal(3, 1)), lambda: (complex_(3), complex_(3), complex_(3)), lambda: (normal(3), normal(3), 0.3)],
    "neg": unary(normal, complex_),
    "abs": unary(away, complex_),
    "square": unary(normal, complex_),
    "reciprocal": unary(away, complex_),
    "sign": unary(away),
    "sgn": unary(away, complex_),
    # choice
    "clamp_tensor": [lambda: (distinct(3, 4), normal(4) * 0.1 - 0.27, normal(4) * 0.1 + 0.32)],
    "clamp_numbers": [lambda: (distinct(3, 4), -0.22, 0.33), lambda: (distinct(12), 0.02, -0.3)],
    "clamp_min": [lambda: (distinct(3, 4), distinct(3, 4) + 0.03), lambda: (distinct(3, 4), 0.02)],
    "clamp_max": [lambda: (distinct(3, 4), distinct(3, 4) + 0.03), lambda: (distinct(3, 4), 0.02)],
    "relu": unary(away),
    "where_rows": [lambda: (normal(3, 4) > 0, normal(3, 4), normal(4)), lambda: (normal(3) > 0, complex_(3), complex_(3))],
    # exponentials, logarithms
    "exp": unary(normal, complex_),
    "expm1": unary(normal, complex_),
    "log": unary(positive, complex_),
    "log1p": unary(positive, complex_),
    "log2": unary(positive, complex_),
    "log10": unary(positive, complex_),
    "sqrt": unary(positive, complex_),
    "rsqrt": unary(positive, complex_),
    # circular, special
    "sin": unary(normal, complex_),
    "cos": unary(normal, complex_),
    "tan": unary(inside),
    "tanh": unary(normal, complex_),
    "sinc": unary(away, complex_),
    "exp2": unary(normal, complex_),
    "asin": unary(inside, complex_),
    "acos": unary(inside, complex_),
    "atan": unary(normal, complex_),
    "sinh": unary(normal, complex_),
    "cosh": unary(normal, complex_),
    "asinh": unary(normal, complex_),
    "acosh": unary(lambda *s: positive(*s) + 1, complex_),
    "atanh": unary(inside, complex_),
    "atan2": binary(away, away, numbers=False),
    "hypot": binary(away, away, numbers=False),
    "copysign": binary(away, away),
    "_ldexp": [lambda: (normal(3, 4), normal(3, 4).round() + 0.5), lambda: (normal(3, 4), normal(4).round() + 0.5)],  # it cuts the half
    "nextafter": [lambda: (normal(3, 4), normal(3, 4)), lambda: (normal(3, 4), normal(4))],
    "frac": unary(between),
    "conj_physical": unary(normal, complex_),
    "_angle": unary(away, complex_),
    "_nan_to_num": [lambda: (normal(3, 4), 0.0, 1.0, -1.0)],
    "_frexp_mantissa": unary(lambda *s: 1.2 + 0.5 * inside(*s).abs()),
    "_frexp_exponent": unary(lambda *s: 1.2 + 0.5 * inside(*s).abs()),
    # special functions
    "erfinv": unary(inside),
    "lgamma": unary(positive),
    "digamma": unary(positive),
    "_polygamma": [lambda: (positive(3, 4), 1), lambda: (positive(3), 2)],
    "igamma": [lambda: (index(4, 3) + 1, positive(3)), lambda: (index(4, 3, 4) + 2, positive(4) * 3)],
    "igammac": [lambda: (index(4, 3) + 1, positive(3)), lambda: (index(4, 3, 4) + 2, positive(4) * 3)],
    "_logit": unary(lambda *s: 0.5 + 0.4 * inside(*s)),
    "xlogy": binary(normal, positive),
    "_special_xlog1py": binary(normal, positive),
    "_special_zeta": [lambda: (index(3, 3, 4) + 2, positive(3, 4))],
    "_special_ndtri": unary(lambda *s: 0.5 + 0.4 * inside(*s)),
    "_special_entr": unary(positive),
    **{f"_special_{name}": unary(away) for name in ("i0e", "i1", "i1e", "bessel_j0", "bessel_j1", "spherical_bessel_j0")},
    **{f"_special_{name}": unary(positive) for name in ("bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1")},
    **{f"_special_{name}": unary(positive) for name in ("scaled_modified_bessel_k0", "scaled_modified_bessel_k1")},
    # activations
    **{name: unary(away) for name in ("_silu", "_mish", "_gelu", "_gelu_tanh", "_log_sigmoid", "_softsign", "_tanhshrink", "celu", "selu")},
    "_softplus": [lambda: (normal(3, 4), 1, 20), lambda: (normal(3), 2.5, 1)],
    "_elu": [lambda: (away(3, 4), 1, 1, 1), lambda: (away(3), 0.7, 1.1, 0.5)],
    "_leaky_relu": [lambda: (away(3, 4), 0.01), lambda: (away(3), 0.3)],
    "_prelu": binary(away, normal, numbers=False),
    "_hardtanh": [lambda: (distinct(3, 4), -0.22, 0.33)],
    "_hardsigmoid": unary(away),
    "_hardswish": unary(away),
    "_softshrink": [lambda: (distinct(3, 4), 0.22)],
    "_mse": binary(normal, normal, numbers=False),
    "_smooth_l1": [lambda: (distinct(3, 4), 0 * normal(3, 4), 0.97), lambda: (distinct(3, 4), 0 * normal(4), 0.4)],
    "_huber": [lambda: (distinct(3, 4), 0 * normal(3, 4), 0.97), lambda: (distinct(3, 4), 0 * normal(4), 0.4)],
    "_soft_margin": binary(normal, normal, numbers=False),
    "_logits_cross_entropy": binary(normal, normal, numbers=False),
    "_weighted_logits_cross_entropy": [lambda: (normal(3, 4), normal(3, 4), normal(4))],
    "hardshrink": [lambda: (distinct(3, 4), 0.22)],
    "threshold": [lambda: (distinct(3, 4), 0.02, 0.5)],
    "_binary_cross_entropy": binary(probability, probability, numbers=False),
    # steps
    **{name: unary(between) for name in ("floor", "ceil", "round", "trunc")},
    "_floor_quotient": [lambda: (between(3, 4), 1.0 + positive(3, 4))],
    "trunc_divide": [lambda: (between(3, 4), 1.0 + positive(3, 4))],
    # folds
    "sum": folds(normal) + [lambda: (complex_(3, 2), 0, False), lambda: (normal(),)],
    "nansum": folds(normal),
    "mean": folds(normal) + [lambda: (normal(),)],
    "prod": folds(away, (None, 0, 1)) + folds(with_zero, (None, 0, 1)),
    "amax": folds(distinct, dims=((), 0, (0, -1), 1)),
    "amin": folds(distinct, dims=((), 0, (0, -1), 1)),
    "_aminmax": folds(distinct, dims=(None, 0, -1)),
    "max_index": folds(distinct, dims=(0, -1, 1)),
    "min_index": folds(distinct, dims=(0, -1, 1)),
    "logsumexp": folds(normal, dims=(0, (0, -1), 1)),
    "var": folds(normal, extra=lambda d, k: (d, 1, k)) + [lambda: (normal(4), None, 0, False), lambda: (normal(4), None, 0.5, False)],
    "std": folds(normal, extra=lambda d, k: (d, 1, k)),
    "norm_p": [
        (lambda p=p, d=d, k=k: (away(3, 4), d, p, k)) for p in (2, 1, 3, 0.5, float("inf")) for d in (None, 0, (0, 1)) for k in (False, True)
    ],
    "cumsum": [lambda: (normal(3, 4), 0), lambda: (normal(3, 4), -1), lambda: (complex_(3), 0), lambda: (normal(), 0)],
    "cumprod": [lambda: (away(3, 4), 0), lambda: (away(3, 4), -1), lambda: (with_zero(3, 2), 1), lambda: (complex_(3), 0)],
    "cummax": [lambda: (distinct(3, 4), 0), lambda: (distinct(3, 4), -1)],
    "cummin": [lambda: (distinct(3, 4), 0), lambda: (distinct(3, 4), -1)],
    "logcumsumexp": [lambda: (normal(3, 4), 0), lambda: (normal(3, 4), -1)],
    # products
    "matmul": [
        lambda: (normal(3, 4), normal(4, 5)), lambda: (normal(4), normal(4)), lambda: (normal(4), normal(4, 3)), lambda: (normal(3, 4), normal(4)),
        lambda: (normal(2, 3, 4), normal(4, 5)), lambda: (normal(3, 4), normal(2, 4, 5)), lambda: (normal(2, 1, 3, 4), normal(5, 4, 2)),
        lambda: (normal(2, 3, 4), normal(4)), lambda: (normal(4), normal(2, 4, 3)), lambda: (complex_(3, 2), complex_(2, 3)),
    ],
    "linear": [
        lambda: (normal(3, 4), normal(5, 4), normal(5)), lambda: (normal(3, 4), normal(5, 4), None), lambda: (normal(4), normal(5, 4), normal(5)),
        lambda: (normal(2, 3, 4), normal(5, 4), normal(5)), lambda: (normal(3, 4), normal(4), None),
    ],
    "_plus_product": [
        lambda: (normal(3, 5), normal(3, 4), normal(4, 5), 0.5, 2.0, False), lambda: (normal(5), normal(3, 4), normal(4, 5), 1.0, 1.0, False), lambda: (normal(3), normal(3, 4), normal(4), 2.0, -1.0, False),
        lambda: (normal(2, 1, 5), normal(2, 3, 4), normal(2, 4, 5), 0.5, 2.0, False), lambda: (normal(3, 5), normal(2, 3, 4), normal(2, 4, 5), 0.5, 2.0, True), lambda: (complex_(3, 2), complex_(3, 2), complex_(2, 2), 0.5, 2.0, False),
    ],
    # indexing
    **{name: [lambda: (normal(4, 5), 0, index(4, 3, 5)), lambda: (normal(4, 5), -1, index(5, 2, 7)), lambda: (normal(4), 0, index(4, 6))] for name in ("gather", "_gather_sparse_grad")},
    "index_select": [lambda: (normal(4, 5), 0, index(4, 7)), lambda: (normal(4, 5), -1, index(5, 2))],
    "scatter": [lambda: (normal(4, 5), 0, torch.randperm(4).reshape(4, 1).expand(4, 5).contiguous(), normal(4, 5)), lambda: (normal(4), 0, torch.randperm(4)[:2], normal(3))],
    "scatter_add": [lambda: (normal(4, 5), 0, index(4, 3, 5), normal(3, 5)), lambda: (normal(4), 0, index(4, 6), normal(6))],
    "_triangle": [lambda: (normal(3, 4), 0, False), lambda: (normal(2, 4, 3), -1, True)],
    **{name: [lambda: (normal(4, 5), 0, index(4, 3, 5), normal(3, 5)), lambda: (normal(4), 0, index(4, 6), normal(6))] for name in ("_scatter_prod", "_scatter_max", "_scatter_min")},
    "index_add": [lambda: (normal(4, 5), 0, index(4, 7), normal(7, 5)), lambda: (normal(4, 5), -1, index(5, 2), normal(4, 2))],
    "index_copy": [lambda: (normal(4, 5), 0, torch.randperm(4)[:2], normal(2, 5))],
    "index": [
        lambda: (normal(4, 5), [index(4, 7)], 1), lambda: (normal(4, 5), [index(5, 2)], 2), lambda: (normal(4, 5), [index(4, 3), index(5, 3)], 3),
        lambda: (normal(4, 5, 2), [index(4, 3, 1), index(2, 2)], 5),
    ],
    "index_put_rows_": [
        lambda: (normal(4, 5), [torch.randperm(4)[:2]], normal(2, 5), 1, False), lambda: (normal(4, 5), [index(4, 7)], normal(7, 5), 1, True),
        lambda: (normal(4, 5), [index(4, 3), index(5, 3)], normal(1), 3, True), lambda: (normal(4, 5), [torch.randperm(5)[:2]], normal(4, 1), 2, False),
    ],
    # views
    "view": [lambda: (normal(2, 6), (3, 4))],
    "alias": unary(normal),
    "expand": [lambda: (normal(3, 1), (2, 3, 4)), lambda: (normal(3), (2, -1))],
    "permute": [lambda: (normal(2, 3, 4), (2, 0, 1)), lambda: (normal(2, 3), (-1, 0))],
    "transpose": [lambda: (normal(2, 3, 4), 0, -1)],
    "select": [lambda: (normal(3, 4), 1, 2), lambda: (normal(3, 4), 0, -1)],
    "slice": [lambda: (normal(3, 6), 1, 1, 2, 3), lambda: (normal(3, 6), 0, 0, 2, 1)],
    "unsqueeze": [lambda: (normal(3, 4), 1), lambda: (normal(3), -1)],
    "squeeze": [lambda: (normal(3, 1, 4), (1,)), lambda: (normal(3, 1), (0,))],
    "diagonal": [lambda: (normal(3, 4), 0, 0, 1), lambda: (normal(3, 4, 2), -1, 1, 0)],
    "unfold": [lambda: (normal(7), 0, 3, 2), lambda: (normal(2, 6), 1, 2, 2)],
    "as_strided": [lambda: (normal(12), (2, 3), (4, 1), 1), lambda: (normal(6), (3, 2), (1, 1), None)],
    "_conj": [lambda: (complex_(3, 4),), lambda: (complex_(),)],
    "_neg_view": unary(normal, complex_),
    "real_view": [lambda: (complex_(3),), lambda: (complex_(2, 3),)],
    "complex_view": [lambda: (normal(3, 2),)],
    # windows
    "convolution": [
        lambda: (normal(2, 4, 5, 6), normal(6, 2, 3, 2), normal(6), (1, 2, 1), (0, 1, 0), (1, 1, 2), False, (0, 0, 0), 2),
        lambda: (normal(2, 4, 5, 6), normal(4, 3, 3, 2), normal(6), (1, 2, 1), (0, 1, 0), (1, 1, 2), True, (0, 1, 0), 2),
        lambda: (normal(1, 3, 7), normal(3, 1, 3), None, (1, 1, 2), (0, 0, 1), (1, 1, 1), False, (0, 0, 0), 3),
    ],
    "convolution_grad_input": [
        lambda: (normal(2, 4, 3, 2), normal(4, 2, 3, 2), (1, 6, 3), (1, 2, 1), (0, 1, 0), (1, 1, 1), False, 1),
        lambda: (normal(2, 2, 6, 3), normal(4, 2, 3, 2), (1, 3, 2), (1, 2, 1), (0, 1, 0), (1, 1, 1), True, 1),
    ],
    "convolution_grad_weight": [
        lambda: (normal(2, 4, 3, 2), normal(2, 2, 6, 3), (1, 3, 2), (1, 2, 1), (0, 1, 0), (1, 1, 1), False, 1),
        lambda: (normal(2, 2, 6, 3), normal(2, 4, 3, 2), (1, 3, 2), (1, 2, 1), (0, 1, 0), (1, 1, 1), True, 1),
    ],
    "max_pool": [lambda: (distinct(2, 2, 5, 6), (1, 3, 2), (1, 2, 1), (0, 1, 0), (1, 1, 2), False)],
    "max_pool_grad": [lambda: (normal(2, 2, 3), index(7, 2, 2, 3), (1, 1, 7))],
    "avg_pool": [lambda: (normal(2, 2, 5, 6), (1, 3, 2), (1, 2, 2), (0, 1, 0), True, False, 0), lambda: (normal(1, 2, 5), (1, 1, 3), (1, 1, 1), (0, 0, 1), False, True, 2)],
    "avg_pool_grad": [lambda: (normal(2, 2, 3, 3), (1, 5, 6), (1, 3, 2), (1, 2, 2), (0, 1, 0), True, False, 0)],
    "_max_pool_values": [lambda: (distinct(2, 2, 5, 6), (1, 3, 2), (1, 2, 1), (0, 1, 0), (1, 1, 2), False)],
    "adaptive_max_pool": [lambda: (distinct(2, 2, 5, 6), (1, 3, 2))],
    "adaptive_avg_pool": [lambda: (normal(2, 2, 5, 6), (1, 3, 4))],
    "adaptive_avg_pool_grad": [lambda: (normal(2, 2, 3, 4), (1, 5, 6))],
    "_im2col": [lambda: (normal(2, 2, 5, 6), (3, 2), (1, 2), (1, 0), (2, 1))],
    "_col2im": [lambda: (normal(2, 12, 12), (5, 6), (3, 2), (1, 2), (1, 0), (2, 1))],
    # copies
    "copy": [lambda: (normal(3, 4), None, 1), lambda: (normal(3, 4), C128, 1)],
    "cat": [lambda: ([normal(2, 3), normal(4, 3)], 0), lambda: ([normal(2, 3), normal(2, 1), normal(2, 2)], -1)],
    "_cat_flat": [lambda: ([normal(2, 3), normal(), normal(4)],)],
    "stack": [lambda: ([normal(2, 3), normal(2, 3)], 0), lambda: ([normal(2, 3), normal(2, 3), normal(2, 3)], -1), lambda: ([normal(), normal()], 0)],
    "flip": [lambda: (normal(3, 4), (0,)), lambda: (normal(2, 3, 4), (0, -1)), lambda: (normal(4), ())],
    "_roll": [lambda: (normal(3, 4), 1, 0), lambda: (normal(3, 4), -6, -1)],
    "constant_pad_nd": [lambda: (normal(3, 4), (1, 2), 0.5), lambda: (normal(3, 4), (-1, 2, 1, -2), 0.0), lambda: (normal(2, 3, 4), (0, 0, 2, 0), 1.0)],
    "_pad_around": [lambda m=m: (normal(2, 4, 5), (2, 1, -1, 2), m) for m in (0, 1, 2)] + [lambda: (normal(3, 4), (2, 0), 0)],
    "_pad_around_backward": [lambda m=m: (normal(2, 6, 8), (2, 1, -1, 2), m) for m in (0, 1, 2)] + [lambda: (normal(3, 6), (2, 0), 0)],
    "_regroup": [lambda: (normal(8, 2, 3), (2, 2, 2, 2, 3), (0, 3, 1, 4, 2), (2, 4, 6)), lambda: (normal(4), (2, 2), (1, 0), (4,))],
    "diag_embed": [lambda: (normal(4), 0, -2, -1), lambda: (normal(2, 3), 1, 0, 2), lambda: (normal(2, 3), -2, -1, 0)],
    "masked_scatter": [lambda: (normal(3, 4), torch.arange(12).reshape(3, 4) % 3 == 0, normal(5)), lambda: (normal(4), torch.arange(4) > 1, normal(2, 2))],
    "polar": [lambda: (positive(3, 4), normal(3, 4)), lambda: (positive(), normal())],
    # kernels of their own
    "softmax": [lambda: (normal(3, 4), 1), lambda: (normal(3, 4, 2), 1), lambda: (normal(4), 0)],
    "log_softmax": [lambda: (normal(3, 4), 1), lambda: (normal(3, 4, 2), 1), lambda: (normal(4), 0)],
    "_cross_entropy": [
        lambda: (normal(3, 4), index(4, 3), None, 1, -100, 0.0), lambda: (normal(3, 4), index(4, 3), None, 0, 1, 0.1),
        lambda: (normal(2, 4, 3), index(4, 2, 3), None, 2, -100, 0.0), lambda: (normal(4), index(4), None, 1, -100, 0.2),
    ],
    "_nll_loss": [lambda: (normal(3, 4), index(4, 3), None, 1, -100), lambda: (normal(2, 4, 3), index(4, 2, 3), None, 0, 1)],
    "_multi_margin": [lambda: (normal(3, 4), index(4, 3), None, 1, 1.0), lambda: (normal(3, 4), index(4, 3), None, 2, 0.7)],
    "_multilabel_margin": [lambda: (normal(3, 4), index(4, 3, 4) - 1)],
    "_attention": [
        lambda: (normal(2, 2, 3, 4), normal(2, 2, 5, 4), normal(2, 2, 5, 3), None, None, False, 0.5, 1.0),
        lambda: (normal(1, 4, 6, 2), normal(1, 2, 5, 2), normal(1, 2, 5, 3), None, (torch.arange(120) % 3 > 0).reshape(1, 4, 6, 5), True, 0.5, 1.5),
        lambda: (normal(2, 2, 3, 2), normal(2, 1, 4, 2), normal(2, 1, 4, 3), torch.tensor([[[[True, False, True, False]]] * 2]).transpose(1, 0), None, False, 0.5, 1.0),
    ],
    "_rnn": [
        lambda: (normal(5, 3), normal(2, 3), None, normal(3, 3), normal(3), None, torch.tensor([2, 2, 1]), 0, False),
        lambda: (normal(5, 8), normal(2, 3), normal(2, 2), normal(8, 3), None, normal(3, 2), torch.tensor([2, 2, 1]), 2, True),
        lambda: (normal(5, 9), normal(2, 3), None, normal(9, 3), normal(9), None, torch.tensor([2, 2, 1]), 3, False),
    ],
    "_ctc_loss": [lambda: (normal(5, 2, 3), torch.tensor([[1, 2], [2, 0]]), torch.tensor([5, 4]), torch.tensor([2, 1]), 0, False)],
    "_resample": [lambda: (normal(2, 4, 3), torch.tensor([[0, 1], [3, -1], [2, 2]]), normal(3, 2), 1)],
    "_resample_backward": [lambda: (normal(2, 3, 3), torch.tensor([[0, 1], [3, -1], [2, 2]]), normal(3, 2), 4, 1)],
    "_affine_grid": [lambda: (normal(2, 2, 3), (3, 4), True), lambda: (normal(2, 3, 4), (2, 1, 3), False)],
    "_grid_sample": [
        lambda: (normal(1, 2, 3, 4), normal(1, 2, 3, 2) * 0.6, 0, 0, False), lambda: (normal(1, 2, 3, 4), normal(1, 2, 3, 2) * 0.6, 2, 2, True),
        lambda: (normal(1, 1, 2, 3, 4), normal(1, 1, 2, 3, 3) * 0.6, 0, 1, True),
    ],
    "_layer_norm": [
        lambda: (normal(3, 5), normal(5), normal(5), 1, 1e-3), lambda: (normal(2, 3, 4), None, None, 2, 1e-3),
        lambda: (normal(3, 5), None, normal(5), 1, 1e-3), lambda: (normal(5), normal(5), normal(5), 1, 1e-3),
    ],
    "_rms_norm": [lambda: (normal(3, 5), normal(5), 1, 1e-3), lambda: (normal(2, 3, 4), None, 2, 1e-3), lambda: (normal(5), normal(5), 1, 1e-3)],
    "_batch_norm_train": [lambda: (normal(4, 3), normal(3), normal(3), 1e-3), lambda: (normal(2, 3, 4), None, None, 1e-3)],
    "_batch_norm_eval": [
        lambda: (normal(4, 3), normal(3), positive(3), normal(3), normal(3), 1e-3), lambda: (normal(2, 3, 4), normal(3), positive(3), None, None, 1e-3),
    ],
    "_group_norm": [lambda: (normal(2, 4, 3), normal(4), normal(4), 2, 1e-3), lambda: (normal(2, 4, 3), None, None, 4, 1e-3)],
    "_embedding": [lambda: (normal(5, 3), index(5, 2, 4), -1, False), lambda: (normal(5), index(5, 7), -1, False)],
    "_embedding_bag": [
        lambda: (normal(5, 3), index(5, 7), torch.tensor([0, 4, 4]), normal(7), 2, 0, False),
        lambda: (normal(5, 3), index(5, 7), torch.tensor([0, 3]), None, 2, 1, False),
        lambda: (distinct(5, 3), index(5, 7), torch.tensor([0, 4, 4]), None, None, 2, False),
    ],
    "_sort": [lambda: (distinct(3, 4), 1, False), lambda: (distinct(3, 4), 0, True)],
    "_cdist": [lambda: (distinct(4, 3), distinct(5, 3) + 0.03, 2.0), lambda: (distinct(2, 4, 3), distinct(2, 3, 3) + 0.03, 1.0), lambda: (distinct(4, 3), distinct(5, 3) + 0.03, 3.0)],
    "_pdist": [lambda: (distinct(5, 3), 2.0), lambda: (distinct(5, 3), 3.0)],
    "_cross": [lambda: (normal(4, 3), normal(4, 3), 1), lambda: (complex_(3, 2), complex_(3, 2), 0)],
    "_topk": [lambda: (distinct(3, 4), 2, 1, True, True), lambda: (distinct(3, 4), 2, 0, False, True)],
    "_kthvalue": [lambda: (distinct(3, 4), 2, 1, False), lambda: (distinct(3, 4), 1, 0, True)],
    "_median": [lambda: (distinct(3, 4), 1, False), lambda: (distinct(3, 4), 0, True)],
    "_nanmedian": [lambda: (distinct(3, 4), 1, False), lambda: (distinct(3, 4), 0, True)],
    "_mode": [lambda: (distinct(3, 4), 1, False)],
    "copy_into_": [lambda: (normal(3, 4), normal(4)), lambda: (normal(3), normal(3)), lambda: (complex_(3), normal(3))],
    "place_into_": [lambda: (normal(3, 4), normal(3, 4)), lambda: (complex_(3), normal(3))],
    "fill_number_": [lambda: (normal(3), 2.0)],
    **LINALG,
}



def usual(op):
    """Samples of an elementwise row that is smooth at all numbers: with a line above it has those alone."""
    if op.kind == "map1":
        return unary(normal)
    if op.kind == "map2":
        return binary(normal, normal, numbers="Scalar" in op.params[1].type)
    return [lambda: (normal(3, 4), normal(4), normal(3, 1)), lambda: (normal(3), normal(3), normal(3))]


SAMPLES = {**{name: usual(op) for name, op in extend.ops.items() if op.kind.startswith("map")}, **SAMPLES}

# views that only some strides allow
CONTIGUOUS = {"view", "complex_view", "as_strided"}

# rows whose gradient is constant where it exists: nothing depends on anything twice
TWICE_ZERO = {"_frexp_exponent", "nextafter", "sign", "floor", "ceil", "round", "trunc", "_floor_quotient", "trunc_divide", "fill_number_"}
