"""Which dtypes a function takes, and of what dtype its result is, beside PyTorch: every public function that both have, called with one,
two and three tensors of each dtype.

A call with so many tensors is looked at where both libraries answer it for some dtype; the rest says nothing about dtypes.
"""

import warnings

import facula
import facula.nn.functional
import pytest

torch = pytest.importorskip("torch")

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()  # uint16 and its like have arithmetic here
PLACES = {"": lambda t: t, "special.": lambda t: t.special, "nn.functional.": lambda t: t.nn.functional, "Tensor.": lambda t: t.Tensor}
OTHERWISE = (  # no functions of tensors' values, or of chance alone
    "_", "as_tensor", "autocast", "compile", "cudnn", "fake_quant", "fbgemm", "get_", "inference", "initial_seed", "load", "manual_seed", "map_", "mkldnn",
    "quantize", "rand", "save", "seed", "set_", "share_memory", "use_det", "apply_", "sparse_", "register_", "new_", "empty", "resize", "type",
)  # fmt: skip

WHOLE = "integers are whole: nothing is to be rounded, as in facula.round"
COMPLEX32 = "complex32 is not a dtype here"
KNOWN = {
    ("special.round", 1): WHOLE,
    ("complex", 2): COMPLEX32,
    ("nn.functional.soft_margin_loss", 2): "a loss of complex numbers is refused",
}


def functions():
    for place, of in PLACES.items():
        for name in sorted(dir(of(torch))):
            theirs, ours = getattr(of(torch), name, None), getattr(of(facula), name, None)
            if not name.startswith(OTHERWISE) and callable(theirs) and callable(ours) and not isinstance(theirs, type):
                yield place + name


def answer(t, name, arity, dtype):
    """The name of the result's dtype, or None for a refusal."""
    *place, name = name.rsplit(".", 1)
    function = getattr(PLACES["".join(f"{p}." for p in place)](t), name)
    operands = [t.tensor([1] * 4 if dtype == "bool" else [1, 2, 3, 4]).to(getattr(t, dtype)) for _ in range(arity)]
    try:
        result = function(*operands)
    except Exception:
        return None
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    return str(getattr(result, "dtype", type(result).__name__)).split(".")[-1]


def differences(name, arity):
    answers = {d: (answer(torch, name, arity, d), answer(facula, name, arity, d)) for d in DTYPES}
    if not all(any(pair) for pair in zip(*answers.values())):
        return {}
    return {d: pair for d, pair in answers.items() if pair[0] != pair[1]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES)
def test_functions_take_the_dtypes_that_pytorchs_take(place):
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in functions():
            if name.startswith(place) and ("." in name) == bool(place):
                found |= {(name, k): d for k in (1, 2, 3) if (d := differences(name, k))}
    surprising = {key: d for key, d in found.items() if key not in KNOWN}
    gone = [key for key in KNOWN if key[0].startswith(place) and ("." in key[0]) == bool(place) and key not in found]

    assert not surprising, "\n".join(f"{name} of {k} tensors (PyTorch, here): {d}" for (name, k), d in surprising.items())
    assert not gone, f"no longer different: {gone}"
