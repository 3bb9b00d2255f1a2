"""Processes that a program starts afresh find Facula under PyTorch's name."""

import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing as mp, sys, torch

def double(q, x):
    q.put((x * 2).tolist())

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.tensor(i)

if __name__ == "__main__":
    context = mp.get_context(sys.argv[1])
    q = context.Queue()
    child = context.Process(target=double, args=(q, torch.ones(2)))
    child.start()
    print(q.get(timeout=60))
    child.join()
    print([b.tolist() for b in torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=1, multiprocessing_context=sys.argv[1])])
"""

MEETING = """
import os, torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

def train(rank, size, path):
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=size)
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
    model(torch.full((1, 2), rank + 1.0)).sum().backward()
    assert [[1.5, 1.5]] == model.module.weight.grad.tolist(), model.module.weight.grad
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(train, args=(2, os.path.abspath("meeting")), nprocs=2)
    print("both")
"""


def run(tmp_path, program, *arguments):
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run([sys.executable, "-m", "facula.torch", "--shadow", file, *arguments], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="has no forkserver")
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_import_torch(tmp_path, method):
    assert ["[2.0, 2.0]", "[[0, 1], [2, 3]]"] == run(tmp_path, PROGRAM, method)


LOKY = {
    "__init__.py": "", "backend/__init__.py": "",
    "backend/fork_exec.py": "import subprocess\ndef fork_exec(cmd, keep_fds, env=None):\n    return subprocess.check_output(cmd, env=env, text=True)\n",
    "backend/popen_loky_posix.py": """
import sys
if __name__ == "__main__":
    import torch
    print(sys.argv[1:], (torch.ones(2) * 2).tolist(), torch.__name__)
else:
    def start():
        from .fork_exec import fork_exec
        return fork_exec([sys.executable, "-m", __name__, "--process-name", "one"], [])
""",
}  # fmt: skip


def test_workers_of_loky_import_torch(tmp_path):
    for name, text in LOKY.items():
        file = tmp_path / "loky" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    assert ["['--process-name', 'one'] [2.0, 2.0] torch"] == run(tmp_path, "import torch\nfrom loky.backend.popen_loky_posix import start\nprint(start(), end='')")


def test_workers_of_joblib_import_torch(tmp_path):
    pytest.importorskip("joblib")
    program = "import torch, joblib\nif __name__ == '__main__':\n    print(joblib.Parallel(n_jobs=2)(joblib.delayed(lambda x: x.sum() * 2)(torch.ones(k)) for k in (1, 2)))"

    assert ["[tensor(2.), tensor(4.)]"] == run(tmp_path, program)


def test_two_processes_train_one_model(tmp_path):
    assert ["both"] == run(tmp_path, MEETING)


APART = """
import os, torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

class Paths(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(1)) for _ in range(3)] + [torch.nn.Parameter(torch.full((1,), 2.0))])

    def forward(self, x, way):
        return {"out": [self.w[3] * x * (self.w[way] if way is not None else 1)]}

def train(rank, size, path):
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=size)
    model = DistributedDataParallel(Paths(), find_unused_parameters=True)
    back = lambda way: model(torch.full((1,), rank + 1.0), way)["out"][0].sum().backward()
    grads = lambda: [p.grad and p.grad.item() for p in model.module.w]
    back(rank)  # one way each
    assert [1, 2, None, 1.5] == grads(), grads()
    back(None)  # what none has used stays
    assert [1, 2, None, 3] == grads(), grads()
    model.zero_grad()
    with model.no_sync():
        back(0)
    back(1)  # what was used meanwhile is averaged, too
    assert [3, 3, None, 3] == grads(), grads()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(train, args=(2, os.path.abspath("meeting")), nprocs=2)
    print("both")
"""


def test_two_processes_train_different_parameters_of_one_model(tmp_path):
    assert ["both"] == run(tmp_path, APART)


DDP = """
import os, sys, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
dist.init_process_group("gloo")
rank = int(os.environ["LOCAL_RANK"])
torch.manual_seed(0)
net = DDP(torch.nn.Linear(4, 1))
x = torch.randn(16, 4)
data = TensorDataset(x, x.sum(1, keepdim=True))
sampler = DistributedSampler(data)
step = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for a, b in DataLoader(data, batch_size=4, sampler=sampler):
        step.zero_grad()
        torch.nn.functional.mse_loss(net(a), b).backward()
        step.step()
weights = [torch.zeros_like(net.module.weight) for _ in range(2)]
dist.all_gather(weights, net.module.weight.detach())
assert torch.equal(*weights), weights
open(sys.argv[1] + str(rank), "w").write(f"{torch.__version__} {net.module.weight.sum().item():.6f}")
dist.destroy_process_group()
"""


def test_torchrun_starts_programs_on_the_shim(tmp_path):
    (tmp_path / "program.py").write_text(DDP)
    command = [sys.executable, "-m", "facula.torch", "--shadow", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    done = subprocess.run([*command, str(tmp_path / "program.py"), str(tmp_path / "r")], capture_output=True, text=True, timeout=120)
    assert 0 == done.returncode, done.stderr
    a, b = ((tmp_path / f"r{k}").read_text() for k in (0, 1))

    assert a == b
    assert "facula" in a
