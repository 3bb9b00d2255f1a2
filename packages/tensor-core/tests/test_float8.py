"""The float8 dtypes: stored and converted as PyTorch does on the CPU, refused where they would be computed with."""

import bisect
import functools
import io
import math

import numpy as np
import pytest

import facula
from facula import safetensors

# name: bits of the fraction, bias, codes that are infinity or NaN or else the largest, what becomes of too large a number
FORMATS = {
    "float8_e4m3fn": (3, 7, {0x7F: math.nan}, 0x7E),
    "float8_e5m2": (2, 15, {0x7C: math.inf, 0x7D: math.nan, 0x7E: math.nan, 0x7F: math.nan}, 0x7C),
    "float8_e4m3fnuz": (3, 8, {}, 0x80),
    "float8_e5m2fnuz": (2, 16, {}, 0x80),
}
NAMES = (*FORMATS, "float8_e8m0fnu")
OTHERS = "uint8 int16 int64 float16 bfloat16 float32 float64 complex64 bool".split()
CODES = np.arange(256, dtype=np.uint8)


def decoded(name, code):
    """The number of a code by the definition of the format."""
    if name == "float8_e8m0fnu":
        return math.nan if code == 255 else 2.0 ** (code - 127)
    fraction, bias, special, _ = FORMATS[name]
    if name.endswith("fnuz") and code == 0x80:
        return math.nan
    magnitude, sign = code & 0x7F, -1.0 if code & 0x80 else 1.0
    if magnitude in special:
        return sign * special[magnitude]
    exponent, rest = magnitude >> fraction, magnitude & (1 << fraction) - 1
    return sign * (rest / 2**fraction + (exponent > 0)) * 2.0 ** (max(exponent, 1) - bias)


@functools.cache
def numbers(name):
    """The finite numbers without a sign, by code."""
    return [v for c in range(256 if name == "float8_e8m0fnu" else 128) if math.isfinite(v := decoded(name, c))]


def nearest(name, x):
    """The codes of the nearest numbers: two of a tie."""
    held = numbers(name)
    above = bisect.bisect_left(held, x)
    around = [c for c in (above - 1, above) if 0 <= c < len(held)]
    least = min(abs(held[c] - x) for c in around)
    return [c for c in around if abs(held[c] - x) == least]


def encoded(name, x):
    """The code of the nearest number, of two the even one; e8m0fnu takes the larger, but of its two least the least."""
    if name == "float8_e8m0fnu":
        codes = nearest(name, abs(x)) if math.isfinite(x) else [255]
        return codes[0] if abs(x) < 2.0**-126 * 0.75 else codes[-1]
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    over, held = FORMATS[name][3], numbers(name)
    if math.isnan(x):
        return 0x80 if over == 0x80 else 0x7F | sign
    if abs(x) >= held[-1] + (held[-1] - held[-2]) / 2:
        return over if over == 0x80 else over | sign
    code = min(nearest(name, abs(x)), key=lambda c: c & 1)
    return code if over == 0x80 and not code else code | sign


def codes(tensor):
    return tensor.view(facula.uint8).tolist()


def same(x, y):
    return x == y and math.copysign(1, x) == math.copysign(1, y) or math.isnan(x) and math.isnan(y)


def of_codes(name):
    return facula.from_numpy(CODES.copy()).view(getattr(facula, name))


@pytest.mark.parametrize("name", NAMES)
def test_every_code_is_the_number_of_its_format(name):
    actual = of_codes(name).double().tolist()

    assert all(same(a, decoded(name, c)) for c, a in enumerate(actual))
    assert of_codes(name).tolist()[:3] == actual[:3] and of_codes(name)[3].item() == actual[3]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_become_the_nearest_code(name):
    held = numbers(name)
    ties = [(a + b) / 2 for a, b in zip(held, held[1:])]
    near = [math.nextafter(t, to) for t in ties for to in (0, math.inf)]
    values = [s * v for v in (*held, *ties, *near, 1e-30, 1e30, math.inf, math.nan) for s in (1, -1)]
    x = facula.tensor(values, dtype=facula.float64)

    kept = x.float().tolist()  # every number goes by float32
    assert codes(x.to(getattr(facula, name))) == [encoded(name, v) for v in kept]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", (*OTHERS, *NAMES))
def test_other_dtypes_go_by_float32(name, other):
    x = of_codes(name)
    x = x[x.float().isfinite()]

    assert codes(x.to(getattr(facula, other))) == codes(x.float().to(getattr(facula, other)))
    y = facula.arange(20).to(getattr(facula, other))
    assert codes(y.to(x.dtype)) == codes(y.float().to(x.dtype) if not y.is_complex() else y.real.to(x.dtype))


@pytest.mark.parametrize("name", FORMATS)
def test_elements_are_made_moved_and_compared(name):
    d = getattr(facula, name)
    x = facula.tensor([[0.5, 1.0, 1.5], [2.0, -3.0, 4.0]], dtype=d)
    wide = x.float()
    moves = {
        "index": lambda t: t[:, facula.tensor([2, 0])], "mask": lambda t: t[wide > 1], "cat": lambda t: facula.cat([t, t]), "stack": lambda t: facula.stack([t, t], 1),
        "transposed": lambda t: t.T.contiguous(), "repeat": lambda t: t.repeat(2, 2), "roll": lambda t: t.roll(1, 1), "pad": lambda t: facula.constant_pad_nd(t, (1, 0)),
        "where": lambda t: facula.where(wide > 1, t, t[:1]), "diag": lambda t: facula.diag_embed(t), "select": lambda t: t.index_select(1, facula.tensor([1, 1])),
    }  # fmt: skip
    for how in moves.values():
        assert facula.equal(how(x).float(), how(wide))
    assert (x == x).all() and not (x != x).any() and (x == 1.5).sum() == 1
    assert x.itemsize == 1 and x.untyped_storage().nbytes() == 6 and x.storage().dtype is d
    for made in (facula.zeros(2, dtype=d), facula.ones(2, dtype=d), facula.full((2,), 1.5, dtype=d), facula.empty(2, dtype=d).fill_(2), x.new_zeros(2)):
        assert made.dtype is d
    x[0] = 2.0
    x[facula.tensor([1])] = 3.0
    x.index_put_((facula.tensor([0, 0]),), facula.ones(2, 3, dtype=d), accumulate=True)
    assert [[4.0] * 3, [3.0] * 3] == x.tolist()


REFUSED = {
    "add": lambda x: x + x, "neg": lambda x: -x, "sum": lambda x: x.sum(), "matmul": lambda x: x @ x, "sort": lambda x: x.sort(), "less": lambda x: x < x,
    "arange": lambda x: facula.arange(3, dtype=x.dtype), "linspace": lambda x: facula.linspace(0, 1, 3, dtype=x.dtype), "rand": lambda x: facula.rand(2, dtype=x.dtype),
    "randint": lambda x: facula.randint(0, 2, (2,), dtype=x.dtype), "gather": lambda x: x.gather(0, facula.tensor([0])), "cumsum": lambda x: x.cumsum(0),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", REFUSED)
def test_arithmetic_is_refused_by_name(name, what):
    with pytest.raises(NotImplementedError, match=name.capitalize() + "|" + name):
        REFUSED[what](facula.ones(2, dtype=getattr(facula, name)))


def test_no_other_dtype_holds_both():
    for other in (facula.float32, facula.int64, facula.complex64, facula.float8_e5m2):
        x, y = facula.ones(2, dtype=facula.float8_e4m3fn), facula.ones(2, dtype=other)
        for mixed in (lambda: facula.promote_types(x.dtype, other), lambda: facula.result_type(x, y), lambda: facula.cat([x, y]), lambda: x == y):
            with pytest.raises(RuntimeError, match="Float8 Types"):
                mixed()
    assert facula.promote_types(x.dtype, x.dtype) is facula.result_type(x, 1.5) is x.dtype
    with pytest.raises(RuntimeError, match="uint16, uint32"):
        facula.result_type(facula.ones(1, dtype=facula.uint16), facula.ones(1, dtype=facula.int32))


def test_what_no_code_holds_is_refused_where_a_number_is_given():
    for name, largest in (("float8_e4m3fn", 448), ("float8_e4m3fnuz", 240), ("float8_e5m2", 57344)):
        d = getattr(facula, name)
        assert [largest] == facula.full((1,), float(largest), dtype=d).tolist() and facula.finfo(d).max == largest
        with pytest.raises(RuntimeError, match="overflow"):
            facula.full((1,), largest + 1.0, dtype=d)


@pytest.mark.parametrize("name", NAMES)
def test_files_keep_them(name, tmp_path):
    x = of_codes(name).reshape(16, 16)
    file = io.BytesIO()
    facula.save({"x": x, "t": x.T}, file)
    file.seek(0)
    safetensors.save_file({"x": x}, tmp_path / "x.safetensors")

    loaded = facula.load(file)
    for again in (loaded["x"], loaded["t"].T, safetensors.load_file(tmp_path / "x.safetensors")["x"]):
        assert again.dtype is x.dtype and codes(again) == codes(x)


def test_their_names():
    d = facula.float8_e4m3fn
    assert ("f8e4m3fn", True, True, False, "torch.float8_e4m3fn") == (d.abbr, d.is_floating_point, d.is_signed, d.is_complex, repr(d))
    assert not facula.float8_e8m0fnu.is_signed and facula.ones(1, dtype=d).is_floating_point()
    assert "tensor([1.5000, 2.0000], dtype=torch.float8_e4m3fn)" == repr(facula.tensor([1.5, 2.0], dtype=d))
    with pytest.raises(TypeError, match="Float8_e4m3fn"):
        facula.ones(1, dtype=d).numpy()
    with pytest.raises(TypeError, match="default"):
        facula.set_default_dtype(d)
    with pytest.raises(RuntimeError, match="float8"):
        d.to_complex()
