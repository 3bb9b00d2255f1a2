"""What the documents name exists: `path` `text` stands in that file, `path:line` `text` on that line; figures are the files'."""

import re
import subprocess
import sys

import pytest
from tree import ROOT

DOCS = [p for p in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("packages/*/README.md"))] if p.is_file()]
PLACE = re.compile(r"`([\w./-]+\.(?:c|h|def|py)):(\d+)` `([^`]+)`")
TEXT = re.compile(r"`([\w./-]+\.(?:c|h|def|py))` `([^`]+)`")
PATH = re.compile(r"`((?:csrc|packages|tests|tools|docs|benchmarks)/[\w./-]*\w)`")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize("doc", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_line_numbers_are_current(doc):
    wrong = []
    for path, line, text in PLACE.findall(doc.read_text()):
        lines = (ROOT / path).read_text().splitlines()
        if int(line) > len(lines) or text not in lines[int(line) - 1]:
            found = [k for k, there in enumerate(lines, 1) if text in there]
            wrong.append(f"{path}:{line} does not say {text!r}; lines that do: {found}. Run tools/renumber.")

    assert [] == wrong


@pytest.mark.parametrize("doc", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_texts_stand_where_the_document_says(doc):
    wrong = []
    for path, text in TEXT.findall(doc.read_text()):
        if not (ROOT / path).is_file() or text not in (ROOT / path).read_text():
            wrong.append(f"{path} does not say {text!r}. Say what is there now.")

    assert [] == wrong


def test_the_journey_goes_through_every_layer():
    layers = {path.split("/src/")[0] for path, _ in TEXT.findall((ROOT / "docs/journey-of-one-op.md").read_text())}

    assert {"packages/tensor-core", "packages/autograd", "csrc/core/verb_map.c", "csrc/cpu/map.c", "csrc/ops/map.def"} <= layers


def test_every_decision_is_in_the_index():
    index = (ROOT / "docs/decisions/README.md").read_text()

    assert [] == [p.name for p in sorted(ROOT.glob("docs/decisions/[0-9]*.md")) if f"({p.name})" not in index]


def test_figures_are_those_of_the_results():
    done = subprocess.run([sys.executable, ROOT / "tools/quote", "--check"], capture_output=True, text=True)

    assert "" == done.stderr


@pytest.mark.parametrize("doc", DOCS, ids=lambda p: str(p.relative_to(ROOT)))
def test_paths_and_links_exist(doc):
    text = doc.read_text()
    wrong = [p for p in PATH.findall(text) if "<" not in p and not list(ROOT.glob(p)) and not list(doc.parent.glob(p))]
    wrong += [p for p in LINK.findall(CODE.sub("", text)) if not (doc.parent / p).exists()]

    assert [] == wrong
