import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from backend import dist

mpirun = shutil.which("mpirun") or shutil.which("mpiexec")
have = importlib.util.find_spec("mpi4py") is not None


@pytest.mark.facula_only
@pytest.mark.skipif(not (mpirun and have), reason="needs mpirun and mpi4py")
@pytest.mark.parametrize("size", [2, 3])
def test_every_collective_does_what_it_says(size):
    program = pathlib.Path(__file__).with_name("mpi_program.py")
    done = subprocess.run(
        [mpirun, "-n", str(size), sys.executable, program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )

    assert 0 == done.returncode, done.stderr
    assert size == done.stdout.count("all well")


@pytest.mark.facula_only
@pytest.mark.skipif(have, reason="mpi4py is installed")
def test_without_mpi4py_the_backend_says_what_to_install():
    with pytest.raises(RuntimeError, match="mpi4py"):
        dist.init_process_group("mpi")
    assert not dist.is_mpi_available()
