"""The backend "gloo" among processes of this machine."""

import os
import pathlib
import socket
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("mpi_program.py")


def run(arguments, size, **environment):
    env = {**os.environ, **environment}
    started = [
        subprocess.Popen([sys.executable, PROGRAM, *(a.format(rank) for a in arguments)], env={**env, "RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for rank in range(size)
    ]
    return [(*process.communicate(timeout=100), process.returncode) for process in started]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.mark.facula_only
@pytest.mark.parametrize("size", [2, 3])
def test_every_collective_does_what_it_says(size):
    place = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(size)}

    for out, error, code in run(["gloo"], size, **place):
        assert 0 == code, error
        assert "all well" in out


@pytest.mark.facula_only
def test_a_file_and_a_key_bring_them_together(tmp_path):
    file = tmp_path / "shared"

    for out, error, code in run(["gloo", f"file://{file}", "{}", "2"], 2, FACULA_DIST_KEY="secret"):
        assert 0 == code, error
    assert not file.exists()
