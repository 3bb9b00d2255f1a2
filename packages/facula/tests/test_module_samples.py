"""Every module beside PyTorch's, over PyTorch's own samples of it (ModuleInfo) and lines for the rest: state, text, values, gradients, copies, layouts.

A few samples each, in every way for float64 and called alone for the other dtypes; FACULA_MODULE_SAMPLES=40 looks at that many in every way.
What differs stands in KNOWN, held exactly.
"""

import os

import pytest

pytest.importorskip("torch.testing._internal.common_modules")

import torch  # noqa: E402 - without PyTorch there is nothing to import it for
from known_differences import assert_only_known_differ  # noqa: E402
from module_compare import of_entry  # noqa: E402
from module_samples import entries  # noqa: E402
from operator_samples import DTYPES  # noqa: E402

ENTRIES = entries()
MOST = int(os.environ.get("FACULA_MODULE_SAMPLES", 0))
OTHERS = [d for d in DTYPES if d not in (torch.float64, torch.complex128)]

REFUSED = "PyTorch refuses gradients of its own result in channels last"
KNOWN = {
    "NLLLoss": {"channels last input gradient answers": REFUSED, "channels last both gradient answers": REFUSED},
}


def found(entry, known):
    """kind -> its first text; every sample where some are known to differ."""
    most = MOST or (28 if known else 2)
    kinds = {}
    for wide, dtypes in ((True, DTYPES if MOST else (torch.float64, torch.complex128)), (False, OTHERS)):
        for kind, text in of_entry(entry, dtypes, most, wide):
            kinds.setdefault(kind, text)
    return kinds


@pytest.mark.usefixtures("one_thread_of_pytorch")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENTRIES)
def test_module_is_like_pytorchs(name):
    known = KNOWN.get(name, {})
    kinds = found(ENTRIES[name], known)

    assert_only_known_differ(kinds, known)


def test_every_module_class_of_pytorch_is_here_and_has_an_entry():
    lines = {line.split("(")[0] for line in ENTRIES}
    abstract = {"Module", "Container", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "NLLLoss2d", "RNNBase", "RNNCellBase", "DataParallel"}
    classes = {n for n in dir(torch.nn) if isinstance(getattr(torch.nn, n), type) and issubclass(getattr(torch.nn, n), torch.nn.Module)}

    assert not classes - abstract - lines
