"""Draws a graph as SVG without help: rows of boxes, lines between them."""

from xml.sax.saxutils import escape

CHARACTER, LINE = 7.3, 16  # of the 12-pixel monospace that the labels are set in, in pixels
GAP, STEP, MARGIN = 24, 56, 16  # between boxes of a row, between rows, around everything
COLOURS = {"result": "#d5e8d4", "leaf": "#dae8fc", "node": "#f5f5f5"}


def rows_of(graph) -> tuple:
    """The row of each box: one more than that of the lowest box that leads to it."""
    before = [[] for _ in graph.boxes]
    after, missing = [[] for _ in graph.boxes], [0] * len(graph.boxes)
    for a, b, _ in graph.edges:
        before[b].append(a)
        after[a].append(b)
        missing[b] += 1
    row = [0] * len(graph.boxes)
    ready = [k for k, n in enumerate(missing) if n == 0]
    while ready:
        a = ready.pop()
        for b in after[a]:
            row[b] = max(row[b], row[a] + 1)
            missing[b] -= 1
            if missing[b] == 0:
                ready.append(b)
    return row, before


def placed(graph) -> list:
    """[(x, y, width, height)] of the boxes, by their middles: within a row, in the order of what leads to them."""
    row, before = rows_of(graph)
    lines = [label.split("\n") for label, _ in graph.boxes]
    size = [(CHARACTER * max(map(len, text)) + 20, LINE * len(text) + 10) for text in lines]
    where = [None] * len(graph.boxes)
    y = MARGIN
    for r in range(max(row, default=-1) + 1):
        here = [k for k in range(len(row)) if row[k] == r]
        wanted = {k: sum(where[a][0] for a in before[k]) / len(before[k]) if before[k] else 0.0 for k in here}
        here.sort(key=lambda k: (wanted[k], k))
        height, x = max(size[k][1] for k in here), None
        for k in here:
            left = wanted[k] - size[k][0] / 2
            x = left if x is None else max(left, x)
            where[k] = (x + size[k][0] / 2, y + height / 2, *size[k])
            x += size[k][0] + GAP
        y += height + STEP
    return where


def svg(graph) -> str:
    where = placed(graph)
    left = min((x - w / 2 for x, _, w, _ in where), default=0) - MARGIN
    right = max((x + w / 2 for x, _, w, _ in where), default=0) + MARGIN
    bottom = max((y + h / 2 for _, y, _, h in where), default=0) + MARGIN
    size = f'width="{right - left:.0f}" height="{bottom:.0f}" viewBox="{left:.1f} 0 {right - left:.1f} {bottom:.1f}"'
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="12">']
    text.append('<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>')
    for a, b, number in graph.edges:
        x1, y1, x2, y2 = where[a][0], where[a][1] + where[a][3] / 2, where[b][0], where[b][1] - where[b][3] / 2
        text.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="black" marker-end="url(#tip)"/>')
        if number is not None:
            text.append(f'<text x="{(x1 + x2) / 2 + 4:.1f}" y="{(y1 + y2) / 2:.1f}">{number}</text>')
    for (label, kind), (x, y, w, h) in zip(graph.boxes, where):
        look = f'fill="{COLOURS[kind]}" stroke="black"'
        if kind == "node":
            text.append(f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{w / 2:.1f}" ry="{h / 2:.1f}" {look}/>')
        else:
            text.append(f'<rect x="{x - w / 2:.1f}" y="{y - h / 2:.1f}" width="{w:.1f}" height="{h:.1f}" {look}/>')
        lines = label.split("\n")
        for i, line in enumerate(lines):
            text.append(f'<text x="{x:.1f}" y="{y + (i - (len(lines) - 1) / 2) * LINE + 4:.1f}" text-anchor="middle">{escape(line)}</text>')
    return "\n".join([*text, "</svg>", ""])
