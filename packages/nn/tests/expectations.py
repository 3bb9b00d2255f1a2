"""Writes expected.json, what PyTorch 2.13.0 makes of every module case and program: FACULA_TEST_BACKEND=torch python expectations.py."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path

import facts
import function_cases
import module_cases
from backend import torch
from programs import all_programs

PATH = Path(__file__).with_name("expected.json.gz")


def read() -> dict:
    return json.loads(gzip.decompress(PATH.read_bytes()))


def text(case: tuple[str, str]) -> str:
    return " | ".join(case)


if __name__ == "__main__":
    assert "facula" not in torch.__name__, "the expected facts are PyTorch's: set FACULA_TEST_BACKEND=torch"
    warnings.simplefilter("ignore")
    found = {
        "modules": {text(case): module_cases.facts(case, torch) for case in module_cases.cases()},
        "functions": {line: function_cases.facts(line, torch) for line in function_cases.lines()},
        "programs": {p.__name__: facts.plain(p(torch), torch) for p in all_programs()},
    }
    PATH.write_bytes(gzip.compress(json.dumps(found).encode(), 9, mtime=0))
    print(f"{len(found['modules'])} modules, {len(found['programs'])} programs, {len(found['functions'])} calls, {PATH.stat().st_size} bytes")
