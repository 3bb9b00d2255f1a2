"""`import torch` served by Facula. Where PyTorch is installed it is hidden with shadow=True, as a program would."""

import copy
import importlib.util
import os
import pickle
import subprocess
import sys
import textwrap

import facula
import facula.torch
import pytest
from facula.torch._check import names_in, report

REAL = importlib.util.find_spec("torch") is not None


def run(tmp_path, text, *arguments, options=()):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    options = [*options, *(["--shadow"] if REAL else [])]
    return subprocess.run(
        [sys.executable, "-m", "facula.torch", *options, str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )


def test_every_way_of_importing_gives_the_same_thing(served):
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch import nn as again
    from torch import optim
    from torch.nn import functional, Linear
    from torch.utils.data import DataLoader

    assert torch is served
    assert nn is again is torch.nn
    assert F is functional is nn.functional
    assert Linear is nn.Linear is facula.nn.Linear
    assert optim.SGD is facula.optim.SGD
    assert DataLoader is facula.utils.data.DataLoader
    assert torch.Tensor is facula.Tensor


def test_a_module_is_pickled_as_its_name(served):
    from torch import nn

    assert pickle.loads(pickle.dumps([served, nn])) == [served, nn]


def test_torchvision_is_facula_vision(served):
    import torchvision
    import torchvision.transforms as T
    from torchvision.datasets import MNIST

    from facula.vision import datasets, transforms

    assert (MNIST, T.ToTensor) == (datasets.MNIST, transforms.ToTensor)
    assert torchvision.transforms is T


def test_torch_names_itself(served):
    import torch.torch

    assert torch.torch is served
    assert torch.torch.Tensor is facula.Tensor
    import torch.torch.nn

    assert torch.torch.nn is served.nn


def test_star_import_brings_the_public_names(served):
    space = {}
    exec("from torch.utils.data import *", space)

    assert {"DataLoader", "TensorDataset"} <= set(space)


def test_the_version_names_the_reference(served):
    assert facula.torch.REFERENCE == served.__version__ == served.version.__version__
    assert served.version.cuda is None
    assert (2, 13) == tuple(int(n) for n in served.__version__.split(".")[:2])


def test_there_is_no_gpu_and_programs_can_ask(served):
    assert served.cuda.is_available() is False
    assert 0 == served.cuda.device_count()
    served.backends.cudnn.benchmark = True
    assert served.backends.cudnn.benchmark
    assert not served.backends.mps.is_available()


def test_compile_wraps_the_module_as_it_is_and_says_so(served, monkeypatch):
    monkeypatch.setattr("facula.torch._names._told", set())
    module = served.nn.Linear(2, 2)

    with pytest.warns(UserWarning, match="as it is"):
        wrapped = served.compile(module, mode="max-autotune")
    assert isinstance(wrapped, served._dynamo.OptimizedModule) and module is wrapped._orig_mod
    assert served.compile(wrapped) is wrapped
    assert ["_orig_mod.weight", "_orig_mod.bias"] == list(wrapped.state_dict())
    wrapped.eval().note = 3
    assert 3 == module.note == wrapped.note and not module.training
    assert wrapped.weight is module.weight and wrapped.in_features == 2
    assert served.equal(module(served.ones(2)), copy.deepcopy(wrapped)(served.ones(2)))

    @served.compile(fullgraph=True)
    def twice(x):
        return 2 * x

    assert 4 == twice(2)
    with pytest.raises(TypeError):
        served.compile(3)


def test_precision_is_checked_and_remembered(served):
    served.set_float32_matmul_precision("high")

    assert "high" == served.get_float32_matmul_precision()
    with pytest.warns(UserWarning, match="'fast'"):
        served.set_float32_matmul_precision("fast")

    assert "high" == served.get_float32_matmul_precision()


def test_nothing_is_left_behind():
    before = {
        name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("torch", "torchvision")
    }
    finders = list(sys.meta_path)
    with facula.torch.enabled(shadow=True):
        with facula.torch.enabled(shadow=True):
            import torch.nn.functional  # noqa: F401
        import torch

        assert torch.Tensor is facula.Tensor
    after = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("torch", "torchvision")}

    assert before == after
    assert finders == sys.meta_path


def test_layers_call_and_draw_with_what_a_program_puts_in_their_place():
    seen = []

    with facula.torch.enabled(shadow=True):
        import torch

        relu = torch.nn.functional.relu
        torch.nn.init.kaiming_uniform_ = torch.nn.init.uniform_ = lambda tensor, *args, **options: seen.append(tuple(tensor.shape))
        torch.nn.functional.relu = lambda *args, **options: (seen.append("relu"), relu(*args, **options))[1]
        torch.nn.Linear(2, 3)
        torch.nn.ReLU()(torch.ones(2))
        drawn = torch.nn.init.xavier_uniform_(torch.zeros(2, 2))
        torch.nn.init.xavier_uniform_ = lambda tensor: seen.append("xavier")
        torch.nn.MultiheadAttention(2, 1)

    assert [(3, 2), (3,), "relu", (2, 2), (2,), "xavier"] == seen
    assert drawn.any()
    assert facula.nn.Linear(2, 3).weight.abs().sum() > 0
    assert 6 == len(seen)


def test_an_exception_ends_the_block_too():
    with pytest.raises(ZeroDivisionError):
        with facula.torch.enabled(shadow=True):
            1 / 0

    assert not any(type(finder).__module__.startswith("facula.torch") for finder in sys.meta_path)


def test_an_installed_torch_is_not_hidden_unasked(tmp_path, monkeypatch):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(RuntimeError, match="--shadow"):
        with facula.torch.enabled():
            pass


def test_a_missing_name_says_what_who_and_what_is_near(served):
    with pytest.raises(AttributeError) as caught:
        served.nn.Linaer  # noqa: B018

    for fact in ("torch.nn.Linaer", "torch.nn.Linear", "test_torch.py"):
        assert fact in str(caught.value)


@pytest.mark.parametrize(
    "statement,fact",
    [
        ("from torch.nn import Linaer", "torch.nn.Linear"),
        ("from torch import nonsuch", "torch.nonsuch"),
        ("import torch.nonsuch.deep", "torch.nonsuch"),
        ("from torch.optim import Adaam", "torch.optim.Adam"),
    ],
)
def test_a_missing_import_says_what_and_what_is_near(served, statement, fact):
    with pytest.raises(ImportError) as caught:
        exec(statement, {})

    assert fact in str(caught.value)


@pytest.mark.parametrize("statement", ["import torch.nonsuch", "import torch.nn.nonsuch.deep", "from torchvision.models.utils import one"])
def test_a_module_that_is_not_there_is_told_from_a_name(served, statement):
    with pytest.raises(ModuleNotFoundError):
        exec(statement, {})
    with pytest.raises(ImportError) as caught:
        exec("from torch.nn import nonsuch", {})

    assert caught.type is ImportError


def test_asking_whether_a_name_is_there_works(served):
    assert not hasattr(served, "nonsuch")
    assert hasattr(served, "zeros")
    with pytest.raises(ImportError):
        import torch._inductor  # noqa: F401


def test_a_program_runs_as_main_with_its_arguments(tmp_path):
    done = run(
        tmp_path,
        """
        import sys, torch
        import torch.nn.functional as F
        import helper
        if __name__ == "__main__":
            print(sys.argv[1:], F.relu(torch.tensor([-1.0, 2.0])).tolist(), helper.name)
        """
        if (tmp_path / "helper.py").write_text("import torch\nname = torch.__name__")
        else "",
        "--lr",
        "3",
    )

    assert "['--lr', '3'] [0.0, 2.0] torch\n" == done.stdout, done.stderr


def test_a_program_that_fails_shows_its_own_line(tmp_path):
    done = run(tmp_path, "import torch\ntorch.nonsuch()\n")

    assert 1 == done.returncode
    assert "torch.nonsuch: not in Facula" in done.stderr
    assert "program.py:2" in done.stderr


def test_a_missing_program_is_an_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "facula.torch"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )

    assert 2 == done.returncode
    assert "give a program" in done.stderr


PROGRAM = """
import torch, os
import torch.nn as nn
from torch import optim as o, Tensor
import torch.nn.functional as F
import torchvision.transforms
N = nn
class Net(nn.Module):
    layer = N.Linear(2, 3)
def f(x: Tensor):
    return F.relu(x).nonsuch + torch.Tensor.add(x, x) + os.sep
optimizer = o.Adam
G = torch.nn.functional
G.gelu
torch.nn.Linaer
"""


def test_check_follows_aliases_and_imports(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)

    names = {use.name for use in names_in(path)}

    assert {
        "torch", "torch.nn", "torch.optim", "torch.Tensor", "torch.nn.functional", "torchvision.transforms", "torch.nn.Module",
        "torch.nn.Linear", "torch.nn.functional.relu", "torch.Tensor.add", "torch.optim.Adam", "torch.nn.functional.gelu",
        "torch.nn.Linaer",
    } == names  # fmt: skip


def test_check_lists_what_is_there_and_what_is_missing(tmp_path, capsys):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "program.py").write_text(PROGRAM)

    assert 1 == report(str(tmp_path))
    out = capsys.readouterr().out
    lines = {line.split()[0 if not line.startswith("-") else 1]: line for line in out.splitlines()}
    assert "facula-nn" in lines["torch.nn.Linear"]
    assert "facula-optim" in lines["torch.optim.Adam"]
    assert "facula-vision" in lines["torchvision.transforms"]
    assert "missing" in lines["torch.nn.Linaer"]
    assert "program.py:15" in lines["torch.nn.Linaer"]
    assert "near it: torch.nn.Linear" in out
    assert "12 of 13 names" in out


def test_check_says_what_it_cannot_read(tmp_path, capsys):
    path = tmp_path / "broken.py"
    path.write_text("def (")

    assert 2 == report(str(path))
    assert "broken.py" in capsys.readouterr().err


LIBRARY = """
import torch
from torch import nn
try:
    from torch.somewhere import thing
except ImportError:
    thing = None
if hasattr(torch, "fast"):
    relu = torch.fast
else:
    relu = torch.relu
def f(x):
    return x if TYPE_CHECKING else torch.absent(x)
def g(x):
    try:
        return nn.functional.gone(x)
    except ValueError:
        return torch.fast(x)
def h(x):
    try:
        return torch.newer(x)
    except AttributeError:
        return torch.relu(x)
"""


def test_an_installed_library_is_swept_without_being_imported(tmp_path, capsys, monkeypatch):
    library = tmp_path / "swept_library"
    (library / "deep").mkdir(parents=True)
    (library / "__init__.py").write_text("raise SystemExit('imported')")
    (library / "deep" / "module.py").write_text(LIBRARY)
    (library / "deep" / "template.py").write_text("{{ no Python }")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert 1 == report("swept_library", missing_only=True)
    out, err = capsys.readouterr()
    needed = [line.split()[1] for line in out.splitlines() if line.startswith("-") and "guarded" not in line]
    guarded = [line.split()[1] for line in out.splitlines() if line.startswith("-") and "guarded" in line]
    assert ["torch.fast", "torch.nn.functional.gone"] == needed
    assert ["torch.absent", "torch.newer", "torch.somewhere.thing"] == guarded
    assert "template.py" in err and "2 files read" in out
    assert "torch.relu" not in out


def test_a_library_that_needs_nothing_more_is_no_failure(tmp_path, capsys):
    (tmp_path / "module.py").write_text("import torch\ntry:\n    torch.newer\nexcept AttributeError:\n    pass\n")

    assert 0 == report(str(tmp_path))
    assert 2 == report("no_such_library_anywhere")


def test_a_traced_network_loses_its_norms_and_dropouts(served):
    from torch.fx.experimental.optimization import extract_subgraph, fuse, remove_dropout

    nn = served.nn
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(), nn.Conv2d(2, 1, 1), nn.BatchNorm2d(1, track_running_stats=False)).eval()
    net[1].running_mean.fill_(0.5)
    x = served.rand(2, 1, 5, 5)
    shorter = fuse(net)

    assert ["0", "2", "3", "4"] == [n.target for n in shorter.graph.nodes if n.op == "call_module"]
    served.testing.assert_close(net(x), shorter(x))
    assert type(net[1]) is nn.BatchNorm2d
    assert ["0", "3", "4"] == [n.target for n in remove_dropout(shorter).graph.nodes if n.op == "call_module"]
    first, second = list(shorter.graph.nodes)[:2]
    (alone,) = extract_subgraph(shorter, [second], [first], [second])(x)
    assert served.equal(shorter.get_submodule("0")(x), alone)


def test_what_libraries_ask_of_the_references_internals(served):
    from torch._subclasses.fake_tensor import is_fake
    from torch.fx.experimental.proxy_tensor import get_proxy_mode
    from torch.hub import HASH_REGEX, urlparse
    from torch.jit.annotations import List  # noqa: F401
    from torch.utils.hooks import RemovableHandle  # noqa: F401

    assert (False, None, None) == (is_fake(served.ones(1)), get_proxy_mode(), served._C._log_api_usage_once("x"))
    assert served.onnx.is_in_onnx_export() is False
    active = served._C._are_functorch_transforms_active
    seen = []
    served.func.vmap(lambda x: seen.append(active()) or x)(served.ones(2))
    assert ([True], False) == (seen, active())
    assert not isinstance(3, (served.SymInt, served.SymFloat, served.SymBool))
    assert ("1a2b3c4d", "/net.pth") == (HASH_REGEX.search("net-1a2b3c4d.pth")[1], urlparse("http://a/net.pth").path)
    assert [2, 3] == served._shape_as_tensor(served.ones(2, 3)).tolist()
    with pytest.raises(RuntimeError, match="no symbolic tracer"):
        served.SymInt(3)


@pytest.mark.parametrize(
    "call,error,text",
    [
        (lambda t: t._assert_async(t.tensor(0.0), "zero found"), RuntimeError, "zero found"),
        (lambda t: t._assert_async(t.tensor(False)), RuntimeError, "nonzero value, but got zero"),
        (lambda t: t._check(False, lambda: "said later"), RuntimeError, "said later"),
        (lambda t: t._check(1), TypeError, "cond must be a bool, but got <class 'int'>"),
        (lambda t: t._check_value(False), ValueError, "Expected cond to be True"),
        (lambda t: t._check_index(False), IndexError, "Expected cond to be True"),
        (lambda t: t._check_type(False), TypeError, "Expected cond to be True"),
    ],
)
def test_checks_raise_what_the_references_raise(served, call, error, text):
    served._check(True), served._assert_async(served.tensor(2.0))
    with pytest.raises(error, match=text):
        call(served)


def test_dtypes_that_no_tensor_has_are_names(served):
    import copy

    names = served.complex32, served.quint8, served.qint8
    assert all(isinstance(n, served.dtype) for n in names) and type(names[0]) is not served.dtype
    assert ["torch.complex32", "torch.quint8", "torch.qint8"] == [repr(n) for n in names]
    assert served.chalf is served.complex32 is copy.deepcopy(served.complex32)
    assert served.ones(1).dtype not in names
    assert (False, True, 4) == (served.complex32.is_floating_point, served.complex32.is_complex, served.complex32.itemsize)
    for use in (lambda: served.empty(1, dtype=served.complex32), lambda: served.ones(1).to(served.complex32)):
        with pytest.raises(TypeError):
            use()


def test_files_of_pytorch_under_their_other_names(served):
    from torch.autograd.profiler_util import EventList
    from torch.cuda.memory import memory_allocated
    from torch.types import FileLike, Storage

    x = served.ones(2, requires_grad=True)
    assert served.masked._ops.sum is served.masked.sum and EventList and FileLike and isinstance(x.untyped_storage(), Storage) and 0 == memory_allocated()
    assert (x * 2).grad_fn.requires_grad and (x * 2).grad_fn.next_functions[0][0].requires_grad
    assert [1.0, 1.0] == x.detach().storage().float8_e5m2().tolist()
