"""tools/torch_tests: what a test file of PyTorch's kind does there and here, told apart."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")
TOOL = Path(__file__).parents[3] / "tools/torch_tests"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="the tools are not installed with the tests")

FILE = '''
import os
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, no_such_decorator_in_this_version, run_tests

WHERE = repr(torch).split("site-packages")[-1]  # the folders before may have any name
FAKE = torch.a_name_that_facula_lacks if "facula" in WHERE else None


class TestTiny(TestCase):
    def test_passes(self, device):
        self.assertEqual(torch.ones(2, device=device) + 1, torch.full((2,), 2.0))

    @no_such_decorator_in_this_version(1)
    def test_differs(self, device):
        self.assertNotIn("facula", WHERE)

    def test_lacks_a_name(self, device):
        if "facula" in WHERE:
            torch.another_name

    def test_fails_on_both(self, device):
        self.assertEqual(torch.ones(2), torch.zeros(2))

    def test_skips(self, device):
        self.skipTest("of no use")

    def test_ends_the_process(self, device):
        if "facula" in WHERE:
            os._exit(3)

    def test_stands_behind_it(self, device):
        for n in range(2):
            with self.subTest(n=n):
                self.assertEqual(torch.arange(n).numel(), n)


instantiate_device_type_tests(TestTiny, globals())

if __name__ == "__main__":
    run_tests()
'''


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_tiny.py").write_text(FILE)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, TOOL, folder / "test_tiny.py", "--out", folder], capture_output=True, text=True, env=environ), folder


def test_what_passes_there_and_fails_here_is_listed_by_cause(ran):
    done, _ = ran

    assert 1 == done.returncode, done.stderr
    assert "test_tiny.py: of 5 that pass on PyTorch 2 pass here, 2 fail, 1 crash" in done.stdout
    assert "AssertionError: 'facula' unexpectedly found" in done.stdout
    assert "MissingName: torch.another_name" in done.stdout
    assert "the process ended with N" in done.stdout
    assert "test_fails_on_both" not in done.stdout and "test_skips" not in done.stdout


def test_outcomes_are_kept_a_line_each(ran):
    _, folder = ran
    theirs, ours = ([json.loads(line) for line in next(folder.glob(f"*.{library}.jsonl")).read_text().splitlines()] for library in ("torch", "facula"))

    assert {"started", "pass", "fail", "skip"} == {outcome for _, outcome, _ in theirs}
    assert {"started", "pass", "fail", "skip", "crash"} == {outcome for _, outcome, _ in ours}
    assert {test for test, _, _ in theirs} == {test for test, _, _ in ours}
