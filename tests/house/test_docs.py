"""Places that the documents name exist: `path:line` is followed by what stands on that line."""

import re

import pytest
from tree import ROOT

DOCS = [p for p in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("packages/*/README.md"))] if p.is_file()]
PLACE = re.compile(r"`([\w./-]+\.(?:c|h|def|py)):(\d+)` `([^`]+)`")
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
def test_paths_and_links_exist(doc):
    text = doc.read_text()
    wrong = [p for p in PATH.findall(text) if "<" not in p and not list(ROOT.glob(p))]
    wrong += [p for p in LINK.findall(CODE.sub("", text)) if not (doc.parent / p).exists()]

    assert [] == wrong
