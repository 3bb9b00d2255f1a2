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


@pytest.fixture
def engines(tmp_path):
    """Two processes' engines, in threads of this one."""
    import threading

    from facula.dist._mesh import Mesh
    from facula.dist._socket_engine import SocketEngine

    meshes = [None, None]

    def meet(rank):
        meshes[rank] = Mesh(rank, 2, str(tmp_path / "meet"), 30.0)

    threads = [threading.Thread(target=meet, args=(r,)) for r in (0, 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    yield [SocketEngine(m, [0, 1]) for m in meshes]
    for m in meshes:
        m.close()


def test_who_does_not_come_to_a_barrier_is_named(engines):
    late = engines[0].missing(0.05, True)

    assert [1] == [rank for rank, _ in late]
    assert "0.05 s" in late[0][1]
    assert [] == engines[1].missing(5.0, False)


def test_a_message_is_waited_for_as_long_as_one_says(engines):
    import numpy as np

    wait = engines[0].expect(np.zeros(2), 1, 7)
    with pytest.raises(RuntimeError, match="0.05 s"):
        wait(0.05)
    engines[1].send(np.ones(2), 0, 7)
    array, sender = wait(5.0)

    assert [1.0, 1.0] == array.tolist()
    assert 1 == sender
