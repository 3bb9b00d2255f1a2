"""Where programs see classes defined, and what a whole module pickled by them names: PyTorch's files, so that PyTorch reads it."""

import io
import pickle
import pickletools
import zipfile

import facula
import facula.torch
import pytest


def globals_of(blob: bytes) -> set[str]:
    """The names in the pickle of a checkpoint."""
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        data = archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))
    return {argument for op, argument, _ in pickletools.genops(data) if op.name == "GLOBAL"}


def saved(torch, obj) -> bytes:
    file = io.BytesIO()
    torch.save(obj, file)
    return file.getvalue()


def zoo(torch):
    """Modules of every sort that a file has to carry."""
    from torch import nn

    return nn.ModuleList([
        nn.Linear(2, 3), nn.BatchNorm1d(3), nn.InstanceNorm1d(3), nn.Conv1d(1, 1, 3, padding=1, padding_mode="circular"), nn.PixelShuffle(2),
        nn.LSTM(3, 3, 2, bidirectional=True), nn.GRU(3, 2, bias=False), nn.MultiheadAttention(4, 2), nn.TransformerEncoderLayer(8, 2),
        nn.Embedding(3, 2), nn.ParameterList([torch.zeros(2)]), nn.Sequential(nn.ConvTranspose2d(1, 1, 2), nn.LayerNorm(3), nn.Flatten()),
    ])  # fmt: skip


def test_types_tell_pytorchs_files_while_the_program_runs():
    with facula.torch.enabled(shadow=True) as torch:
        assert "<class 'torch.nn.modules.linear.Linear'>" == str(torch.nn.Linear)
        assert "torch.nn.modules.batchnorm" == torch.nn.BatchNorm2d.__module__
        assert "torch.optim.lr_scheduler" == torch.optim.lr_scheduler.StepLR.__module__
        assert "torch.distributions.normal" == torch.distributions.Normal.__module__

    assert "facula.nn.linear" == facula.nn.Linear.__module__


def test_a_class_is_where_it_says_that_it_is(served):
    import importlib

    for name in ("torch.nn", "torch.optim", "torch.optim.lr_scheduler", "torch.distributions", "torch.utils.data", "torch.nn.utils.prune"):
        for kind in list(vars(importlib.import_module(name)).values()):
            if isinstance(kind, type) and kind.__module__.startswith("torch."):
                assert kind is getattr(importlib.import_module(kind.__module__), kind.__qualname__)


def test_annotations_are_read_where_they_were_written(served):
    import typing

    for kind in (served.nn.Module, served.nn.LSTM, served.optim.Adam, served.distributions.Normal, served.utils.data.DataLoader):
        assert not [said for said in typing.get_type_hints(type("Mine", (kind,), {})).values() if isinstance(said, str)]


def test_a_whole_module_names_nothing_of_ours(served):
    optimizer = served.optim.AdamW([served.zeros(1, requires_grad=True)])
    blob = saved(served, [zoo(served), optimizer, served.optim.lr_scheduler.StepLR(optimizer, 3), served.relu, served.nn.functional.gelu])

    assert not [name for name in globals_of(blob) if "facula" in name]
    assert {"torch.nn.modules.linear Linear", "torch.nn.functional relu", "torch.optim.adamw AdamW", "torch relu"} <= globals_of(blob)


def test_pickle_itself_names_pytorchs_files(served):
    layer = served.nn.Linear(2, 1)

    assert b"torch.nn.modules.linear" in pickle.dumps(layer)
    assert str(layer) == str(pickle.loads(pickle.dumps(layer)))


def test_facula_alone_reads_the_whole_module_of_a_program():
    with facula.torch.enabled(shadow=True) as torch:
        torch.manual_seed(0)
        module = zoo(torch)
        blob = saved(torch, [module, torch.distributions.Normal(torch.zeros(2), 1.0)])
    again, normal = facula.load(io.BytesIO(blob), weights_only=False)

    x = facula.ones(1, 4, 3)
    assert isinstance(again[5], facula.nn.LSTM) and isinstance(normal, facula.distributions.Normal)
    assert module[5](x)[0].tolist() == again[5](x)[0].tolist()


REAL = """
import sys, torch
modules, optimizer, scheduler, functions = torch.load(sys.argv[1], weights_only=False)
x = torch.ones(1, 4, 3)
modules.eval()
print(modules)
print(modules[0](x[..., :2]).sum().item(), modules[3](x[:, :1]).sum().item(), modules[5](x)[0].sum().item(), modules[6](x)[0].sum().item(), modules[8](torch.ones(1, 2, 8)).sum().item())
optimizer.step(), scheduler.step()
print(scheduler.get_last_lr(), [f(torch.tensor([-1.0, 2.0])).tolist() for f in functions])
torch.save([modules, optimizer, scheduler, functions], sys.argv[1])
"""


def test_pytorch_reads_it_and_we_read_pytorchs(tmp_path):
    pytest.importorskip("torch")
    import subprocess
    import sys

    file, script = tmp_path / "whole.pt", tmp_path / "program.py"
    script.write_text(REAL)
    with facula.torch.enabled(shadow=True) as torch:
        torch.manual_seed(0)
        modules = zoo(torch)
        optimizer = torch.optim.Adam(modules.parameters())
        torch.save([modules, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 1), [torch.tanh, torch.nn.functional.relu]], file)
    runs = [[], [], ["-m", "facula.torch", "--shadow"]]  # PyTorch reads ours, and its own of it; we read that
    said = [subprocess.run([sys.executable, *how, script, file], capture_output=True, text=True, check=True).stdout.splitlines() for how in runs]

    for text in said[1:]:
        assert said[0][:-2] == text[:-2]
        assert pytest.approx([float(word) for word in said[0][-2].split()], abs=1e-5) == [float(word) for word in text[-2].split()]
    assert ["[0.0001]", "[1e-05]", "[1.0000000000000002e-06]"] == [text[-1].split(" ", 1)[0] for text in said]
