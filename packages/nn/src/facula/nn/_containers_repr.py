"""The repr of a ModuleList: equal neighbours once, with a count."""

from __future__ import annotations


def grouped_repr(name: str, texts: list[str]) -> str:
    """`name(` then one entry for each run of equal texts: `(0-3): 4 x Linear(...)`."""
    if not texts:
        return f"{name}()"
    runs: list[list] = []
    for k, text in enumerate(texts):
        if runs and runs[-1][2] == text:
            runs[-1][1] = k
        else:
            runs.append([k, k, text])
    lines = []
    for first, last, text in runs:
        label = f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
        lines.append("  " + label.replace("\n", "\n  "))
    return f"{name}(\n" + "\n".join(lines) + "\n)"
