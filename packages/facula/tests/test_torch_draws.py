"""tools/torch_draws: what it draws, that it makes the calls on both, and that it tells what differs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import facula
import pytest

torch = pytest.importorskip("torch")
TOOL = Path(__file__).parents[3] / "tools/torch_draws"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="the tools are not installed with the tests")


def ran(*arguments):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, env=environ)


def test_calls_are_counted_by_their_faults(tmp_path):
    done = ran("--out", tmp_path, "--only", "^(abs|Tensor.tril)$", "--count", "2", "--faults", "0", "--faults", "1")

    assert "" == done.stderr
    assert "0 faults: 6 calls, 0 differ" in done.stdout and "1 faults: 6 calls" in done.stdout and "2 faults" not in done.stdout


def test_what_differs_is_told_and_what_ends_the_process_too(tmp_path):
    here = '"_facula" in dir(torch) or "facula" in torch.__name__'
    calls = [f'torch.ones(2, dtype=torch.int64 if {here} else torch.float32)', 'torch.abs("a")', f'__import__("os")._exit(3) if {here} else 1', 'torch.zeros(2)']
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps([0, "ones", call]) + "\n" for call in calls))
    first = ran("--run", tmp_path / "calls.jsonl", tmp_path / "outcomes.jsonl", "0")
    lines = [json.loads(line) for line in (tmp_path / "outcomes.jsonl").read_text().splitlines()]

    assert 3 == first.returncode
    assert [[0, "done", ["dtype torch.float32", "dtype torch.int64", None]], [1, "done", None]] == [line for line in lines if line[1] == "done"]
    assert [2, "here"] == lines[-1]


def test_what_other_calls_explain_is_told_so(tmp_path):
    here = '"facula" in torch.__name__'
    calls = {
        "zeros": f'torch.zeros(3 if {here} else 2)',
        "clip": 'torch.clip(torch.ones(2, device="meta"))',
        "linalg.det": f'torch.zeros(1) if {here} else (torch.ones(1, dtype=torch.float32) + 1e-9 - 1).log()',
    }
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps([0, name, call]) + "\n" for name, call in calls.items()))
    ran("--run", tmp_path / "calls.jsonl", tmp_path / "outcomes.jsonl", "0")
    lines = [json.loads(line) for line in (tmp_path / "outcomes.jsonl").read_text().splitlines()]
    found = [line[2] for line in lines if line[1] == "done"]

    assert None is found[0][2] and "on meta" in found[1][2] and "another precision" in found[2][2]


def test_a_seed_draws_the_same_calls_again(monkeypatch):
    monkeypatch.syspath_prepend(TOOL.parent)
    from torch_draws_calls import draws

    first, again, other = (list(draws(torch, facula, SimpleNamespace(seed=seed, only="^abs$", count=3, faults=(0, 1, 2)))) for seed in (1, 1, 2))

    assert first == again != other
