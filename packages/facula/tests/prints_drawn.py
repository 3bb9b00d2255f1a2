"""Programs that print, drawn by a number: tensors of the same bits in both libraries, under drawn options.

A program is text that names `torch`; its tensors come from `data(dtype, shape, kind, seed)`, made by NumPy, so that no arithmetic differs.

    python packages/facula/tests/prints_drawn.py 20000          how many of so many differ from PyTorch, and the first of them
    python packages/facula/tests/prints_drawn.py 20000 70000    from that number on
"""

import math
import random
import sys
import warnings

import numpy as np

FLOATS = "float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu".split()
WHOLE = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64".split()
COMPLEX = "complex64 complex128".split()
COMPUTES = "float32 float64 bfloat16 float16 complex64 complex128".split()  # what gradients are of
LIMITS = [0.0, -0.0, 1.0, -1.0, 0.5, math.nan, math.inf, -math.inf, 1e-4, 9.9999e-5, 1.0001e-4, 1e8, 100000001.0, 99999999.0, 1e-3, 1000.0, 1001.0, 999.99995, 0.99995, 9.99995,
          0.00005, 5e-324, 1e-45, 2.0**-127, 2.0**-126, 1e38, 3.4e38, 1.7e308, -1e30, 123456.789, 65504.0, 448.0, 240.0, 57344.0, 2.0**24 + 1, 2.0**53 + 2, 0.1, 1 / 3]  # fmt: skip
NAMED = "max min topk median nanmedian kthvalue mode cummax cummin sort aminmax frexp qr geqrf linalg_eigh linalg_slogdet histogram".split()  # results of two tensors
KINDS = "bits unit whole decades limits constant zeros".split()


def numbers(shape, kind, rng):
    """float64 numbers of a kind."""
    if kind == "unit":
        return rng.uniform(-1, 1, shape)
    if kind == "whole":
        return rng.integers(-(10 ** rng.integers(1, 12)), 10 ** rng.integers(1, 12), shape).astype(np.float64)
    if kind == "decades":
        spread = rng.uniform(0, 12)
        return rng.choice([-1, 1], shape) * 10 ** rng.uniform(-spread, spread, shape)
    if kind == "limits":
        return rng.choice(rng.choice(LIMITS, rng.integers(1, 6)), shape)
    if kind == "constant":
        return np.full(shape, rng.choice(LIMITS))
    return np.zeros(shape)


def bits(dtype, shape, kind, seed):
    """(an array, the dtype it is to be viewed as or None): the same for both libraries."""
    rng = np.random.default_rng(seed)
    narrow = dtype.startswith("float8")
    native = {"bfloat16": "int16"}.get(dtype, "uint8" if narrow else dtype)
    size = np.dtype(native).itemsize
    if dtype == "bool":
        return rng.integers(0, 2 if kind != "zeros" else 1, shape).astype(bool), None
    if kind == "bits" or narrow and kind != "zeros":
        raw = rng.integers(0, 256, (*shape, size), dtype=np.uint8)
        made = raw.view(native).reshape(shape)
    elif dtype == "bfloat16":
        made = (numbers(shape, kind, rng).astype(np.float32).view(np.int32) >> 16).astype(np.int16)
    elif dtype in COMPLEX:
        made = np.empty(shape, native)
        made.real, made.imag = numbers(shape, kind, rng), numbers(shape, rng.choice(KINDS[1:]) if rng.integers(2) else kind, rng)
    elif dtype in WHOLE:
        found = np.nan_to_num(numbers(shape, kind, rng) * (100 if kind == "unit" else 1), posinf=1e9, neginf=-1e9)
        made = np.clip(found, -9e18, 9e18).astype(np.int64).astype(native)
    else:
        made = numbers(shape, kind, rng).astype(native)
    return np.ascontiguousarray(made).reshape(shape), dtype if native != dtype else None


def maker(torch):
    """data(...) of a library."""

    def data(dtype, shape, kind, seed):
        made, seen = bits(dtype, shape, kind, seed)
        x = torch.from_numpy(made)
        return x.view(getattr(torch, seen)) if seen else x

    return data


# --- what is drawn ---------------------------------------------------------------------------------------------


def shape(draw):
    """A shape of up to five dims: mostly small, sometimes past the threshold, sometimes empty."""
    how, ndim = draw.random(), draw.choice([0, 1, 1, 2, 2, 3, 4, 5])
    if how < 0.15:
        return tuple(draw.choice([0, 0, 1, 2, 3]) for _ in range(ndim))
    if how < 0.3:
        return draw.choice([(1000,), (1001,), (1500,), (2, 600), (600, 2), (40, 40), (7, 1, 200), (12, 12, 12), (3, 3, 3, 50), (2, 2, 2, 2, 100), (1, 1200), (1200, 1), (6, 7, 30), (1001, 1, 1), (5000, 0)])
    return tuple(draw.choice([1, 1, 2, 3, 4, 7, 12] if ndim < 4 else [1, 2, 3]) for _ in range(ndim))


def options(draw):
    """Calls of set_printoptions."""
    for _ in range(draw.choice([1, 1, 1, 2])):
        given = {}
        for name, values in {
            "precision": [0, 1, 2, 3, 5, 8, 12],
            "threshold": [0, 1, 5, 10, 10.5, 100, 1000, math.inf],
            "edgeitems": [0, 1, 2, 3, 4, 7],
            "linewidth": [1, 8, 10, 20, 33, 40, 60, 79, 80, 81, 120, 1000],
            "sci_mode": [None, True, False],
            "profile": ["default", "short", "full"],
        }.items():
            if draw.random() < 0.35:
                given[name] = draw.choice(values)
        yield f"torch.set_printoptions({', '.join(f'{k}={v!r}' if v != math.inf else f'{k}=inf' for k, v in given.items())})"


def layout(draw, ndim, dtype):
    """Changes of where the elements lie."""
    ways = ["x[..., ::2]", "x[..., None]", "x.expand(2, *x.shape)", "x[None, None]", "x.permute(*reversed(range(x.ndim)))", "x[()]"]
    ways += ["x.transpose(0, -1)", "x[1:]", "x[-1:]", "x[::3]", "x.narrow(0, 0, x.shape[0] // 2)"] if ndim else []
    ways += ["x.conj()", "x.imag", "x.real", "x.conj().imag", "x.mH" if ndim > 1 else "x.conj()"] if dtype in COMPLEX else []
    return f"x = {draw.choice(ways)}"


def tail(draw, dtype):
    """What becomes of the tensor before it is printed: lines, the last an expression."""
    graded = ["x.requires_grad_()", "x.requires_grad_().clone()", "x.requires_grad_().unsqueeze(0)", "x.requires_grad_().view(-1)", "torch.stack([x.requires_grad_(), x])", "x.requires_grad_()[..., 0]",
              "nn.Parameter(x)", "nn.Parameter(x, requires_grad=False)", "x.requires_grad_().expand(2, *x.shape)", "x.requires_grad_().detach()", "nn.Buffer(x)", "x.requires_grad_().reshape(-1).to(torch.float64)",
              "[nn.Parameter(x)]", "nn.ParameterList([nn.Parameter(x), nn.Parameter(x)])", "nn.ParameterDict({'a': nn.Parameter(x)})"]  # fmt: skip
    free = ["x", "x", "x", "x", "[x, x]", "(x,)", "{'a': x, 'b': [x]}", "x.to('meta')", "x.shape", "x.size()", "x.stride()", "x.tolist()", "x.dtype", "x.device", "x.layout", "x.storage_offset()", "x.untyped_storage().nbytes()",
            "list(x)", "x.element_size()", "x.is_contiguous()"]  # fmt: skip
    named = [f"torch.return_types.{name}((x, x))" for name in NAMED] + ["torch.return_types.svd((x, x, x))", "torch.return_types.linalg_lu((x, x[None], x))"]
    named += ["x.sort(stable=True)", "x.sort(0, descending=True, stable=True)", "x.aminmax()", "x.cummax(0)", "x.cummin(-1)", "torch.frexp(x)"]  # whose places of ties are not free
    sparse = ["x.to_sparse()", "x.to_sparse(1)", "x.to_sparse().to('meta')", "x.to_sparse_csr().to('meta')", "x.to_sparse_csr()", "x.to_sparse_csc()", "x.to_sparse_bsr((1, 1))", "x.to_sparse_bsc((1, 1))", "x.to_sparse().coalesce()", "x.to_sparse().indices()",
              "x.to_sparse().requires_grad_()", "x.requires_grad_().to_sparse()", "[x.to_sparse()]", "x.to_sparse_csr().requires_grad_()"]  # fmt: skip
    how = draw.random()
    if how < 0.15 and dtype in COMPUTES:
        return draw.choice(graded)
    if how < 0.3:
        return draw.choice(named)
    if how < 0.42 and dtype != "float8_e8m0fnu":  # of whose powers PyTorch counts the smallest as the zero that it has not
        return draw.choice(sparse)
    return draw.choice(free)


def form(draw, last):
    """The last expression as text."""
    how = draw.random()
    if how < 0.6:
        return f"repr({last})"
    if how < 0.75:
        return f"str({last})"
    if how < 0.8:
        return f"'%s %r' % ({last}, {last})"
    if how < 0.85:
        return f"f'{{{last}}}'"
    if how < 0.9:
        return f"format({last}, {draw.choice(['', '.2f', 'd', 'e', '>10', '08.3f', 's', 'x', ',', 'g', '%', '.3', '+', 'b'])!r})"
    return f"'{{:.3f}} {{!r:>30}}'.format({last}, {last})"


def program(number):
    """The program of a number."""
    draw = random.Random(number)
    dtype = draw.choice([*FLOATS, *FLOATS[:4], *FLOATS[:4], *WHOLE, *COMPLEX, *COMPLEX])
    size = shape(draw)
    lines = list(options(draw)) if draw.random() < 0.5 else []
    if draw.random() < 0.1:
        lines.append(f"torch.set_default_dtype(torch.{draw.choice(['float64', 'float16', 'bfloat16', 'float32'])})")
    lines.append(f"x = data({dtype!r}, {size}, {draw.choice(KINDS)!r}, {number})")
    lines += [layout(draw, len(size), dtype) for _ in range(draw.choice([0, 0, 0, 1, 1, 2]))]
    return "\n".join([*lines, f"r = {tail(draw, dtype)}", form(draw, "r")])


def printed(torch, text):
    """What a program prints, or the class of Python's that its last line raises; None where there is nothing to print."""
    names = {"torch": torch, "nn": torch.nn, "np": np, "data": maker(torch), "inf": math.inf}
    *lines, last = text.split("\n")
    torch.set_printoptions(profile="default")
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            try:
                exec("\n".join(lines), names)
            except (RuntimeError, IndexError, TypeError, ValueError):  # NotImplementedError among them: what both can do is asked elsewhere
                return None
            try:
                return eval(last, names)
            except Exception as error:
                return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
        finally:
            torch.set_default_dtype(torch.float32)
            torch.set_printoptions(profile="default")


def main(count, start=0):
    import facula.torch
    import torch

    with facula.torch.enabled(shadow=True):
        import torch as ours
    differing = empty = 0
    for number in range(int(start), int(start) + int(count)):
        text = program(number)
        there, here = printed(torch, text), printed(ours, text)
        if there is None or here is None:
            empty += 1
        elif there != here:
            differing += 1
            if differing <= 25:
                print(f"--- {number}\n{text}\nPyTorch: {there[:600]}\nFacula:  {here[:600]}\n")
    print(f"{differing} of {count} differ, {empty} have nothing to print")


if __name__ == "__main__":
    main(*sys.argv[1:])
