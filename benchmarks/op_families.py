"""Cases by family of public functions: what the table of bench_ops.py, one case a row, does not see.

A family is a dict from name to a function of the library and its inputs, which gives what is timed. FAMILIES says for each which sizes
and layouts it has. The names are PyTorch's functions; what stands behind the name says how they are called.
"""

from functools import partial as P

from _harness import Case
from op_inplace import INPLACE
from op_inputs import LAYOUTS, Inputs
from op_small import SMALL

SIZES = (10, 1_000, 100_000, 10_000_000)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool")


def side(d):
    """Of a square of as many elements."""
    return int(d.n**0.5)


CREATION = {
    **{n: lambda t, d, n=n: P(getattr(t, n), d.shape) for n in ("empty", "zeros", "ones", "rand", "randn")},
    **{n: lambda t, d, n=n: P(getattr(t, n), d.plain()) for n in ("empty_like", "zeros_like", "ones_like", "rand_like", "randn_like")},
    "zeros int64": lambda t, d: P(t.zeros, d.shape, dtype=t.int64),
    "full": lambda t, d: P(t.full, d.shape, 2.5),
    "full int": lambda t, d: P(t.full, d.shape, 3),
    "full_like": lambda t, d: P(t.full_like, d.plain(), 2.5),
    "new_zeros": lambda t, d: P(d.plain().new_zeros, d.shape),
    "new_full": lambda t, d: P(d.plain().new_full, d.shape, 1.5),
    "arange": lambda t, d: P(t.arange, d.n),
    "arange float": lambda t, d: P(t.arange, 0.0, float(d.n), 1.0),
    "linspace": lambda t, d: P(t.linspace, 0.0, 1.0, d.n),
    "logspace": lambda t, d: P(t.logspace, 0.0, 1.0, d.n),
    "eye": lambda t, d: P(t.eye, side(d)),
    "tril_indices": lambda t, d: P(t.tril_indices, side(d), side(d)),
    "meshgrid": lambda t, d: P(t.meshgrid, d.of((d.rows,)), d.of((d.cols,)), indexing="ij"),
    "cartesian_prod": lambda t, d: P(t.cartesian_prod, d.of((d.rows,)), d.of((d.cols,))),
    "complex": lambda t, d: P(t.complex, d.plain(), d.plain()),
    "polar": lambda t, d: P(t.polar, d.plain(), d.plain()),
    "one_hot": lambda t, d: P(t.nn.functional.one_hot, d.index(10, (d.n // 10,)), 10),
    "vander": lambda t, d: P(t.vander, d.of((d.n // 5,)), 5),
}

REDUCING = ("sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "all", "any", "var", "std", "nansum", "nanmean", "count_nonzero",
            "max", "min", "median", "nanmedian", "var_mean", "std_mean")  # fmt: skip
REDUCTION = {
    **{f"{n}(all)": lambda t, d, n=n: P(getattr(t, n), d.x()) for n in REDUCING},
    **{f"{n}(0)": lambda t, d, n=n: P(getattr(t, n), d.x(), 0) for n in REDUCING},
    **{f"{n}(1)": lambda t, d, n=n: P(getattr(t, n), d.x(), 1) for n in REDUCING},
    **{f"logsumexp({k})": lambda t, d, k=k: P(t.logsumexp, d.x(), k) for k in (0, 1)},
    **{f"mode({k})": lambda t, d, k=k: P(t.mode, d.x(), k) for k in (0, 1)},
    **{f"aminmax({k})": lambda t, d, k=k: P(t.aminmax, d.x(), dim=k) for k in (0, 1)},
    "aminmax(all)": lambda t, d: P(t.aminmax, d.x()),
    **{f"norm({p})": lambda t, d, p=p: P(t.norm, d.x(), p) for p in (1, 2, 3, float("inf"))},
    "norm(2, 1)": lambda t, d: P(t.norm, d.x(), 2, 1),
    "vector_norm(0)": lambda t, d: P(t.linalg.vector_norm, d.x(), 2, 0),
    **{f"any bool({k})": lambda t, d, k=k: P(t.any, d.x("bool"), k) for k in (0, 1)},
    "all bool(all)": lambda t, d: P(t.all, d.x("bool")),
    "sum bool": lambda t, d: P(t.sum, d.x("bool")),
    "sum of short rows": lambda t, d: P(t.sum, d.of((5, d.n // 5)).t()),
    "sum of every second": lambda t, d: P(t.sum, d.plain()[:, ::2]),
    "sum channels_last": lambda t, d: P(t.sum, d.of((1, 5, 2, d.n // 10)).permute(0, 3, 1, 2)),
}
QUANTILES = {f"{n}({k})": lambda t, d, n=n, k=k: P(getattr(t, n), d.x(), 0.3, k) for n in ("quantile", "nanquantile") for k in (0, 1)}

CUMULATIVE = {
    **{f"{n}({k})": lambda t, d, n=n, k=k: P(getattr(t, n), d.x(), k) for n in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp") for k in (0, 1)},
    "cumsum flat": lambda t, d: P(t.cumsum, d.flat(), 0),
    "cumsum int64": lambda t, d: P(t.cumsum, d.x("int64"), 1),
    "cumsum bool": lambda t, d: P(t.cumsum, d.x("bool"), 1),
    **{f"diff({k})": lambda t, d, k=k: P(t.diff, d.x(), dim=k) for k in (0, 1)},
    "trapezoid": lambda t, d: P(t.trapezoid, d.x()),
    "cumulative_trapezoid": lambda t, d: P(t.cumulative_trapezoid, d.x()),
}

SORT = {
    **{f"sort({k})": lambda t, d, k=k: P(t.sort, d.x(), k) for k in (0, 1)},
    "sort descending": lambda t, d: P(t.sort, d.x(), descending=True),
    "sort stable": lambda t, d: P(t.sort, d.x(), stable=True),
    "argsort": lambda t, d: P(t.argsort, d.x()),
    "msort": lambda t, d: P(t.msort, d.x()),
    "sort int64": lambda t, d: P(t.sort, d.x("int64")),
    "topk 1": lambda t, d: P(t.topk, d.x(), 1),
    "topk 5": lambda t, d: P(t.topk, d.x(), 5),
    "topk half": lambda t, d: P(t.topk, d.x(), d.cols // 2),
    "topk(0)": lambda t, d: P(t.topk, d.x(), 2, 0),
    "kthvalue": lambda t, d: P(t.kthvalue, d.x(), d.cols // 2),
}
SORT_FLAT = {
    "sort flat": lambda t, d: P(t.sort, d.flat()),
    "sort flat int64": lambda t, d: P(t.sort, d.index(d.n, (d.n,))),
    "argsort flat": lambda t, d: P(t.argsort, d.flat()),
    "topk flat": lambda t, d: P(t.topk, d.flat(), 10),
    "kthvalue flat": lambda t, d: P(t.kthvalue, d.flat(), d.n // 2),
}
SEARCH = {
    "unique": lambda t, d: P(t.unique, d.flat()),
    "unique int64": lambda t, d: P(t.unique, d.index(d.n, (d.n,))),
    "unique few": lambda t, d: P(t.unique, d.flat("int64")),
    "unique inverse": lambda t, d: P(t.unique, d.index(d.n, (d.n,)), return_inverse=True, return_counts=True),
    "unique dim": lambda t, d: P(t.unique, d.of((d.n // 5, 5), "int64"), dim=0),
    "unique_consecutive": lambda t, d: P(t.unique_consecutive, d.flat("int64")),
    "searchsorted": lambda t, d: P(t.searchsorted, d.of((1_000,)).sort()[0], d.x()),
    "searchsorted large": lambda t, d: P(t.searchsorted, d.flat().sort()[0], d.plain()),
    "bucketize": lambda t, d: P(t.bucketize, d.x(), d.of((20,)).sort()[0]),
    "histc": lambda t, d: P(t.histc, d.x(), 50, 0.0, 1.0),
    "histc open": lambda t, d: P(t.histc, d.x(), 50),
    "histogram": lambda t, d: P(t.histogram, d.x(), 50),
    "bincount": lambda t, d: P(t.bincount, d.index(100, (d.n,))),
    "bincount weights": lambda t, d: P(t.bincount, d.index(100, (d.n,)), d.flat()),
    "isin few": lambda t, d: P(t.isin, d.x("int64"), t.tensor([1, 5, 7])),
    "isin many": lambda t, d: P(t.isin, d.index(d.n), d.index(d.n, (1_000,))),
}

INDEXING = {
    **{f"gather({k})": lambda t, d, k=k: P(t.gather, d.x(), k, d.index(d.shape[k])) for k in (0, 1)},
    **{f"take_along_dim({k})": lambda t, d, k=k: P(t.take_along_dim, d.x(), d.index(d.shape[k]), k) for k in (0, 1)},
    **{f"scatter({k})": lambda t, d, k=k: P(t.scatter, d.x(), k, d.index(d.shape[k]), d.plain()) for k in (0, 1)},
    "scatter number": lambda t, d: P(t.scatter, d.x(), 1, d.index(d.cols), 0.5),
    **{f"scatter_add({k})": lambda t, d, k=k: P(t.scatter_add, d.x(), k, d.index(d.shape[k]), d.plain()) for k in (0, 1)},
    **{f"scatter_reduce {n}": lambda t, d, n=n: P(t.scatter_reduce, d.x(), 1, d.index(d.cols), d.plain(), n) for n in ("sum", "prod", "mean", "amax")},
    **{f"index_select({k})": lambda t, d, k=k: P(t.index_select, d.x(), k, d.index(d.shape[k], (d.shape[k],))) for k in (0, 1)},
    **{f"index_add({k})": lambda t, d, k=k: P(t.index_add, d.x(), k, d.index(d.shape[k], (d.shape[k],)), d.plain()) for k in (0, 1)},
    **{f"index_copy({k})": lambda t, d, k=k: P(t.index_copy, d.x(), k, d.order(d.shape[k]), d.plain()) for k in (0, 1)},
    **{f"index_fill({k})": lambda t, d, k=k: P(t.index_fill, d.x(), k, d.index(d.shape[k], (d.shape[k] // 2,)), 0.5) for k in (0, 1)},
    "masked_fill": lambda t, d: P(t.masked_fill, d.x(), d.mask(), 0.5),
    "masked_select": lambda t, d: P(t.masked_select, d.x(), d.mask()),
    "masked_scatter": lambda t, d: P(t.masked_scatter, d.x(), d.mask(), d.plain()),
    "take": lambda t, d: P(t.take, d.x(), d.index(d.n)),
    "put": lambda t, d: P(t.put, d.x(), d.index(d.n), d.plain()),
    "where": lambda t, d: P(t.where, d.mask(), d.x(), d.plain()),
    "where number": lambda t, d: P(t.where, d.mask(), d.x(), 0.5),
    "where one": lambda t, d: P(t.where, d.x("bool")),
    "nonzero": lambda t, d: P(t.nonzero, d.x("bool")),
    "argwhere": lambda t, d: P(t.argwhere, d.x()),
    "embedding": lambda t, d: P(t.nn.functional.embedding, d.index(d.rows, (d.rows,)), d.plain()),
}
ADVANCED = {
    "x[i]": lambda t, d: P(d.x().__getitem__, d.index(d.rows, (d.rows,))),
    "x[:, i]": lambda t, d: P(d.x().__getitem__, (slice(None), d.index(d.cols, (d.cols,)))),
    "x[i, j]": lambda t, d: P(d.x().__getitem__, (d.index(d.rows, (d.n,)), d.index(d.cols, (d.n,)))),
    "x[i][:, None], j]": lambda t, d: P(d.x().__getitem__, (d.order(d.rows)[:, None], d.order(d.cols))),
    "x[mask]": lambda t, d: P(d.x().__getitem__, d.mask()),
    "x[row mask]": lambda t, d: P(d.x().__getitem__, d.of((d.rows,), "bool")),
    "x[flat int]": lambda t, d: P(d.flat().__getitem__, d.index(d.n, (d.n,))),
    "x[list]": lambda t, d: P(d.x().__getitem__, [0, 1, 1]),
}
PUTTING = {
    "x[i] = y": lambda t, d: P(d.plain().__setitem__, d.order(d.rows), d.x()),
    "x[:, i] = y": lambda t, d: P(d.plain().__setitem__, (slice(None), d.order(d.cols)), d.x()),
    "x[i, j] = v": lambda t, d: P(d.plain().__setitem__, (d.index(d.rows, (d.n,)), d.index(d.cols, (d.n,))), d.flat()),
    "x[i, j] = number": lambda t, d: P(d.plain().__setitem__, (d.index(d.rows, (d.n,)), d.index(d.cols, (d.n,))), 0.5),
    "x[mask] = number": lambda t, d: P(d.plain().__setitem__, d.mask(), 0.5),
    "x[mask] = values": lambda t, d: P(d.plain().__setitem__, d.mask(), d.flat()[: int(d.mask().sum())]),
    "x[:] = y": lambda t, d: P(d.plain().__setitem__, slice(None), d.x()),
    "x[1:, ::2] = y": lambda t, d: P(d.plain().__setitem__, (slice(1, None), slice(None, None, 2)), d.x()[1:, ::2]),
    "x[1] = number": lambda t, d: P(d.plain().__setitem__, 1, 0.5),
    "index_put add": lambda t, d: P(d.plain().index_put_, (d.index(d.rows, (d.n,)), d.index(d.cols, (d.n,))), d.flat(), accumulate=True),
    "index_add_": lambda t, d: P(d.plain().index_add_, 0, d.index(d.rows, (d.rows,)), d.x()),
    "scatter_add_": lambda t, d: P(d.plain().scatter_add_, 0, d.index(d.rows), d.x()),
    "masked_fill_": lambda t, d: P(d.plain().masked_fill_, d.mask(), 0.5),
}

JOINING = {
    **{f"cat({k})": lambda t, d, k=k: P(t.cat, [d.x(), d.x()], k) for k in (0, 1)},
    **{f"stack({k})": lambda t, d, k=k: P(t.stack, [d.x(), d.x()], k) for k in (0, 1, 2)},
    "cat many": lambda t, d: P(t.cat, list(d.plain().unbind(0))),
    "stack many": lambda t, d: P(t.stack, list(d.plain().unbind(0)[:50])),
    **{n: lambda t, d, n=n: P(getattr(t, n), [d.x(), d.x()]) for n in ("hstack", "vstack", "dstack")},
    "block_diag": lambda t, d: P(t.block_diag, d.of((side(d) // 2, 2)), d.of((side(d) // 2, 2))),
    "roll": lambda t, d: P(t.roll, d.x(), 3),
    **{f"roll({k})": lambda t, d, k=k: P(t.roll, d.x(), 1, k) for k in (0, 1)},
    **{f"flip({k})": lambda t, d, k=k: P(t.flip, d.x(), k if isinstance(k, tuple) else (k,)) for k in (0, 1, (0, 1))},
    "rot90": lambda t, d: P(t.rot90, d.x()),
    "repeat": lambda t, d: P(d.x().repeat, 2, 1),
    "tile": lambda t, d: P(t.tile, d.x(), (1, 2)),
    "repeat_interleave": lambda t, d: P(t.repeat_interleave, d.x(), 2, 0),
    "repeat_interleave(1)": lambda t, d: P(t.repeat_interleave, d.x(), 2, 1),
    "tril": lambda t, d: P(t.tril, d.x()),
    "triu": lambda t, d: P(t.triu, d.x()),
    "t contiguous": lambda t, d: d.plain().t().contiguous,
    "permute contiguous": lambda t, d: d.of((d.rows // 2 or 1, 2, d.cols)).permute(2, 0, 1).contiguous,
    "permute middle": lambda t, d: d.of((d.rows // 2 or 1, 2, d.cols)).permute(1, 0, 2).contiguous,
    "reshape copy": lambda t, d: P(d.plain().t().reshape, -1),
    "expand contiguous": lambda t, d: d.of((1, d.cols)).expand(d.rows, d.cols).contiguous,
    "x[::2, 1:] contiguous": lambda t, d: d.plain()[:, ::2].contiguous,
    "diag": lambda t, d: P(t.diag, d.of((side(d),))),
    "diag_embed": lambda t, d: P(t.diag_embed, d.of((10, int((d.n / 10) ** 0.5)))),
    "diagonal contiguous": lambda t, d: d.x().diagonal().clone,
    "pad": lambda t, d: P(t.nn.functional.pad, d.x(), (1, 1, 1, 1)),
    "pad reflect": lambda t, d: P(t.nn.functional.pad, d.x()[None], (1, 1), mode="reflect"),
    "pixel_shuffle": lambda t, d: P(t.nn.functional.pixel_shuffle, d.of((4, d.n // 40 + 1, 10)), 2),
    "unfold contiguous": lambda t, d: d.flat().unfold(0, 4, 2).contiguous,
}
SPLITTING = {
    "split": lambda t, d: P(t.split, d.x(), 2, 1),
    "chunk": lambda t, d: P(t.chunk, d.x(), 2),
    "unbind": lambda t, d: P(t.unbind, d.of((10, d.n // 10))),
    "tensor_split": lambda t, d: P(t.tensor_split, d.x(), 2),
    "hsplit": lambda t, d: P(t.hsplit, d.x(), [2]),
    "broadcast_tensors": lambda t, d: P(t.broadcast_tensors, d.x(), d.of((1, d.cols))),
}


def wide(d):
    return max(2, side(d))


PRODUCTS = {
    "einsum ij,ij->i": lambda t, d: P(t.einsum, "ij,ij->i", d.plain(), d.plain()),
    "einsum ij->j": lambda t, d: P(t.einsum, "ij->j", d.plain()),
    "einsum i,j->ij": lambda t, d: P(t.einsum, "i,j->ij", d.of((d.rows,)), d.of((d.cols,))),
    "einsum bij,bjk->bik": lambda t, d: P(t.einsum, "bij,bjk->bik", d.of((d.n // 10, 2, 5)), d.of((d.n // 10, 5, 3))),
    "einsum bij,bkj->bik": lambda t, d: P(t.einsum, "bij,bkj->bik", d.of((4, wide(d) // 4 + 1, 8)), d.of((4, wide(d) // 4 + 1, 8))),
    "tensordot": lambda t, d: P(t.tensordot, d.of((d.n // 10, 2, 5)), d.of((2, 5, 4)), 2),
    "bmm": lambda t, d: P(t.bmm, d.of((d.n // 10, 2, 5)), d.of((d.n // 10, 5, 2))),
    "bmm large": lambda t, d: P(t.bmm, d.of((2, wide(d) // 4 + 1, 32)), d.of((2, 32, wide(d) // 4 + 1))),
    "kron": lambda t, d: P(t.kron, d.of((2, 5)), d.of((d.n // 10,))),
    "cdist": lambda t, d: P(t.cdist, d.of((wide(d), 8)), d.of((wide(d), 8))),
    "cdist 1": lambda t, d: P(t.cdist, d.of((wide(d), 8)), d.of((wide(d), 8)), 1.0),
    "pdist": lambda t, d: P(t.pdist, d.of((wide(d), 8))),
    "cov": lambda t, d: P(t.cov, d.of((5, d.n // 5))),
    "corrcoef": lambda t, d: P(t.corrcoef, d.of((5, d.n // 5))),
    "outer": lambda t, d: P(t.outer, d.of((d.rows,)), d.of((d.cols,))),
    "inner": lambda t, d: P(t.inner, d.plain(), d.of((d.cols,))),
    "dot": lambda t, d: P(t.dot, d.flat(), d.flat()),
    "mv": lambda t, d: P(t.mv, d.plain(), d.of((d.cols,))),
    "cross": lambda t, d: P(t.linalg.cross, d.of((d.n // 3, 3)), d.of((d.n // 3, 3))),
    "addr": lambda t, d: P(t.addr, d.plain(), d.of((d.rows,)), d.of((d.cols,))),
    "cosine_similarity": lambda t, d: P(t.nn.functional.cosine_similarity, d.plain(), d.plain()),
    "pairwise_distance": lambda t, d: P(t.nn.functional.pairwise_distance, d.plain(), d.plain()),
    "normalize": lambda t, d: P(t.nn.functional.normalize, d.plain()),
}

CASTS = {f"{a} to {b}": lambda t, d, a=a, b=b: P(d.x(a).to, getattr(t, b)) for a in DTYPES for b in DTYPES if a != b}
CASTS |= {f"complex64 to {b}": lambda t, d, b=b: P(d.x("complex64").to, getattr(t, b)) for b in ("bool", "int8", "int64", "bfloat16", "float32", "complex128")}
CASTS |= {f"{a} to int8": lambda t, d, a=a: P(d.x(a).to, t.int8) for a in ("float32", "float64", "complex128")}
COPIES = {
    "equal all": lambda t, d: P(t.equal, d.plain(), d.plain()),
    "equal but one": lambda t, d: P(t.equal, d.plain(), d.plain() + 1),
    "clone": lambda t, d: d.x().clone,
    "clone contiguous": lambda t, d: P(d.x().clone, memory_format=t.contiguous_format),
    "copy_": lambda t, d: P(d.plain().copy_, d.x()),
    "copy_ from int64": lambda t, d: P(d.plain().copy_, d.x("int64")),
    "copy_ transposed": lambda t, d: P(d.of(d.shape[::-1]).t().copy_, d.x()),
    **{f"t contiguous {n}": lambda t, d, n=n: d.plain(n).t().contiguous for n in ("uint8", "float16", "float64", "complex64")},
    "fill_": lambda t, d: P(d.plain().fill_, 2.5),
    "zero_": lambda t, d: d.plain().zero_,
    "fill_ slice": lambda t, d: P(d.plain()[:, ::2].fill_, 2.5),
    "real clone": lambda t, d: d.plain("complex64").real.clone,
}

RANDOM = {
    "rand float64": lambda t, d: P(t.rand, d.shape, dtype=t.float64),
    "randn float64": lambda t, d: P(t.randn, d.shape, dtype=t.float64),
    "randint": lambda t, d: P(t.randint, 0, 10, d.shape),
    "randint int32": lambda t, d: P(t.randint, 0, 10, d.shape, dtype=t.int32),
    "randint_like": lambda t, d: P(t.randint_like, d.plain(), 10),
    "randperm": lambda t, d: P(t.randperm, d.n),
    "bernoulli": lambda t, d: P(t.bernoulli, d.x()),
    "normal": lambda t, d: P(t.normal, d.x(), 1.0),
    "normal scalar": lambda t, d: P(t.normal, 0.0, 1.0, d.shape),
    "poisson": lambda t, d: P(t.poisson, d.x()),
    "multinomial": lambda t, d: P(t.multinomial, d.x(), 2),
    "multinomial replacement": lambda t, d: P(t.multinomial, d.x(), 10, replacement=True),
    "dropout": lambda t, d: P(t.nn.functional.dropout, d.x(), 0.3),
    "uniform_": lambda t, d: d.plain().uniform_,
    "normal_": lambda t, d: d.plain().normal_,
    "bernoulli_": lambda t, d: P(d.plain().bernoulli_, 0.3),
    "exponential_": lambda t, d: d.plain().exponential_,
    "geometric_": lambda t, d: P(d.plain().geometric_, 0.3),
    "cauchy_": lambda t, d: d.plain().cauchy_,
    "log_normal_": lambda t, d: d.plain().log_normal_,
    "random_": lambda t, d: d.plain().random_,
}

WINDOWS = {f"{n}_window": lambda t, d, n=n: P(getattr(t, f"{n}_window"), d.n) for n in ("hann", "hamming", "blackman", "bartlett", "kaiser")}

TYPED_TWO = ("add", "mul", "sub", "div", "lt", "eq", "maximum", "floor_divide", "remainder")
TYPED_ONE = ("neg", "abs", "sum", "amax", "argmax", "cumsum", "sort", "relu", "square", "sqrt", "exp", "sign", "mean", "prod", "any", "count_nonzero")
ALONG = {"argmax", "cumsum", "sort", "amax", "prod"}


def typed(n, dtype):
    if n in TYPED_TWO:
        return lambda t, d: P(getattr(t, n), d.x(dtype), d.plain(dtype))
    return lambda t, d: P(getattr(t, n), d.x(dtype), *([1] if n in ALONG else []))


def makes_sense(n, dtype):
    return not (dtype == "bool" and n in ("argmax", "sub", "neg", "relu", "abs", "sign", "mean", "floor_divide", "remainder", "sqrt", "exp", "square")
                or n == "mean" and dtype.startswith(("int", "uint")))  # fmt: skip


TYPED = {f"{n} {k}": typed(n, k) for n in (*TYPED_TWO, *TYPED_ONE) for k in ("int64", "int32", "uint8", "bool", "float16", "bfloat16", "float64") if makes_sense(n, k)}
TYPED |= {f"{n} {k}": lambda t, d, n=n, k=k: P(getattr(t, n), d.x(k), d.plain(k))
          for n in ("bitwise_and", "bitwise_xor", "logical_and", "gcd", "bitwise_left_shift") for k in ("int64", "int32", "uint8")}  # fmt: skip
TYPED |= {f"{n} complex64": lambda t, d, n=n: P(getattr(t, n), d.x("complex64"), d.plain("complex64")) for n in ("add", "mul", "div")}
TYPED |= {f"{n} complex64": lambda t, d, n=n: P(getattr(t, n), d.x("complex64")) for n in ("abs", "sum", "angle", "conj_physical")}
TYPED |= {f"{n} {k} number": lambda t, d, n=n, k=k: P(getattr(t, n), d.x(k), 2) for n in ("add", "mul", "div", "pow", "lt", "eq", "floor_divide", "remainder") for k in ("float32", "int64")}
TYPED |= {f"add {a} {b}": lambda t, d, a=a, b=b: P(t.add, d.x(a), d.plain(b)) for a, b in (("float32", "int64"), ("float32", "float64"), ("bfloat16", "float32"), ("int64", "int32"))}
# products of a row or a column, and what else a dtype has a loop of its own for
PRODUCED = ("int64", "int32", "int16", "int8", "float16", "bfloat16", "float64", "complex64", "complex128")
TYPED |= {f"dot {k}": lambda t, d, k=k: P(t.dot, d.x(k).reshape(-1), d.plain(k).reshape(-1)) for k in PRODUCED}
TYPED |= {f"mv {k}": lambda t, d, k=k: P(t.mv, d.x(k), d.plain(k)[0].clone()) for k in PRODUCED}
TYPED |= {f"vm {k}": lambda t, d, k=k: P(t.matmul, d.plain(k)[:, 0].clone(), d.x(k)) for k in PRODUCED}
TYPED |= {f"cummax {k}": lambda t, d, k=k: P(d.x(k).cummax, 1) for k in ("int64", "int16", "float16")}
TYPED |= {f"{n} {k}": lambda t, d, n=n, k=k: P(getattr(t, n), d.x(k)) for n, k in (("erf", "float64"), ("floor", "float16"), ("aminmax", "float64"))}
TYPED |= {"sum(1) float64": lambda t, d: P(t.sum, d.x("float64"), 1), "kthvalue int64": lambda t, d: P(t.kthvalue, d.x("int64"), 1, 1),
          "copysign float16": lambda t, d: P(t.copysign, d.x("float16"), d.plain("float16"))}  # fmt: skip
TYPED |= {f"{n} {k}": lambda t, d, n=n, k=k: P(getattr(t, n), d.x(k)) for n in ("sin", "cos") for k in ("float64", "float16", "bfloat16")}
TYPED |= {f"addmm {k}": lambda t, d, k=k: P(t.addmm, d.x(k), d.plain(k)[:, :1], d.plain(k)[:1]) for k in ("float16", "bfloat16")}
TYPED |= {"bitwise_right_shift int16": lambda t, d: P(t.bitwise_right_shift, d.x("int16"), d.plain("int16")), "prod complex64": lambda t, d: d.x("complex64").prod}

# family: (cases, sizes, layouts)
FAMILIES = {
    "creation": (CREATION, SIZES, LAYOUTS[:1]),
    "reduction": (REDUCTION, SIZES, LAYOUTS),
    "quantile": (QUANTILES, SIZES, LAYOUTS),
    "cumulative": (CUMULATIVE, SIZES, LAYOUTS),
    "sort": (SORT, SIZES, LAYOUTS),
    "sort flat": (SORT_FLAT, SIZES, LAYOUTS[:1]),
    "search": (SEARCH, SIZES, LAYOUTS[:1]),
    "indexing": (INDEXING, SIZES, LAYOUTS),
    "advanced": (ADVANCED, SIZES, LAYOUTS),
    "putting": (PUTTING, SIZES, LAYOUTS),
    "joining": (JOINING, SIZES, LAYOUTS),
    "splitting": (SPLITTING, SIZES, LAYOUTS[:1]),
    "products": (PRODUCTS, SIZES, LAYOUTS[:1]),
    "casts": (CASTS, SIZES, LAYOUTS[:2]),
    "copies": (COPIES, SIZES, LAYOUTS),
    "random": (RANDOM, SIZES, LAYOUTS[:1]),
    "windows": (WINDOWS, SIZES, LAYOUTS[:1]),
    "inplace": (INPLACE, SIZES, LAYOUTS[:2]),
    "dtypes": (TYPED, SIZES, LAYOUTS[:2]),
    "small": (SMALL, (10,), LAYOUTS[:1]),
}
# values that are no function of the arguments, or of which one of several is right
LOOSE = {"empty", "empty_like", "topk 1", "topk 5", "topk half", "topk(0)", "kthvalue", "unique dim"}


def layouts_of(make, family_layouts):
    """A case that asks for no operand in a layout (d.x) has one only."""
    return family_layouts if "x" in make.__code__.co_names or make.__closure__ else family_layouts[:1]


def cases(sizes, layouts, families, only):
    for family, (table, its_sizes, its_layouts) in FAMILIES.items():
        if families and family not in families:
            continue
        for name, make in table.items():
            if only and not any(n in name for n in only):
                continue
            for size in (n for n in its_sizes if n in sizes):
                for layout in (k for k in layouts_of(make, its_layouts) if k in layouts):
                    title = f"{name} {size:g}{'' if layout == 'contiguous' else ' ' + layout}"
                    tol = None if family in ("random", "advanced") or name in LOOSE or "empty" in name or "_" == name[-1] else 1e-3
                    yield Case(title, lambda t, m=make, s=size, k=layout: m(t, Inputs(t, s, k)), family=family, tol=tol)
