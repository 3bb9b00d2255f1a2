"""Every optimizer beside PyTorch's, over PyTorch's own inputs (OptimizerInfo): steps, state, state_dicts both ways, copies, refusals, sparse gradients.

A few options of each; FACULA_OPTIMIZER_SAMPLES=1 takes all, in every dtype and with every choice of implementation.
"""

import itertools
import os

import pytest

pytest.importorskip("torch.testing._internal.common_optimizers")

import optimizer_compare as compare  # noqa: E402 - without PyTorch there is nothing to import it for
import torch  # noqa: E402
from known_differences import assert_only_known_differ  # noqa: E402

ENTRIES = compare.entries()
ALL = bool(os.environ.get("FACULA_OPTIMIZER_SAMPLES"))
DTYPES = (torch.float64, torch.float32, torch.complex128, torch.bfloat16)
TWICE = "PyTorch's second step overwrites what backward needs; here each step's state is a copy"
WIDE = "the numbers that PyTorch rounds to a half parameter's dtype when it loads them stay float32"
KNOWN = {
    "Adam": {"differentiable answers": TWICE},
    "AdamW": {"differentiable answers": TWICE},
    "ASGD": {"loaded state dtype": WIDE},
    "Adamax": {"differentiable answers": TWICE},
    "NAdam": {"loaded state dtype": WIDE},
    "RMSprop": {"differentiable answers": TWICE},
    "Rprop": {"differentiable answers": TWICE},
}


def quick(info):
    """Every option once, dtypes and implementations in turn."""
    yield from compare.of_errors(info) if info.optim_error_inputs_func else ()
    ways = itertools.cycle(itertools.product(compare.IMPLS, DTYPES))
    sparse = info.only_supports_sparse_grads
    for options in compare.inputs(info):
        yield from compare.of_options(info, options, torch.float64, sparse)
        impl, dtype = next(ways)
        if info.step_requires_closure:  # which goes on until rounding is all that is left
            continue
        yield from compare.of_options(info, options | impl, dtype, sparse, 3)
        yield from compare.of_options(info, options, torch.float32, not sparse, 2)
    if not info.step_requires_closure:
        yield from compare.of_options(info, {}, torch.bfloat16, sparse)
    for options in compare.inputs(info):
        yield from compare.of_differentiable(info, options, torch.float64)


@pytest.mark.usefixtures("one_thread_of_pytorch")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_optimizer_is_like_pytorchs(name):
    info = ENTRIES[name]
    found, known = {}, KNOWN.get(name, {})
    for kind, text in compare.of_entry(info, DTYPES) if ALL else quick(info):
        found.setdefault(kind, text)

    assert_only_known_differ(found, known)
