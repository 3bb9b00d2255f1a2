"""Nothing stands in the tree that nothing names: a private function or class is named where it is defined, and somewhere else."""

import ast
import re
from collections import Counter

from tree import PARTS, ROOT, modules

# private names of PyTorch's that libraries ask for, and Python's own hooks
THEIRS = {
    "_coalesced_", "_cur_sdpa_kernel_backends", "_found_inf_per_device", "_get_qualified_name", "_list_flatten_with_keys", "_missing_", "_replicate_for_data_parallel", "_set_fwd_grad_enabled",
}  # fmt: skip


def private(path):
    """The private functions and classes of a file, but those that a decorator registers."""
    tree = ast.parse(path.read_text())
    return [n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and re.match("_(?!_)", n.name) and not n.decorator_list]


def statuses():
    """What C's calls end with, read from the source: nothing of Facula is installed here."""
    tree = ast.parse((ROOT / "packages/tensor-core/src/facula/tensor_core/_errors.py").read_text())
    return next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "STATUS")


def test_every_private_name_is_used():
    sources = [path for part in PARTS for path, name in modules(part) if not name.startswith("facula.torch.")]  # whose names are PyTorch's
    named = Counter(word for path in ROOT.glob("packages/**/*.py") for word in re.findall(r"\b_\w+", path.read_text()))
    named.update("_" + status for status in statuses())  # each has a function of that name

    unused = [f"{path.relative_to(ROOT)}: {name}" for path in sources for name in private(path) if named[name] < 2 and name not in THEIRS]

    assert [] == unused
