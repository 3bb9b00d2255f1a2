"""The launcher: environment, exit codes, restarts."""

import datetime
import os
import signal
import subprocess
import sys
import time

import facula.dist as dist
import pytest

KEYS = "RANK LOCAL_RANK GROUP_RANK ROLE_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_WORLD_SIZE TORCHELASTIC_RESTART_COUNT TORCHELASTIC_RUN_ID"


def launch(tmp_path, source, *options, arguments=(), **environment):
    program = tmp_path / "program.py"
    program.write_text(source)
    return subprocess.run(
        [sys.executable, "-m", "facula.dist.run", *options, str(program), *arguments], capture_output=True, text=True, timeout=100, env={**os.environ, **environment}
    )


def test_processes_know_who_they_are(tmp_path):
    source = f"import os, sys; open(sys.argv[1] + os.environ['RANK'], 'w').write(' '.join(os.environ[k] for k in {KEYS!r}.split()))"
    done = launch(tmp_path, source, "--nproc_per_node=2", "--nnodes=2", "--node-rank=1", "--rdzv-id=job", arguments=[str(tmp_path / "r")])

    assert 0 == done.returncode, done.stderr
    assert ["2 0 1 2 4 2 2 0 job", "3 1 1 3 4 2 2 0 job"] == [(tmp_path / f"r{k}").read_text() for k in (2, 3)]


def test_they_meet_and_reduce(tmp_path):
    source = """
import facula, facula.distributed as dist, sys
dist.init_process_group("gloo")
x = facula.tensor([dist.get_rank() + 1.0])
dist.all_reduce(x)
assert 3 == x.item() and sys.argv[1:] == ["--lr", "0.1"]
dist.destroy_process_group()
"""
    done = launch(tmp_path, source, "--standalone", "--nproc-per-node", "2", arguments=["--lr", "0.1"])

    assert 0 == done.returncode, done.stderr


def test_a_failure_ends_the_others_and_is_told(tmp_path):
    source = "import os, sys, time\nif os.environ['RANK'] == '1': sys.exit(3)\ntime.sleep(60)"
    start = time.monotonic()
    done = launch(tmp_path, source, "--nproc-per-node=2")

    assert 1 == done.returncode
    assert "local rank 1 ended with exit code 3" in done.stderr
    assert time.monotonic() - start < 50


def test_a_signal_has_its_name(tmp_path):
    assert "SIGKILL" in launch(tmp_path, f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})").stderr


def test_restarts(tmp_path):
    source = "import os, sys; sys.exit(0 if os.environ['TORCHELASTIC_RESTART_COUNT'] == '2' else 1)"

    assert (0, 1) == tuple(launch(tmp_path, source, f"--max-restarts={n}").returncode for n in (2, 1))


@pytest.mark.parametrize("options", [["--nproc-per-node=0"], ["--nproc-per-node=many"], ["--nnodes=1:4"], ["--node-rank=1"], ["--no-python", "-m"], ["--wrong"]])
def test_wrong_options_are_told(tmp_path, options):
    done = launch(tmp_path, "print(1)", *options)

    assert done.returncode in (1, 2)
    assert done.stderr.strip() and "Traceback" not in done.stderr


def test_a_module(tmp_path):
    (tmp_path / "program.py").write_text("print(__name__)")
    done = subprocess.run([sys.executable, "-m", "facula.distributed.run", "-m", "program"], capture_output=True, text=True, timeout=60, cwd=tmp_path)

    assert "__main__" == done.stdout.strip(), done.stderr


@pytest.mark.parametrize("store", ["dist.FileStore(sys.argv[1], 2)", "dist.PrefixStore('p', dist.TCPStore('127.0.0.1', int(sys.argv[2]), 2, rank == 0))"])
def test_a_store_brings_them_together(tmp_path, store):
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    source = f"""
import facula, facula.distributed as dist, os, sys
rank = int(os.environ["RANK"])
store = {store}
dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
x = facula.tensor([rank + 1.0])
dist.all_reduce(x)
assert 3 == x.item()
dist.barrier()
dist.destroy_process_group()
"""
    done = launch(tmp_path, source, "--nproc-per-node=2", arguments=[str(tmp_path / "store"), str(port)])

    assert 0 == done.returncode, done.stderr


def test_a_store_needs_ranks():
    with pytest.raises(ValueError, match="rank and world_size"):
        dist.init_process_group("gloo", store=dist.HashStore(), timeout=datetime.timedelta(seconds=1))
