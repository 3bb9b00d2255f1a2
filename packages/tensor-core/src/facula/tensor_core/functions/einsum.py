"""einsum: labelled dims, read once and turned into views, sums and matrix products."""

import functools
import string

from facula.tensor_core import _ops
from facula.tensor_core.functions import shape as _shape
from facula.tensor_core.dispatch.foreign import overriding
from facula.tensor_core._tensor import Tensor


def einsum(*args):
    """Sums of products over labelled dims: "ij,jk->ik" is a matrix product, "ii->i" a diagonal, "...a->..." a sum.

    Also einsum(x, [0, 1], y, [1, 2], [0, 2]). Contracts from left to right.
    Raises RuntimeError for labels that do not fit the dims, or sizes that do not fit each other.

    >>> import facula
    >>> facula.einsum("ij,j->i", facula.ones(2, 3), facula.tensor([1.0, 2.0, 3.0]))
    tensor([6., 6.])
    """
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list")
    equation, *operands = args
    if not isinstance(equation, (str, Tensor)):
        raise TypeError(f"einsum(): the first argument must be the equation or an operand, not {type(equation).__name__}. Give a string.")
    if not isinstance(equation, str):
        equation, operands = _from_lists((equation, *operands))
    elif len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
        if not operands:
            raise ValueError(f"einsum(): must specify the equation string and at least one operand, got {equation!r} and none.")
    for k, x in enumerate(operands):
        if not isinstance(x, Tensor) and not overriding((x,)):
            raise TypeError(f"einsum(): expected Tensor as element {k} in argument 1, but got {type(x).__name__}. Convert it with facula.tensor.")
    if len(operands) == 2 and (plan := _pair_plan(equation, *operands)):
        return _pair(plan, *operands)
    if len(operands) == 1 and isinstance(operands[0], Tensor) and (plan := _single_dims(equation, operands[0].dim())):
        placed, gone = plan
        out = _ops.permute(operands[0], placed)
        return _ops.sum(out, gone) if gone else out
    terms, result = _parse(equation, operands)
    order = _order(terms, result)
    sizes = {}
    placed = [_place(x, term, order, sizes, k) for k, (x, term) in enumerate(zip(operands, terms))]
    if result and (unknown := [label for label in result if label not in sizes]):
        raise RuntimeError(f"einsum(): output subscript {unknown[0]} does not appear in the equation for any input operand")
    out = placed[0]
    for k, x in enumerate(placed):
        later = {label for term in terms[k + 1 :] for label in term} | set(result)
        done = [d for d, label in enumerate(order) if label not in later and (len(terms) == 1 or out.shape[d] != 1 or x.shape[d] != 1)]
        if k:
            out = _contract(out, x, done)
        elif done:
            out = _ops.sum(out, done, True)
    back = [order.index(label) for label in result] + [d for d, label in enumerate(order) if label not in result]
    seen = out if back == sorted(back) else _ops.permute(out, back)
    return _ops.view(seen, seen.shape[: len(result)]) if len(result) < len(order) else seen


@functools.lru_cache(maxsize=256)
def _pair_dims(equation, x_dims, y_dims):
    """How two operands make one product: dims whose sizes must agree, the order of each one's dims, how many of them are in both, rows,
    inner and columns, the result's order (None: as it is), the equation with the operands exchanged if the result's columns come first.
    None where only the general way will do: a label twice in one operand or summed alone, anything to be refused, an ellipsis but in lines of
    dot products."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    x, comma, y = left.partition(",")
    if dots := "..." in left:  # its dims get letters of their own, from the right
        free = "".join(c for c in string.ascii_letters if c not in equation)[:8]
        hidden = [dims + 3 - len(t) if "..." in t else 0 for t, dims in ((x, x_dims), (y, y_dims))]
        if not 0 <= min(hidden) <= max(hidden) <= len(free):
            return None
        x, y, right = (t.replace("...", free[len(free) - n :], 1) for t, n in zip((x, y, right), (*hidden, max(hidden))))
    if not arrow or not (letters := x + y + right).isalpha() or not letters.isascii() or (len(x), len(y)) != (x_dims, y_dims):
        return None
    if any(len(set(t)) < len(t) for t in (x, y, right)) or not set(x) ^ set(y) <= set(right) <= set(x + y):
        return None
    both, inner = [c for c in right if c in x and c in y], [c for c in x if c in y and c not in right]
    rows, columns = [c for c in right if c not in y], [c for c in right if c not in x]
    if dots and (rows or columns or not inner):
        return None  # elsewhere sizes of 1 tell how PyTorch's result lies
    moved = lambda order: None if order == sorted(order) else order
    made = both + rows + columns
    orders = ([x.index(c) for c in both + rows + inner], [y.index(c) for c in both + inner + columns], [made.index(c) for c in right])
    crossed = rows and columns and inner and right.index(columns[-1]) < right.index(rows[0])
    counts = len(both), len(rows), len(inner), len(columns)
    return [(x.index(c), y.index(c)) for c in both + inner], *map(moved, orders), counts, f"{y},{x}->{right}" if crossed else None


@functools.lru_cache(maxsize=256)
def _single_dims(equation, dims):
    """The order of all dims, those to sum last, and the places of these, or None as above."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    if not arrow or len(left) != dims or not left.isalpha() or not left.isascii() or len(set(left)) < dims or not set(right) <= set(left) or len(set(right)) < len(right):
        return None
    gone = [d for d, c in enumerate(left) if c not in right]
    return [left.index(c) for c in right] + gone, list(range(len(right), dims))


def _pair_plan(equation, x, y):
    if not isinstance(x, Tensor) or not isinstance(y, Tensor) or x.dtype is not y.dtype or x.dtype._kind == 0:
        return None  # sums over one element are products, which take any two dtypes
    plan = _pair_dims(equation, x.dim(), y.dim())
    if plan and (x._origin is not None or y._origin is not None) and (not plan[4][2] or 1 in x.shape or 1 in y.shape):
        return None  # what is recorded is PyTorch's sequence: its gradients lie as PyTorch's do
    return plan if plan and all(x.shape[a] == y.shape[b] for a, b in plan[0]) else None  # a size of 1 broadcasts: the general way


def _pair(plan, x, y):
    _, x_order, y_order, back, (both, rows, inner, columns), exchanged = plan
    if exchanged and 1 not in x.shape and 1 not in y.shape:  # then the result is contiguous, as PyTorch's
        return _pair(_pair_dims(exchanged, y.dim(), x.dim()), y, x)
    x = _ops.permute(x, x_order) if x_order else x
    y = _ops.permute(y, y_order) if y_order else y
    if not inner:
        for _ in range(columns):
            x = _ops.unsqueeze(x, -1)
        for _ in range(rows):
            y = _ops.unsqueeze(y, both)
        out = _ops.mul(x, y)
    elif both and not rows and not columns and inner == x.shape[both] == 1:
        out = _ops.select(_ops.mul(x, y), both, 0)
    elif both and not rows and not columns and not _ops.interpreting and x._origin is y._origin is None and x.dtype._kind == 2 and x.dtype.itemsize > 2 and x.dtype is y.dtype:
        out = _ops.sum(_ops.mul(x, y), list(range(both, both + inner)))  # lines of dot products: one by one they start slowly
    elif rows == inner == columns == 1 and x._origin is y._origin is None:
        out = _ops.matmul(x, y)
    else:
        batch, lines, between, across = x.shape[:both], x.shape[both : both + rows], x.shape[both + rows :], y.shape[both + inner :]
        lead = batch if x._origin is y._origin is None else (_product(batch),)
        left = _shape.reshaped(x, *lead, _product(lines), _product(between))
        right = _shape.reshaped(y, *lead, _product(between), _product(across))
        out = _ops.view(_ops.matmul(left, right), [*batch, *lines, *across])
    return _ops.permute(out, back) if back else out


def _from_lists(items):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of an implicit result

    def spell(labels):
        if any(n is not Ellipsis and not 0 <= n < len(letters) for n in labels):
            raise ValueError(f"einsum(): subscript in subscript list is not within the valid range [0, 52), got {list(labels)}")
        return "".join("..." if n is Ellipsis else letters[n] for n in labels)

    operands, labels = items[0 : len(items) // 2 * 2 : 2], items[1::2]
    equation = ",".join(map(spell, labels))
    return equation + ("->" + spell(items[-1]) if len(items) % 2 else ""), operands


def _parse(equation, operands):
    """Labels of every operand and of the result; an ellipsis becomes one negative number a dim, counted from the end."""
    left, arrow, right = equation.partition("->")
    texts, at = left.split(","), 0
    if len(texts) != len(operands):
        raise RuntimeError(f"einsum(): {'more' if len(operands) > len(texts) else 'fewer'} operands were provided than specified in the equation: {equation!r} has {len(texts)}, got {len(operands)}")
    terms = []
    for k, (text, x) in enumerate(zip(texts, operands)):
        if not isinstance(x, Tensor):
            raise TypeError(f"einsum(): operand {k} must be a Tensor, not {type(x).__name__}")
        _check(text, f"operand {k}", at)
        at += len(text) + 1
        text = text.replace(" ", "")
        named = len(text.replace("...", ""))
        if named > x.dim() and "..." in text:
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions ({x.dim()}) for operand {k}")
        rest = x.dim() - named
        if rest and "..." not in text:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions ({x.dim()}) for operand {k} and no ellipsis was given"
            )
        terms.append(_labels(text, rest))
    wide = min((label for term in terms for label in term if isinstance(label, int)), default=0)
    if arrow:
        _check(right, "output", len(left) + 2)
        right = right.replace(" ", "")
        for label in right.replace("...", ""):
            if right.count(label) > 1:
                raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        return terms, _labels(right, -wide)
    flat = [label for term in terms for label in term]
    once = sorted({label for label in flat if isinstance(label, str) and flat.count(label) == 1})
    return terms, [*range(wide, 0), *once]


def _check(text, whose, start):
    """Letters, spaces, and one ellipsis. start: where the text begins in the equation."""
    bare = text.replace("...", "   ", 1)
    for k, c in enumerate(bare):
        if c == ".":
            written = text.find("...") in range(k)  # an ellipsis before it
            if whose == "output":
                reason = "but an ellipsis (...) was already found" if written else "that is not part of any ellipsis (...)"
            else:
                reason = "for which an ellipsis was already found" if written else "that is not part of any ellipsis"
            raise RuntimeError(f"einsum(): found '.' for {whose} {reason}")
        if c != " " and not ("a" <= c <= "z" or "A" <= c <= "Z"):
            raise RuntimeError(f"einsum(): invalid subscript given at index {start + k} in the equation string, subscripts must be in [a-zA-Z]")


def _labels(text, rest):
    before, dots, after = text.partition("...")
    return [*before, *(range(-rest, 0) if dots else ()), *after]


def _order(terms, result):
    """The common order of all labels: those of the result first, so that mostly nothing moves at the end."""
    return list(dict.fromkeys([*result, *(label for term in terms for label in term)]))


def _place(x, term, order, sizes, k):
    """The operand with one dim for each label of the common order; repeated labels become their diagonal."""
    term = list(term)
    for label in dict.fromkeys(term):
        while term.count(label) > 1:
            a = term.index(label)
            b = term.index(label, a + 1)
            if x.shape[a] != x.shape[b]:
                raise RuntimeError(f"einsum(): subscript {label} is repeated for operand {k} but the sizes don't match, {x.shape[b]} != {x.shape[a]}")
            x = _ops.diagonal(x, 0, a, b)
            del term[b], term[a]
            term.append(label)
    for label, size in zip(term, x.shape):
        known = sizes.get(label, 1)
        if size != known and size != 1 and known != 1:
            what = f"subscript {label} has size {size} for operand {k}" if isinstance(label, str) else f"dimension {label} covered by ellipsis in operand {k} has size {size}"
            raise RuntimeError(f"einsum(): {what} which does not broadcast with previously seen {'ellipsis with ' if isinstance(label, int) else ''}size {known}")
        sizes[label] = max(size, known) if size and known else 0
    x = _ops.permute(x, [term.index(label) for label in order if label in term])
    for d, label in enumerate(order):
        if label not in term:
            x = _ops.unsqueeze(x, d)
    return x


def _contract(x, y, done):
    """Products of two operands with the same dims, summed over `done` with the dims kept: one batched matrix product."""
    n = x.dim()
    alone_x = [d for d in done if y.shape[d] == 1]
    alone_y = [d for d in done if x.shape[d] == 1]
    x = _ops.sum(x, alone_x, True) if alone_x else x
    y = _ops.sum(y, alone_y, True) if alone_y else y
    inner = [d for d in done if d not in alone_x and d not in alone_y]
    if not inner:
        return _ops.mul(x, y)
    both = [d for d in range(n) if d not in inner and x.shape[d] != 1 and y.shape[d] != 1]
    rows = [d for d in range(n) if d not in inner and d not in both and x.shape[d] != 1]
    columns = [d for d in range(n) if d not in inner and d not in both and d not in rows]
    count = lambda t, dims: _product(t.shape[d] for d in dims)
    left = _shape.reshaped(_ops.permute(x, both + rows + inner + columns), count(x, both), count(x, rows), count(x, inner))
    right = _shape.reshaped(_ops.permute(y, both + inner + columns + rows), count(y, both), count(y, inner), count(y, columns))
    out = _ops.view(_ops.matmul(left, right), [x.shape[d] for d in both + rows] + [y.shape[d] for d in columns] + [1] * len(inner))
    back = both + rows + columns + inner
    return _ops.permute(out, [back.index(d) for d in range(n)])


def _product(numbers):
    total = 1
    for n in numbers:
        total *= n
    return total


__all__ = ["einsum"]
