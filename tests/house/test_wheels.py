"""The wheels as they are built: one native, the rest pure; no path twice; pins; sizes."""

import os
import re
import zipfile
from collections import defaultdict
from pathlib import Path

import pytest
from tree import PARTS, ROOT

FOLDER = os.environ.get("FACULA_WHEELS")
LIMIT = 5_000_000  # bytes of all wheels together


@pytest.fixture(scope="module")
def wheels():
    if not FOLDER:
        pytest.skip("FACULA_WHEELS is not set: tools/test builds the wheels and sets it")
    return sorted(Path(FOLDER).glob("*.whl"))


def paths(wheel):
    with zipfile.ZipFile(wheel) as z:
        return [n for n in z.namelist() if not n.endswith("/")]


def metadata(wheel):
    with zipfile.ZipFile(wheel) as z:
        return z.read(next(n for n in z.namelist() if n.endswith("/METADATA"))).decode()


def test_every_part_has_one_wheel(wheels):
    names = sorted(w.name.split("-")[0] for w in wheels)

    assert sorted("facula" if p == "facula" else f"facula_{p.replace('-', '_')}" for p in PARTS) == names


def test_no_two_wheels_share_a_path(wheels):
    where = defaultdict(list)
    for wheel in wheels:
        for path in paths(wheel):
            where[path].append(wheel.name)

    assert {} == {path: names for path, names in where.items() if len(names) > 1}


def test_all_but_tensor_core_are_pure(wheels):
    tags = {w.name.split("-")[0]: w.stem.split("-", 2)[2] for w in wheels}

    assert tags.pop("facula_tensor_core").startswith("cp310-abi3-")
    assert {"py3-none-any"} == set(tags.values())


def test_the_tag_tells_which_glibc_the_library_calls(wheels):
    core = next(w for w in wheels if w.name.startswith("facula_tensor_core"))
    with zipfile.ZipFile(core) as z:
        library = z.read("facula/tensor_core/_native.abi3.so")
    newest = max(map(int, re.findall(rb"\0GLIBC_2\.(\d+)", library)), default=None)

    assert core.stem.endswith(f"-manylinux_2_{newest}_x86_64" if newest else "-linux_x86_64")


def test_only_tensor_core_carries_a_library(wheels):
    native = {w.name.split("-")[0] for w in wheels for p in paths(w) if re.search(r"\.(so|dylib|pyd)$", p)}

    assert {"facula_tensor_core"} == native


def test_tensor_core_carries_the_generated_functions(wheels):
    core = next(w for w in wheels if w.name.startswith("facula_tensor_core"))

    assert {"facula/tensor_core/_ops.py", "facula/tensor_core/_native.abi3.so"} <= set(paths(core))


def test_no_wheel_carries_tests_or_stamps(wheels):
    odd = [p for w in wheels for p in paths(w) if not p.startswith("facula/") and ".dist-info/" not in p]
    odd += [p for w in wheels for p in paths(w) if "/tests/" in p or p.endswith((".o", ".c", "-stamp"))]

    assert [] == odd


def test_pins_among_parts_are_exact(wheels):
    for wheel in wheels:
        version = re.search(r"^Version: (.+)$", metadata(wheel), re.M)[1]
        pins = re.findall(r"^Requires-Dist: facula[\w-]*(?:\[[\w,]+\])?(.*?)(?:;.*)?$", metadata(wheel), re.M)

        assert {f"=={version}"} >= {p.strip() for p in pins}, wheel.name


def test_licence_is_the_same_everywhere():
    texts = {(ROOT / "packages" / p / "LICENSE").read_text() for p in PARTS} | {(ROOT / "LICENSE").read_text()}

    assert 1 == len(texts)


def test_all_wheels_together_are_small(wheels, capsys):
    sizes = {w.name: w.stat().st_size for w in wheels}
    with capsys.disabled():
        print("\n" + "\n".join(f"{size:>9,} bytes  {name}" for name, size in sizes.items()))
        print(f"{sum(sizes.values()):>9,} bytes  together")

    assert sum(sizes.values()) < LIMIT
