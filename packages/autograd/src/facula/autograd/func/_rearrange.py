"""rearrange: transposing, splitting and joining dims by a pattern, in the notation of einops."""

from __future__ import annotations

import math
import re

import facula

ELLIPSIS = "…"  # the dims that `...` stands for, as one name


def parsed(side, pattern) -> list:
    """A side of the pattern as a list of groups, each a list of names."""
    text = side.replace("...", f" {ELLIPSIS} ")
    groups, group = [], None
    for token in re.findall(rf"[()]|{ELLIPSIS}|[^\s()]+", text):
        if token == "(":
            if group is not None:
                raise ValueError(f"rearrange: brackets inside brackets in {pattern!r}.")
            group = []
        elif token == ")":
            if group is None:
                raise ValueError(f"rearrange: a bracket is closed and was not opened in {pattern!r}.")
            groups.append(group)
            group = None
        elif token != ELLIPSIS and token != "1" and not (token.isidentifier() and not token.startswith("_") and not token.endswith("_")):
            raise ValueError(f"rearrange: {token!r} in {pattern!r} is no name of a dim. Use letters, 1 and '...'.")
        elif group is None:
            groups.append([] if token == "1" else token if token == ELLIPSIS else [token])  # "(...)" joins, "..." does not
        elif token != "1":
            group.append(token)
    if group is not None:
        raise ValueError(f"rearrange: a bracket is not closed in {pattern!r}.")
    names = [n for g in groups for n in g]
    for n in names:
        if names.count(n) > 1:
            raise ValueError(f"rearrange: {n.replace(ELLIPSIS, '...')!r} appears twice on one side of {pattern!r}.")
    return groups


def sizes_of(left, shape, axes_lengths, pattern) -> dict[str, int]:
    """{name: size}, and the shape with every name a dim of its own; the ellipsis gets a tuple."""
    there = sum(g == ELLIPSIS for g in left)
    n = len(shape) - (len(left) - there)
    if n < 0 or (n and not there):
        raise ValueError(f"rearrange: the pattern {pattern!r} has {len(left)} dims on the left, the tensor has {len(shape)}: {tuple(shape)}.")
    sizes, at = dict(axes_lengths), 0
    for g in left:
        if g == ELLIPSIS:
            sizes[ELLIPSIS] = tuple(shape[at : at + n])
            at += n
            continue
        size, unknown = shape[at], [name for name in g if name not in sizes]
        at += 1
        known = math.prod(sizes[name] for name in g if name in sizes)
        if len(unknown) > 1:
            raise ValueError(f"rearrange: the sizes of {', '.join(unknown)} in {pattern!r} cannot be known. Give all but one as arguments.")
        if (known == 0 or size % known) if unknown else known != size:
            raise ValueError(f"rearrange: a dim of size {size} does not divide into ({' '.join(g)}) with {known} in {pattern!r}.")
        for name in unknown:
            sizes[name] = size // known
    return sizes


def rearrange(tensor, pattern, **axes_lengths) -> facula.Tensor:
    """tensor with its dims in the order, split and joined as the pattern says; a sequence of tensors is stacked first.

    >>> import facula
    >>> facula.func.rearrange(facula.zeros(2, 12, 3), "b (h w) c -> b c h w", h=3).shape
    torch.Size([2, 3, 3, 4])
    """
    if not isinstance(tensor, facula.Tensor):
        tensor = facula.stack(list(tensor))
    if pattern.count("->") != 1:
        raise ValueError(f"rearrange: the pattern {pattern!r} needs one '->' between what is and what is wanted.")
    left, right = (parsed(side, pattern) for side in pattern.split("->"))
    before, after = ([n for g in side for n in g] for side in (left, right))
    if set(before) != set(after):
        odd = ", ".join(sorted(n.replace(ELLIPSIS, "...") for n in set(before) ^ set(after)))
        raise ValueError(f"rearrange: both sides of {pattern!r} must have the same dims, but {odd} is on one side only.")
    if unknown := sorted(set(axes_lengths) - set(before)):
        raise ValueError(f"rearrange: the pattern {pattern!r} has no dim {', '.join(unknown)}.")
    if any(ELLIPSIS in g and g != ELLIPSIS for g in left):
        raise ValueError(f"rearrange: '...' may not be inside brackets on the left of {pattern!r}.")
    sizes = sizes_of(left, tensor.shape, axes_lengths, pattern)

    def spread(names) -> list:
        return [s for n in names for s in (sizes[n] if n == ELLIPSIS else (sizes[n],))]

    dims, at = {}, 0  # where each name's dims are once split
    for n in before:
        width = len(sizes[n]) if n == ELLIPSIS else 1
        dims[n] = range(at, at + width)
        at += width
    order = [d for n in after for d in dims[n]]
    found = tensor.reshape(spread(before)).permute(order)
    shape = []
    for g in right:
        shape += list(sizes[ELLIPSIS]) if g == ELLIPSIS else [math.prod(spread(g))]
    return found.reshape(shape)
