"""What is said where the library cannot be had: by a second interpreter of a process, from a zip, in a clone that is not built."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import facula.tensor_core

PROGRAM = """
try:
    import _interpreters
    make, run = lambda: _interpreters.create("legacy"), _interpreters.exec
except ImportError:
    import _xxsubinterpreters
    make, run = lambda: _xxsubinterpreters.create(isolated=False), _xxsubinterpreters.run_string
text = '''
try:
    import facula
    print((facula.ones(2) + 1).sum().item(), flush=True)
except ImportError as error:
    print(error, flush=True)
'''
here = lambda: exec(text)
first, second = make(), make()
"""
REFUSED = "facula: another interpreter of this process has it already. Import it in one of them only, or use processes."


def run(program, path):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True)


@pytest.mark.parametrize("order", ["here(); run(first, text); here()", "run(first, text); here(); run(first, text)", "run(first, text); run(second, text); run(first, text)"])
def test_the_first_interpreter_keeps_the_library_and_others_are_refused(order):
    done = run(PROGRAM + order, filter(None, sys.path))

    assert ["4.0", REFUSED, "4.0"] == done.stdout.splitlines(), done.stderr


def test_sources_without_the_library_say_where_it_comes_from(tmp_path):
    package = Path(facula.tensor_core.__file__).parent
    archive = tmp_path / "facula.zip"
    with zipfile.ZipFile(archive, "w") as z:
        for path in [package.parent / "__init__.py", *package.rglob("*.py")]:
            z.write(path, path.relative_to(package.parent.parent))
    done = run("import facula", [archive])

    assert all(text in done.stderr.splitlines()[-1] for text in (str(archive), "tools/build", "unpack")), done.stderr
