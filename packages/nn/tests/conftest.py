"""Tests of what nn and a part that it does not need do together skip where that part is missing, by the core's own word for it."""

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
