"""The console examples of the pages: each `$ facula ...` is run in an empty folder and prints what the page shows.

`...` stands for anything. Other commands (tools/..., pip, pytest) belong to a clone and are run by its own tests.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("packages/*/README.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.S | re.M)


def examples():
    for page in PAGES:
        for block in BLOCK.findall(page.read_text()):
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, _, shown = part.partition("\n")
                if command.split()[0] == "facula":
                    yield pytest.param(command.split("#")[0].split()[1:], shown, id=f"{page.relative_to(ROOT)}: {command}")


@pytest.mark.parametrize("arguments,shown", list(examples()))
def test_console_example_prints_what_the_page_shows(arguments, shown, tmp_path):
    environ = {**os.environ, "COLUMNS": "120"}
    done = subprocess.run([sys.executable, "-m", "facula", *arguments], cwd=tmp_path, env=environ, capture_output=True, text=True)

    assert 0 == done.returncode, done.stderr
    assert not shown or doctest.OutputChecker().check_output(shown, done.stdout, doctest.ELLIPSIS), done.stdout
