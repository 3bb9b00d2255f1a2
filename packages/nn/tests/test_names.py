"""Every public class and function of torch.nn is here, under its name and with its signature. Needs PyTorch to compare with."""

import importlib
import inspect
import warnings

import pytest
from backend import torch

other = pytest.importorskip("torch")
if torch is other:
    pytest.skip("PyTorch has PyTorch's names", allow_module_level=True)

PATHS = """
nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.prune nn.utils.parametrize nn.utils.parametrizations nn.utils.stateless
nn.utils.fusion nn.utils.clip_grad nn.utils.convert_parameters nn.utils.memory_format nn.parameter nn.parallel nn.attention
nn.attention.bias nn.modules nn.modules.module nn.modules.utils nn.modules.batchnorm nn.modules.conv nn.modules.loss nn.grad
""".split()

# names that are no part of the interface, or belong to devices and formats that are not here
ABSENT = {
    "nn": {"factory_kwargs"},
    "nn.functional": {"ScalingType", "SwizzleType", "assert_int_or_pair", "scaled_grouped_mm", "scaled_mm"},  # quantised products
    "nn.utils.rnn": {"PackedSequence_", "bind"},
    "nn.utils.stateless": {"NamedMemberAccessor"},
    "nn.parallel": {"DistributedDataParallelCPU"},
    "nn.attention": {n + "_flash_attention_impl" for n in ("activate", "current", "register", "restore")} | {"list_flash_attention_impls"},
}
# attributes of a class: helpers of PyTorch's own forward, and devices
MEMBERS = {
    "ipu", "mtia", "xpu", "call_super_init", "dump_patches", "T_destination", "gather", "parallel_apply", "replicate", "scatter", "merge_masks",
    "check_forward_args", "check_hidden_size", "check_input", "get_expected_hidden_size", "get_expected_cell_size", "permute_hidden", "name", "value",
}  # fmt: skip


def module(root, path):
    try:
        return importlib.import_module(f"{root.__name__}.{path}")
    except ModuleNotFoundError:
        found = root
        for part in path.split("."):
            found = getattr(found, part)
        return found


def names(path):
    """The classes and functions of torch's own that `path` offers."""
    home = module(other, path)
    listed = getattr(home, "__all__", None) if path in ("nn.attention", "nn.attention.bias", "nn.modules", "nn.modules.batchnorm") else None
    for name in sorted(listed or dir(home)):
        value = getattr(home, name, None)
        if name.startswith("_") or not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        maker = getattr(value, "__module__", None) or ""
        if (maker.startswith("torch.nn") or maker in ("torch", "torch._C._nn")) and name not in ("Tensor", "device", "dtype", "T_co"):
            yield name


def parameters(f):
    """(name, kind, default) of each parameter, None where PyTorch does not say."""
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in found) and len(found) <= 3:
        return None  # (*args, **kwargs): dispatch by hand
    plain = (int, float, str, bool, type(None), tuple)
    return [(p.name, p.kind, p.default if isinstance(p.default, plain) or p.default is p.empty else "...") for p in found]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", PATHS)
def test_every_name_is_here(path):
    here = module(torch, path)

    assert [] == [n for n in names(path) if n not in ABSENT.get(path, ()) and not hasattr(here, n)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", PATHS)
def test_signatures_are_pytorchs(path):
    here, there = module(torch, path), module(other, path)
    differ = {}
    for name in names(path):  # DistributedDataParallel's arguments about messages between GPUs have no meaning here
        theirs, ours = getattr(there, name), getattr(here, name, None)
        if ours is None or name == "DistributedDataParallel" or (inspect.isclass(theirs) and issubclass(theirs, (other.Tensor, tuple))):
            continue
        pair = [parameters(x.__init__ if inspect.isclass(theirs) else x) for x in (theirs, ours)]
        if None not in pair and pair[0] != pair[1]:
            differ[name] = pair

    assert {} == differ


@pytest.mark.filterwarnings("ignore")
def test_modules_have_pytorchs_methods():
    differ = {}
    for name in names("nn"):
        theirs, ours = getattr(other.nn, name), getattr(torch.nn, name, None)
        if not inspect.isclass(theirs) or not issubclass(theirs, other.nn.Module) or ours is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for method in vars(theirs):
                if method.startswith("_") or method in MEMBERS or not callable(getattr(theirs, method)):
                    continue
                pair = [parameters(getattr(c, method, None)) for c in (theirs, ours)]
                if not hasattr(ours, method) or (None not in pair and pair[0] != pair[1]):
                    differ[f"{name}.{method}"] = pair

    assert {} == differ


def test_old_names_and_positions_warn():
    with pytest.warns(FutureWarning, match="NLLLoss"):
        torch.nn.NLLLoss2d()
    with pytest.warns(FutureWarning, match="destination="):
        assert ["a.weight"] == list(torch.nn.Linear(1, 1, bias=False).state_dict({}, "a."))
