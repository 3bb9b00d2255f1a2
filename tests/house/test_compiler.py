"""What a build says where the compiler is not there, is broken or lacks something: one sentence with the remedy, not two hundred."""

import pytest
from tree import ROOT

import build_native

PACKAGE = ROOT / "packages/tensor-core/src/facula/tensor_core"
CASES = {
    "exit 1": ("ended with 1", "Install gcc or clang"),
    "echo 'probe.c:1:10: fatal error: Python.h: No such file or directory' >&2; exit 1": ("python3-dev",),
    "echo 'probe.c:2:10: fatal error: math.h: No such file or directory' >&2; exit 1": ("libc6-dev",),
    "echo '/usr/include/python3.11/Python.h:23:12: fatal error: stdlib.h: No such file or directory' >&2; exit 1": ("libc6-dev",),
    "echo \"error: bad value ('x86-64-v4') for '-march=' switch\" >&2; exit 1": ("too old", "gcc 11"),
    "echo 'collect2: fatal error: cannot find ld' >&2; exit 1": ("cannot find ld", "Install gcc or clang"),
}


def said_with(cc, target, monkeypatch):
    monkeypatch.setattr(build_native, "CC", cc)
    with pytest.raises(build_native.CompileError) as caught:
        build_native.build(ROOT, PACKAGE, target)
    return str(caught.value)


@pytest.mark.parametrize("script", CASES)
def test_a_broken_compiler_is_named_with_what_is_missing(script, tmp_path, monkeypatch):
    cc = tmp_path / "cc"
    cc.write_text(f"#!/bin/sh\n{script}\n")
    cc.chmod(0o755)
    said = said_with([str(cc)], tmp_path / "made", monkeypatch)

    assert all(text in said for text in (str(cc), *CASES[script])), said
    assert len(said) < 500, said


def test_no_compiler_is_said(tmp_path, monkeypatch):
    said = said_with(["no-such-compiler"], tmp_path / "made", monkeypatch)

    assert "no C compiler: no-such-compiler is not on PATH. Install gcc or clang, or set CC." == said


def test_a_fault_in_a_header_is_told_three_times_at_most(tmp_path, monkeypatch):
    """A compiler that takes the probe and nothing else."""
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\ncase \"$*\" in *probe.c*) exit 0;; *) echo no room >&2; exit 1;; esac\n")
    cc.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    build_native.is_known.cache_clear()
    said = said_with([str(cc)], tmp_path / "made", monkeypatch)
    build_native.is_known.cache_clear()

    assert 3 == said.count("no room")
    assert "more units" in said


@pytest.mark.parametrize("home", ["/dev/null", "."], ids=["that cannot be written", "of a user whom passwd does not know"])
def test_without_a_home_objects_are_kept_for_one_process(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    folder = build_native.cache_folder()

    assert folder.is_absolute() and folder.is_dir()
    assert folder == build_native.cache_folder()
    assert [] == list(tmp_path.iterdir())


def test_python_may_be_where_names_have_spaces(tmp_path, monkeypatch):
    pytest.importorskip("cffi", reason="cffi is not installed: pip install cffi")
    monkeypatch.setattr(build_native.sysconfig, "get_path", lambda _: "/a folder/include")

    assert "-I/a folder/include" in build_native.binding_unit(ROOT, tmp_path).flags
