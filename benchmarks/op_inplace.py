"""Methods in place: every one of the table's maps, and the compositions. Values run away over the calls, alike in both libraries."""

from functools import partial as P

ONE = ("abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 lgamma log log10 log1p log2 logit nan_to_num neg rad2deg reciprocal relu round rsqrt "
       "sgn sigmoid sign sin sinc sinh sqrt square tan tanh trunc tril triu zero").split()  # fmt: skip
TWO = "add sub mul div remainder fmod pow copysign atan2 hypot nextafter floor_divide xlogy heaviside copy ldexp eq ne lt le gt ge logical_and logical_or logical_xor float_power igamma".split()
NUMBER = "add sub mul div remainder fmod pow floor_divide eq ne lt le gt ge fill clamp_min clamp_max float_power".split()
WHOLE = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm add mul floor_divide remainder".split()


def x_of(t, d, n):
    """What the method is of: float_power's results are of double precision."""
    return d.x("float64" if n.startswith("float_power") else "float32")


INPLACE = {
    **{f"{n}_": lambda t, d, n=n: getattr(d.x(), n + "_") for n in ONE},
    **{f"{n} tensor_": lambda t, d, n=n: P(getattr(x_of(t, d, n), n + "_"), d.plain("int64" if n == "ldexp" else "float32").add(n == "floor_divide")) for n in TWO},
    **{f"{n} number_": lambda t, d, n=n: P(getattr(x_of(t, d, n), n + "_"), 1.5) for n in NUMBER},
    **{f"{n} int64_": lambda t, d, n=n: P(getattr(d.x("int64"), n + "_"), d.plain("int64")) for n in WHOLE},
    **{f"{n}({k})_": lambda t, d, n=n, k=k: P(getattr(d.x(), n + "_"), k) for n in ("cumsum", "cumprod") for k in (0, 1)},
    "add alpha_": lambda t, d: P(d.x().add_, d.plain(), alpha=0.5),
    "logical_not_": lambda t, d: d.x("bool").logical_not_,
    "bitwise_not_": lambda t, d: d.x("int64").bitwise_not_,
    "conj_physical_": lambda t, d: d.x("complex64").conj_physical_,
    "polygamma_": lambda t, d: P(d.x().polygamma_, 1),
    "clamp_": lambda t, d: P(d.x().clamp_, 0.25, 0.75),
    "clamp min_": lambda t, d: P(d.x().clamp_, min=0.25),
    "clamp tensors_": lambda t, d: P(d.x().clamp_, d.plain(), d.plain()),
    "lerp_": lambda t, d: P(d.x().lerp_, d.plain(), 0.5),
    "lerp tensor_": lambda t, d: P(d.x().lerp_, d.plain(), d.plain()),
    "addcmul_": lambda t, d: P(d.x().addcmul_, d.plain(), d.plain(), value=0.5),
    "addcdiv_": lambda t, d: P(d.x().addcdiv_, d.plain(), d.plain(), value=0.5),
    "masked_fill_": lambda t, d: P(d.x().masked_fill_, d.mask(), 0.5),
    "masked_fill tensor_": lambda t, d: P(d.x().masked_fill_, d.mask(), t.tensor(0.5)),
    "masked_scatter_": lambda t, d: P(d.x().masked_scatter_, d.mask(), d.plain()),
    "index_fill_": lambda t, d: P(d.x().index_fill_, 0, d.index(d.rows, (d.rows,)), 0.5),
    "renorm_": lambda t, d: P(d.x().renorm_, 2, 0, 1.0),
    "fill_diagonal_": lambda t, d: P(d.plain().fill_diagonal_, 1.0),
    "addr_": lambda t, d: P(d.x().addr_, d.of((d.rows,)), d.of((d.cols,)), beta=0.5),
    "addmm_": lambda t, d: P(d.x().addmm_, d.of((d.rows, 4)), d.of((4, d.cols)), beta=0.5, alpha=0.1),
    "addmv_": lambda t, d: P(d.of((d.rows,)).addmv_, d.plain(), d.of((d.cols,)), beta=0.5, alpha=0.1),
    "addbmm_": lambda t, d: P(d.x().addbmm_, d.of((2, d.rows, 4)), d.of((2, 4, d.cols)), beta=0.5, alpha=0.1),
    "baddbmm_": lambda t, d: P(d.of((1, *d.shape)).baddbmm_, d.of((1, d.rows, 4)), d.of((1, 4, d.cols)), beta=0.5, alpha=0.1),
    "t_": lambda t, d: d.plain().t_,
    "transpose_": lambda t, d: P(d.plain().transpose_, 0, 1),
    "squeeze_": lambda t, d: d.plain().squeeze_,
    "unsqueeze squeeze_": lambda t, d: P(lambda x: x.unsqueeze_(0).squeeze_(0), d.plain()),
    "as_strided_": lambda t, d: P(d.plain().as_strided_, (2,), (1,)),
    "resize_": lambda t, d: P(d.plain().resize_, d.shape),
    "set_": lambda t, d: P(d.plain().set_, d.plain()),
    "x[0] = number_": lambda t, d: P(d.x().__setitem__, 0, 1.0),
    "x[1:] = number_": lambda t, d: P(d.x().__setitem__, slice(1, None), 1.0),
    "x[:, 1] = row_": lambda t, d: P(d.x().__setitem__, (slice(None), 1), d.of((d.rows,))),
    "x[:] = y_": lambda t, d: P(d.x().__setitem__, slice(None), d.plain()),
}  # fmt: skip
