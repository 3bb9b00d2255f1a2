"""Runs a graph backward: newest node first, without recursion and without counting dependencies.

`seq` falls along every edge, so the newest of the nodes that have a gradient can get no more: everything that feeds it
is newer still, and done. One node in hand and a heap of the rest suffice; on a chain the heap stays empty. Leaves
wait until the end, or, where some leaf has hooks, until their last gradient arrived (counted only then), so that a
hook may step and free a parameter while backward goes on.
"""

from __future__ import annotations

import sys
import warnings
from heapq import heappop, heappush
from itertools import count
from threading import Lock

from ._core import Batched, GradError, Tensor, beside, contiguous_format, empty_strided, extend, facula_path, lib, ops, set_grad_mode
from ._hooks import hear_of_no_gradient, hooks_after, hooks_before, told_after
from ._node import Leaf, Output
from ._support import anomaly, at_work

is_contiguous, write2, ADD = lib.fc_is_contiguous, lib.fc_map2, ops["add"].id
DEEP = 20  # backwards within backwards in one thread: each takes some fifteen of the thousand frames that Python allows it
accumulating = Lock()  # two threads may fill one leaf


class Current(extend.ThreadState):
    depth = 0  # how many backwards are under way, one called by another
    task = None  # [roots, captures or only, the nodes that will be reached or None, what to call at its end or None, what hooks remember or None, number or None] of the backward that runs
    capturing = False  # whether this thread is inside a backward that fills given tensors only


current = Current()
watched = [0]  # how many hooks leaves ever got; 0 lets the engine skip counting


def capturing() -> bool:
    return current.capturing


def reached() -> set:
    """The nodes that this thread's backward reaches; of one that fills given tensors, those on the way to them."""
    task = current.task
    if task[2] is None:
        roots, captures = task[:2]
        task[2] = set(captures) | leading_to(captures, roots) if captures is not None else below(roots)
    return task[2]


def memory(key) -> dict:
    """A dict in which a hook remembers until the end of this thread's backward."""
    task = current.task
    if task[4] is None:
        task[4] = {}
    return task[4].setdefault(key, {})


_numbers = count()


def task_number() -> int:
    """The number of this thread's backward, one more than that of the last one that was asked for its own; -1 outside of a backward."""
    task = current.task
    if task is None:
        return -1
    if task[5] is None:
        task[5] = next(_numbers)
    return task[5]


def queue_callback(callback) -> None:
    """Call `callback` once this thread's backward is done, its gradients all in place. RuntimeError outside of a backward."""
    task = current.task
    if task is None:
        raise RuntimeError("queue_callback: Final callbacks can only be installed during backward pass. Call it from a hook.")
    if task[3] is None:
        task[3] = []
    task[3].append(callback)


def below(roots) -> set:
    """The roots, and every node that they lead to."""
    seen, stack = set(), [root for root, _ in roots]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack.extend(node._inputs)
    return seen


def keeps_layout() -> bool:
    """Whether new gradients get their tensors' strides, in this thread."""
    return not getattr(current, "loose", False)


def run(roots, keep_graph, create_graph, captures=None, only=None) -> dict | None:
    """Go backward from `roots`, a list of (origin, gradient).

    captures: {origin: None}, filled with gradients instead of accumulating into leaves. Returns captures.
    only: a set of origins; then these nodes run, those on the way to them, and no others, and of leaves these are filled.
    """
    if current.depth >= DEEP:
        current.depth = 0
        try:
            return extend.elsewhere(lambda: run(roots, keep_graph, create_graph, captures, only))
        finally:
            current.depth = DEEP
    block = extend.plain()
    if block is not None:  # gradients are plain tensors, whatever class the leaves are of
        with block:
            return _run_all(roots, keep_graph, create_graph, captures, only)
    return _run_all(roots, keep_graph, create_graph, captures, only)


def _run_all(roots, keep_graph, create_graph, captures, only) -> dict | None:
    before, outer = set_grad_mode(create_graph), (current.capturing, current.task)
    ends = captures if only is None else only
    current.capturing, current.task = ends is not None, [roots, ends, None, None, None, None]
    current.depth += 1
    try:
        wanted = None if ends is None else leading_to(ends, roots)
        if only is not None:
            wanted |= only
            wanted.update([origin._inputs[0] for origin in only if type(origin) is Output])
        if ends is not None:  # hooks on roots that lead nowhere hear nothing
            roots = [root for root in roots if root[0] in wanted or root[0] in ends]
        counts = leaf_counts(roots, wanted) if watched[0] and captures is None else None
        leaves = _run(roots, keep_graph, create_graph, captures, wanted, counts)
        for leaf in list(leaves):
            accumulate(leaf, leaves.pop(leaf), create_graph, captures)
        for callback in current.task[3] or ():  # the list may grow meanwhile
            callback()
    finally:
        set_grad_mode(before)
        current.capturing, current.task = outer
        current.depth -= 1
    return captures


def _run(roots, keep_graph, create_graph, captures, wanted, counts) -> dict:
    grads, heap, leaves = {}, [], {}  # grads: of the nodes in the heap; the node in hand has its gradient in hand too
    silent = set()  # leaves with hooks to which a node gave no gradient
    sums = set()  # leaves whose gradient is a sum made here, which nobody else knows
    anomalous = anomaly["enabled"]
    for origin, g in roots:
        receive(origin, g, grads, heap, leaves)
    if counts is not None:
        for leaf in leaves:
            counts[leaf] = counts.get(leaf, 0)
        for leaf in [k for k in leaves if counts[k] == 0]:
            accumulate(leaf, leaves.pop(leaf), create_graph, captures)

    node = None
    while heap or node is not None:
        if node is None:
            node = heappop(heap)[1]
            g = grads.pop(node)
            if g is None or (type(g) is list and all([part is None for part in g])):
                pass_nothing(node, g, wanted, keep_graph, grads, heap, leaves, silent)
                node = None
                continue
        extra = node._extra
        arrived = g
        if extra is not None:
            g = hooks_before(node, extra, g, captures is None or node in wanted)
        inputs = node._inputs
        if wanted is not None:
            if captures is not None and node in captures:  # PyTorch: as it arrived, where the node has work to do besides
                captures[node] = arrived if node in wanted else g
            if node not in wanted:  # only captured
                node = None
                continue
            inputs = tuple([i if i in wanted or (captures is not None and i in captures) else None for i in inputs])
        if type(node) is Output:
            node, g = joined(node, inputs[0], g, grads, heap)
            continue
        if anomalous:
            at_work.node = node
        try:
            outs = node._backward(g, inputs)
        except Exception as error:
            explain(error, node)
            raise
        finally:
            if anomalous:
                at_work.node = None
        if not keep_graph and node._keeps:
            node._saved = None
        if extra is not None:
            outs = hooks_after(node, extra, outs, g)
        if anomalous:
            check_nan(node, outs)

        node = None
        for target, gi in zip(inputs, outs):
            if target is None:
                continue
            if type(target) is Leaf:
                if gi is not None:
                    old = leaves.get(target)
                    if old is None:
                        leaves[target] = gi
                    elif target not in sums or not added(old, gi):
                        leaves[target] = gi + old if old.is_sparse else old + gi
                        if not create_graph:
                            sums.add(target)
                elif target._extra is not None:
                    silent.add(target)
                if counts is not None:
                    counts[target] -= 1
                    if counts[target] == 0 and target in leaves:
                        silent.discard(target)
                        accumulate(target, leaves.pop(target), create_graph, captures)
            elif gi is None:
                if target is not node and target not in grads:
                    wait(target, None, grads, heap)  # it runs all the same: hooks and Functions are told
            elif target is node:
                g = g + gi
            elif heap and target in grads:
                old = grads[target]
                grads[target] = gi if old is None else old + gi
            elif node is None:
                node, g = target, gi
            elif target._seq > node._seq:
                wait(node, g, grads, heap)
                node, g = target, gi
            else:
                wait(target, gi, grads, heap)
        if heap and node is not None and -heap[0][0] > node._seq:
            wait(node, g, grads, heap)
            node = None
    for leaf in silent:
        if leaf not in leaves:
            hear_of_no_gradient(leaf, leaf._extra, captures is None, leaf._ref())
    return leaves


def pass_nothing(node, g, wanted, keep_graph, grads, heap, leaves, silent) -> None:
    """A node whose result got no gradient from any node that it feeds: its hooks hear of it, a Function's backward runs, and what it feeds on hears of it in turn."""
    runs = wanted is None or node in wanted
    extra, inputs = node._extra, node._inputs
    if extra is not None:
        hear_of_no_gradient(node, extra, runs)
    if not runs:
        return
    if wanted is not None:
        inputs = tuple([i if i in wanted or type(i) is Leaf else None for i in inputs])
    if type(node) is Output:
        if inputs[0] is not None and inputs[0] not in grads:
            wait(inputs[0], [None] * node.count, grads, heap)
        return
    outs = (None,) * len(inputs)
    if getattr(node, "_function", None) is not None:
        try:
            outs = node._backward(g, inputs)
        except Exception as error:
            explain(error, node)
            raise
    if not keep_graph and node._keeps:
        node._saved = None
    if extra is not None:
        outs = hooks_after(node, extra, outs, g)
    for target, gi in zip(inputs, outs):
        if target is None:
            continue
        if type(target) is Leaf:
            if gi is not None:
                old = leaves.get(target)
                leaves[target] = gi if old is None else old + gi
            elif target._extra is not None:
                silent.add(target)
        elif target not in grads:
            wait(target, gi, grads, heap)
        elif gi is not None:
            old = grads[target]
            grads[target] = gi if old is None else old + gi


def added(sum_, g) -> bool:
    """Add g into a sum's own memory. False where it does not fit there."""
    return type(sum_) is type(g) is Tensor and write2(ADD, sum_._h, sum_._h, g._h) is not None


def wait(node, g, grads, heap) -> None:
    """Put a node and its gradient back: a newer one goes first."""
    grads[node] = g
    heappush(heap, (-node._seq, node))


def joined(output, node, g, grads, heap) -> tuple:
    """(node, gradients) to go on with after one of several results got its gradient g; (None, None) where they wait."""
    if node is None:
        return None, None
    parts = grads.get(node)
    if parts is not None:
        parts += [None] * (output.count - len(parts))
        old = parts[output.index]
        parts[output.index] = g if old is None else old + g
        return None, None
    parts = [None] * output.count
    parts[output.index] = g
    if heap and -heap[0][0] > node._seq:
        wait(node, parts, grads, heap)
        return None, None
    return node, parts


def receive(origin, g, grads, heap, leaves) -> None:
    """Hand a root its gradient."""
    where = leaves if type(origin) is Leaf else grads
    old = where.get(origin)
    where[origin] = g if old is None else old + g
    if old is None and where is grads:
        heappush(heap, (-origin._seq, origin))


def leading_to(captures, roots) -> set:
    """The nodes that must run so that the captured ones get their gradients."""
    wanted, state = set(), {}
    for root, _ in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            if node not in state:
                state[node] = False
                stack.extend(n for n in node._inputs if n is not None and n not in state)
            else:
                stack.pop()
                if not state[node]:
                    state[node] = True
                    if any(n in captures or n in wanted for n in node._inputs if n is not None):
                        wanted.add(node)
    return wanted


def leaf_counts(roots, wanted=None) -> dict:
    """How many edges lead to each leaf, from all nodes or from the wanted ones. (Where a node gives no gradient, its leaves wait for the end: late, not wrong.)"""
    counts, seen = {}, set()
    stack = [root for root, _ in roots]
    while stack:
        node = stack.pop()
        if node in seen or (wanted is not None and node not in wanted):
            continue
        seen.add(node)
        for n in node._inputs:
            if type(n) is Leaf:
                counts[n] = counts.get(n, 0) + 1
            elif n is not None:
                stack.append(n)
    return counts


# ---- leaves -----------------------------------------------------------------------------------------------------------

def references(g) -> int:
    return sys.getrefcount(g)


def _alone() -> int:
    """What references() says of a gradient that only the engine knows, handed on as accumulate() does it."""
    g = object()
    leaves = {0: g}
    del g
    return _handed(leaves.pop(0))


def _handed(g) -> int:
    return references(g)


ALONE = _alone()


def accumulate(leaf, g, create_graph, captures) -> None:
    alone = references(g) <= ALONE
    extra = leaf._extra
    if extra is not None:
        seen = hooks_before(leaf, extra, g, captures is None)
        g = seen if extra.dtype is None else seen.to(extra.dtype)
        del seen
        alone = references(g) <= ALONE
    if captures is not None:
        if leaf in captures:
            captures[leaf] = g
        return
    tensor = leaf._ref()
    if tensor is None or tensor._origin is None:  # gone, or requires_grad was taken back
        return
    with accumulating:
        add_to_grad(tensor, g, create_graph, alone)
    if extra is not None:
        if extra.accumulated:
            told_after(extra, tensor)
        hooks_after(leaf, extra, (), g)


def add_to_grad(tensor, g, create_graph, alone=False) -> None:
    """tensor.grad += g; a gradient that nobody else knows becomes .grad itself instead of being copied."""
    try:
        old = tensor._grad
    except AttributeError:  # a slot that was never filled
        old = None
    if g.is_sparse or (old is not None and old.is_sparse):
        if old is None:
            tensor._grad = g if alone or create_graph else g.clone()
        elif old.is_sparse and not g.is_sparse:
            tensor._grad = g + old
        elif create_graph:
            tensor._grad = old + g
        else:
            old.add_(g)
    elif old is None:
        if not (alone and g._viewed is None and is_contiguous(g._h, 0) and is_contiguous(tensor._h, 0)):
            if keeps_layout() or not (alone and g._viewed is None and dense(g)):
                g = laid_out(g, tensor)
        tensor._grad = g if create_graph or g._origin is None else g.detach()
    elif create_graph:
        tensor._grad = old + g
    else:
        old.add_(g)


def laid_out(g, tensor) -> Tensor:
    """A copy of g, recorded where the graph of gradients is made: with the tensor's strides where those are dense, else contiguous."""
    if 1 not in tensor.shape and tensor.is_contiguous() or not dense(tensor):
        return g.clone(memory_format=contiguous_format)
    copy = beside(g, empty_strided(tensor.shape, tensor.stride(), dtype=g.dtype, device=g.device))  # no view of a clone: .grad may be detach_()ed
    copy.copy_(g)
    return copy


def dense(tensor) -> bool:
    """Whether the elements fill their memory without gaps and overlaps."""
    reach = 1
    for stride, size in sorted((s, n) for s, n in zip(tensor.stride(), tensor.shape) if n != 1):
        if stride != reach:
            return False
        reach *= size
    return True


# ---- errors -----------------------------------------------------------------------------------------------------------

def explain(error, node) -> None:
    """Show where in the forward pass the failing node comes from."""
    stack = node._extra.stack if node._extra is not None else None
    where = node._where()
    if stack:
        text = f"{node.name()} was recorded in the forward pass at:\n{stack}"
    elif where:
        text = f"{node.name()} was recorded in the forward pass at:\n  {where}"
        if any(f'File "{folder}' in where for folder in facula_path):
            text += "\nThat line is the library's own. Run forward inside facula.autograd.detect_anomaly() to see yours."
    else:
        text = f"{node.name()}: No forward pass information available. Run forward inside facula.autograd.detect_anomaly() too."
    if anomaly["enabled"]:
        detected(node, stack)
    elif not stack and not where:
        return
    if hasattr(error, "add_note"):
        error.add_note(text)
    elif isinstance(error, GradError):  # CPython 3.10
        error.args = (f"{error.args[0]}\n{text}", *error.args[1:])


def detected(node, stack) -> None:
    """In anomaly mode: warn of the node that failed, of the one in whose backward it was recorded, and so on."""
    said = f"Error detected in {node.name()}. "
    said += f"Traceback of forward call that caused the error:\n{stack}" if stack else "No forward pass information available. Enable detect anomaly during forward pass for more information."
    warned(said)
    while node._extra is not None and (node := node._extra.parent) is not None:
        seen = node._extra.stack if node._extra is not None else None
        where = f"Traceback of forward call that induced the previous calculation:\n{seen}" if seen else "No forward pass information available."
        warned(f"Previous calculation was induced by {node.name()}. {where}")


def warned(said) -> None:
    """A warning, on its way to an error that must not be lost: where warnings are errors it is printed."""
    try:
        warnings.warn(said, UserWarning, stacklevel=4)
    except UserWarning:
        print(said, file=sys.stderr)


def check_nan(node, outs) -> None:
    if not anomaly["check_nan"]:
        return
    for i, g in enumerate(outs):
        whole = g._whole if type(g) is Batched else g
        if isinstance(g, Tensor) and whole.detach().isnan().any().item():
            error = GradError(f"Function '{node.name()}' returned nan values in its {i}th output. Look at the forward line below.")
            explain(error, node)
            raise error
