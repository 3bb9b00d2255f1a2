import functools
import gzip
import json
import os
import signal
import struct
import subprocess
import sys

import facula
import pytest
from facula.cli import draw, main, train


def run(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_version_and_info_name_what_is_installed(capsys):
    assert (0, f"facula {facula.__version__}\n", "") == run(capsys, "--version")
    code, out, _ = run(capsys, "info")

    assert 0 == code
    for fact in ("facula-tensor-core", "numpy", "threads"):
        assert fact in out


def test_a_reader_that_goes_away_is_no_failure():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as nobody:
        done = subprocess.run([sys.executable, "-m", "facula", "info"], stdout=nobody, stderr=subprocess.PIPE, text=True)

    assert (141, "") == (done.returncode, done.stderr)


def test_no_command_shows_the_commands(capsys):
    code, out, _ = run(capsys)

    assert 2 == code
    for command in ("train", "info", "torch"):
        assert command in out


def test_training_on_digits_reaches_97_percent_and_leaves_its_files(capsys, tmp_path):
    code, out, _ = run(capsys, "train", "--epochs", "10", "--out", str(tmp_path))

    assert 0 == code
    last = out.splitlines()[-1]
    assert last.startswith("test accuracy: ") and last.endswith(" %")
    assert 97 <= float(last.split()[2])
    assert 10 == out.count("samples/s")
    history = json.loads((tmp_path / "history.json").read_text())
    assert 10 == len(history)
    assert (tmp_path / "checkpoint.pt").is_file()
    if draw.have_matplotlib():
        for name in ("curve.png", "mistakes.png"):
            assert b"\x89PNG" == (tmp_path / name).read_bytes()[:4]


def test_a_convolutional_network_reaches_98_percent(capsys):
    code, out, _ = run(capsys, "train", "--model", "lenet", "--epochs", "10")

    assert 0 == code
    assert 98 <= float(out.splitlines()[-1].split()[2])


def test_mnist_is_read_from_idx_files_plain_or_packed(capsys, tmp_path):
    for name, data in idx_files():
        packed = name.startswith("train-images")
        (tmp_path / (name + ".gz" * packed)).write_bytes(gzip.compress(data) if packed else data)
    code, out, err = run(capsys, "train", "--data", "mnist", "--root", str(tmp_path), "--epochs", "1")

    assert (0, "") == (code, err)
    assert "40 pictures to train on, 20 held out" in out


def idx_files():
    """MNIST's four files with a few pictures: a bright column where the label says."""
    for part, count in (("train", 40), ("t10k", 20)):
        labels = bytes(k % 10 for k in range(count))
        pictures = b"".join(bytes(255 * (c == 2 * n) for _ in range(28) for c in range(28)) for n in labels)
        yield f"{part}-images-idx3-ubyte", struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28) + pictures
        yield f"{part}-labels-idx1-ubyte", struct.pack(">4BI", 0, 0, 8, 1, count) + labels


def test_resuming_goes_on_with_the_same_numbers(capsys, tmp_path):
    whole = run(capsys, "train", "--epochs", "2", "--out", str(tmp_path / "whole"))[1]
    run(capsys, "train", "--epochs", "1", "--out", str(tmp_path / "parts"))
    resumed = run(capsys, "train", "--epochs", "2", "--out", str(tmp_path / "parts"), "--resume")[1]

    assert whole.splitlines()[-1] == resumed.splitlines()[-1]
    assert 1 == resumed.count("samples/s")


def test_without_matplotlib_training_says_what_to_install(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, _ = run(capsys, "train", "--epochs", "1", "--out", str(tmp_path))

    assert 0 == code
    assert "pip install facula[demo]" in out
    assert not (tmp_path / "curve.png").exists()


def test_missing_data_is_an_error_that_says_where_it_was_looked_for(capsys, tmp_path):
    code, _, err = run(capsys, "train", "--data", "mnist", "--root", str(tmp_path))

    assert 1 == code
    for fact in (str(tmp_path), "train-images-idx3-ubyte", "train-labels-idx1-ubyte", ".gz"):
        assert fact in err


@pytest.mark.parametrize("arguments", [["--epochs", "0"], ["--lr", "x"], ["--data", "cats"], ["--resume"]])
def test_bad_options_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["train", *arguments])

    assert 2 == caught.value.code
    assert arguments[0] in capsys.readouterr().err


def test_a_convolutional_model_can_be_chosen():
    model = train.make_model("lenet", side=8, classes=10)

    assert (3, 10) == tuple(model(facula.zeros(3, 1, 8, 8)).shape)


@pytest.mark.parametrize("seed", ["-9223372036854775809", "18446744073709551616", "one"])
def test_a_seed_that_no_generator_takes_is_the_commands_error(seed, capsys):
    with pytest.raises(SystemExit):
        main(["train", f"--seed={seed}"])

    assert f"argument --seed: {seed} is not" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("redirected,code,said", [(">&-", 0, ""), ("> /dev/full", 1, "No space left on device"), (">&- 2>&- <&-", 0, "")])
def test_streams_that_are_closed_or_full_give_no_traceback(redirected, code, said):
    done = subprocess.run(f"'{sys.executable}' -m facula info {redirected}", shell=True, stderr=subprocess.PIPE, text=True)

    assert code == done.returncode
    assert said in done.stderr and "Traceback" not in done.stderr and done.stderr.count("\n") <= 1, done.stderr


def test_a_folder_that_cannot_be_made_is_one_line(capsys):
    code, _, err = run(capsys, "train", "--epochs", "1", "--out", "/dev/null/run")

    assert (1, 1) == (code, err.count("\n"))
    assert "facula train: " in err and "/dev/null/run" in err


def test_an_interrupted_training_says_so_and_keeps_its_checkpoint(tmp_path):
    command = [sys.executable, "-u", "-m", "facula", "train", "--epochs", "100000", "--out", str(tmp_path)]
    # what runs in the background ignores the signal and hands that down
    listening = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=listening) as training:
        while " 2/" not in training.stdout.readline():
            pass
        training.send_signal(signal.SIGINT)
        _, err = training.communicate(timeout=120)

    assert (130, "facula train: interrupted\n") == (training.returncode, err)
    assert "model" in facula.load(tmp_path / "checkpoint.pt")
