"""The arguments of PyTorch's functions and classes are taken here under the same names, in the same places, with the same defaults.

Read off both signatures. What takes *args or **options here says nothing that way: test_operator_keywords.py calls it. torch.nn's: packages/nn/tests.
"""

import importlib
import inspect

import pytest

torch = pytest.importorskip("torch")

import facula  # noqa: E402
from known_differences import assert_only_known_differ  # noqa: E402
from signature_forms import REQUIRED, UNSAID, forms  # noqa: E402

NAMESPACES = """
torch Tensor linalg fft special signal.windows masked random amp hub sparse optim optim.lr_scheduler optim.swa_utils utils.data utils.checkpoint
autograd autograd.functional func distributions distributions.kl distributions.constraints distributions.transforms testing
""".split()
PLAIN = (int, float, str, bool, tuple, type(None))  # defaults that can be compared

OLDER = "an older order of arguments, which the function sorts out"
EITHER = "one argument of several kinds, which PyTorch names after the kind"
STUB = "PyTorch's stub differs from PyTorch, or tells of an overload"
NEVER = "what it chooses is not here"
BY_PLACE = "arguments by position"
SAFE = "reads data only, unless it is told to unpickle"
GIVEN = "refused beside another argument, even as what it is without"
YET = "not taken yet"
NAMED_X = "PyTorch's documentation says input, its parser takes x"
KNOWN = {
    **{f"torch.{n}Storage": NEVER for n in "BFloat16 Bool Byte Char ComplexDouble ComplexFloat Double Float Half Int Long Short".split()},
    **{f"torch.{n}": NEVER for n in ("addmm", "baddbmm", "bmm", "mm")},  # out_dtype: of products on GPUs
    **{f"torch.{n}": OLDER for n in ("add", "addcdiv", "addcmul", "sub", "subtract")},
    **{f"torch.{n}": EITHER for n in ("dsplit", "hsplit", "isin", "result_type", "tensor_split", "vsplit")},
    **{f"torch.{n}_loss": STUB for n in ("cosine_embedding", "ctc", "hinge_embedding", "margin_ranking", "triplet_margin")},
    **{f"torch.{n}": STUB for n in ("binary_cross_entropy_with_logits", "full", "gradient", "kl_div", "linspace", "logspace", "range", "set_num_threads")},
    **{f"torch.conv{n}d": STUB for n in (1, 2, 3)},
    **{f"torch.{n}": BY_PLACE for n in ("Size", "detach", "detach_", "hsmm")},
    "torch.lobpcg": YET,
    **{f"torch.{n}": GIVEN for n in ("max", "min", "std", "std_mean", "var", "var_mean")},
    **{f"special.{s}chebyshev_polynomial_{n}": NAMED_X for s in ("", "shifted_") for n in "tuvw"},
    **{f"special.{n}_polynomial_{k}": NAMED_X for n, k in (("hermite", "h"), ("hermite", "he"), ("laguerre", "l"), ("legendre", "p"))},
    **{f"special.{n}": NAMED_X for n in ("airy_ai", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0")},
    "Tensor.index": STUB,
    **{f"Tensor.{n}": GIVEN for n in ("max", "min", "std", "var")},
    "Tensor.new": STUB,
    "Tensor.requires_grad_": STUB,
    "Tensor.to": STUB,
    "Tensor.subtract": OLDER,
    "Tensor.subtract_": OLDER,
    "Tensor.tensor_split": EITHER,
    "hub.load_state_dict_from_url": SAFE,
    "utils.checkpoint.SelectiveCheckpointContext": YET,
}


def found_in(root, path):
    found = root
    for part in path.split(".") if path != "torch" else ():
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(f"{found.__name__}.{part}")
    return found


def differences(form, parameters):
    """What a form of PyTorch's says that our parameters do not."""
    by_name = {p.name: p for p in parameters}
    for p in form:
        if p.many or p.name == "self" or p.name.startswith("_"):
            continue
        if p.name not in by_name:
            yield f"lacks {p.name}"
        elif p.default is not REQUIRED and p.default is not UNSAID and unequal(p.default, by_name[p.name].default):
            yield f"{p.name}={by_name[p.name].default} for {p.default}"


def unequal(theirs, ours):
    """Two defaults; those that no text shows are equal. PyTorch's stubs write () for no dims."""
    return isinstance(theirs, PLAIN) and theirs != () and (theirs != ours or isinstance(theirs, bool) is not isinstance(ours, bool))


def misplaced(all_forms, parameters):
    """Parameters that PyTorch has in another place, in all of its forms that reach as far: of overloads one has ours."""
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    for k, p in enumerate(p for p in parameters if p.kind is not p.KEYWORD_ONLY):
        names = {form[k].name for form in all_forms if k < len(form) and not form[k].keyword and not form[k].name.startswith("_")}
        if names and p.name not in names and "self" not in names and not any(p.many for form in all_forms for p in form):
            yield f"{p.name} in the place of {' or '.join(sorted(names))}"


def compared(namespace):
    """name -> what differs, of every name that both have."""
    theirs, ours = found_in(torch, namespace), found_in(facula, namespace)
    prefix = "" if namespace == "torch" else namespace + "."
    for name in sorted(n for n in dir(theirs) if not n.startswith("_") and callable(getattr(theirs, n))):
        try:
            parameters = list(inspect.signature(getattr(ours, name)).parameters.values())
        except (AttributeError, ImportError, TypeError, ValueError):
            continue  # missing: tests/test_coverage.py's business; or without a signature
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            continue
        found = forms(prefix, name, getattr(theirs, name))
        texts = [t for form in found for t in differences(form, parameters)] + list(misplaced(found, parameters))
        if texts:
            yield f"{namespace}.{name}", "; ".join(dict.fromkeys(texts))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_signatures_are_pytorchs(namespace):
    assert_only_known_differ(dict(compared(namespace)), {n: why for n, why in KNOWN.items() if n.rpartition(".")[0] == namespace})
