"""The interpreter: runs a graph's nodes in order. No compiler, and each row by the same kernel: the same bits."""

import facula
from facula.tensor_core import extend

from .graph import Value, leaves, rebuild

# bytes from which writing over what is not needed any more beats new memory: conv and relu of 12.8 MB 5.6 -> 4.9 ms, of 3.2 MB
# 1.84 -> 1.62; nothing to see below (docs/decisions/046-activations-in-place.md)
REUSED_FROM = 1 << 18
FRESH = {"fold", "dot", "own"}  # kinds of rows, beside the elementwise ones, whose results are memory of their own


def steps_of(graph):
    """(node, op, values not needed afterwards, the one of them that its result may overwrite or None) in order."""
    last = {}
    for k, node in enumerate(graph.nodes):
        for v in leaves((node.args, node.into, node.results)):
            last[v] = k
    for v in leaves((graph.outputs, graph.effects)):
        last.pop(v, None)
    gone = {}
    for v, k in last.items():
        gone.setdefault(k, []).append(v)
    steps = [(node, extend.ops.get(node.op), gone.get(k, ())) for k, node in enumerate(graph.nodes)]
    own = own_memory(steps)
    return [(node, op, over, overwritten(node, op, over, own)) for node, op, over in steps]


def is_map(op):
    return op is not None and op.kind.startswith("map")


def own_memory(steps):
    """Results whose memory no other value of the graph sees."""
    found = set()
    for node, op, _ in steps:
        if node.into is None and not node.several and (is_map(op) or (op is not None and op.kind in FRESH and not op.writes)):
            found.update(node.results)
    for node, op, _ in steps:
        if op is None or op.kind == "view" or node.op == "as_strided":
            found.difference_update(leaves(node.args))
    return found


def overwritten(node, op, gone, own):
    if not is_map(op) or node.into is not None or len(node.results) != 1:
        return None
    made = node.results[0]
    size = made.dtype.itemsize
    for n in made.shape:
        size *= n
    like = (v for v in gone if v in own and (v.dtype, v.shape, v.stride) == (made.dtype, made.shape, made.stride))
    return next((v for v in like if v in node.args), None) if size >= REUSED_FROM else None


def run(graph, steps, inputs, state):
    """The outputs for these input tensors; state: a function from a dotted name to the tensor."""
    env = dict(zip(graph.inputs, inputs))
    for v in graph.values("state"):
        env[v] = state(v.name.removeprefix("self."))
    for v in graph.values("grad"):
        env[v] = gradient_of(env[v.of], v)
    for v, tensor in graph.tensors.items():
        env[v] = tensor.clone() if v in graph.fresh else tensor
    for v in graph.values("empty"):
        env[v] = facula.empty_strided(v.shape, v.stride, dtype=v.dtype)
    mode = before = extend.grad_mode()
    try:
        for node, op, gone, over in steps:
            wanted = node.grad and before
            if wanted != mode:
                extend.set_grad_mode(wanted)
                mode = wanted
            step(node, op, env, None if mode else over)  # a tape may keep what went in
            for v in gone:
                env.pop(v, None)
    finally:
        extend.set_grad_mode(before)
    for v, gradient in graph.effects:
        env[v].grad = None if gradient is None else env[gradient]
    return rebuild(graph.outputs, lambda v: env[v])


def gradient_of(tensor, value):
    if tensor.grad is None:
        raise RuntimeError(
            f"trace: {value.of.name}.grad is None, but the trace was made while it held a gradient and adds to it. Call backward once, or trace again."
        )
    return tensor.grad


def step(node, op, env, over=None):
    args = rebuild(node.args, lambda a: env[a] if isinstance(a, Value) else a)
    if node.op == "detach":
        answer = args[0].detach()
    elif over is not None:
        answer = extend.call(op, *args, out=env[over])
    elif node.into is None:
        answer = extend.call(op, *args)
    else:
        answer = extend.call(op, *args, out=env[node.into])
    if node.results:
        env.update(zip(node.results, answer if node.several else (answer,)))
