"""README.md's table of what is here claims no more than tools/coverage finds."""

import importlib.machinery
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load():
    loader = importlib.machinery.SourceFileLoader("coverage_tool", str(ROOT / "tools" / "coverage"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("coverage_tool", loader))
    loader.exec_module(module)
    return module


tool = load()
CLAIM = re.compile(r"^\| `([\w.]+)` \| (\d+) of (\d+), (\d+) % \| (\d+) % \|$", re.M)


def claims():
    page = (ROOT / "README.md").read_text()
    table = page[page.index(tool.BEGIN) : page.index(tool.END)]
    return {name: tuple(map(int, rest)) for name, *rest in CLAIM.findall(table)}


def test_every_namespace_is_in_the_table():
    assert list(tool.NAMESPACES) == list(claims())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("namespace", tool.NAMESPACES)
def test_the_page_claims_no_more_than_there_is(namespace):
    there, of, percent, whole = claims()[namespace]

    ((_, found, known, complete),) = tool.table(tool.reference([namespace]))

    assert known <= of or importlib.util.find_spec("torch") is not None, "the stored list is the README's"
    assert there <= found
    assert percent <= tool.percent(found, known)
    assert whole <= tool.percent(complete, known)


def test_the_stored_list_has_every_namespace():
    import json

    assert set(tool.NAMESPACES) == set(json.loads(tool.STORED.read_text()))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("namespace", tool.NAMESPACES)
def test_every_missing_name_has_its_reason_on_the_page(namespace):
    page = (ROOT / "README.md").read_text()
    table = page[page.index(tool.MISSING_BEGIN) : page.index(tool.MISSING_END)]
    said = {n.strip() for line in re.findall(rf"`{re.escape(namespace)}`: ([\w, ]+)", table) for n in line.split(",")}
    missing, _ = tool.measure(tool.reference([namespace])[namespace], namespace)

    assert [] == [n for n in missing if tool.reason(namespace, n) is None]
    assert [] == sorted(set(missing) - said), "tools/coverage --readme writes the table"


WHOLE = [name for _, names in tool.MODULES for name in names.split()]
# what else PyTorch's documentation has a page for, beside the namespaces that are counted
PAGES = """accelerator backends compiler cpu distributed.algorithms.join distributed.checkpoint distributed.fsdp distributed.optim distributed.pipelining distributed.tensor
    fx.experimental futures library mps xpu nn.attention.bias nn.attention.flex_attention nn.attention.varlen nn.utils.stateless quasirandom storage types utils.bottleneck
    utils.collect_env utils.data.distributed utils.deterministic utils.flop_counter utils.model_zoo utils.module_tracker utils.tensorboard __config__ __future__""".split()  # fmt: skip


def test_whole_modules_are_absent_where_the_page_says_so_alone():
    program = f"""
import importlib
def there(name):
    try:
        return bool(importlib.import_module(name))
    except ImportError:
        return False
print([n for n in {WHOLE} if there(n)], [n for n in {PAGES} if not there("torch." + n)])
"""
    done = subprocess.run([sys.executable, "-c", "import runpy, sys, facula.torch\nwith facula.torch.enabled(shadow=True): exec(sys.argv[1])", program], capture_output=True, text=True)

    assert "[] []" == done.stdout.strip(), done.stderr
