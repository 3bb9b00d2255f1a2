"""Tests of what the core and another part do together skip where that part is missing, by the core's own word for it."""

import re

import pytest

MISSING = re.compile(r"comes with (facula-\w+), which is not installed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except (ModuleNotFoundError, AttributeError) as error:
        found = MISSING.search(str(error))
        if found is None:
            raise
        pytest.skip(f"{found[1]} is not installed")


@pytest.fixture(autouse=True)
def nothing_was_said(monkeypatch):
    """What is said once in a program is said once in a test."""
    from facula.tensor_core import _warned

    monkeypatch.setattr(_warned, "_given", set())
    monkeypatch.setattr(_warned, "always", False)


@pytest.fixture
def as_before():
    """The number of threads and the instruction set's level are afterwards what they were."""
    import facula
    from facula.tensor_core._lib import lib

    threads, level = facula.get_num_threads(), lib.fc_isa_level()
    yield
    facula.set_num_threads(threads)
    lib.fc_set_isa_level(level)
