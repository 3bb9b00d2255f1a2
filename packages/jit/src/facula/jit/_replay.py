"""The interpreter: runs a graph's nodes in order. No compiler, and each row by the same kernel: the same bits."""

import facula
from facula.tensor_core import extend

from .graph import Value, leaves, rebuild


def steps_of(graph):
    """(node, op, values not needed afterwards) in order."""
    last = {}
    for k, node in enumerate(graph.nodes):
        for v in leaves((node.args, node.into, node.results)):
            last[v] = k
    for v in leaves((graph.outputs, graph.effects)):
        last.pop(v, None)
    gone = {}
    for v, k in last.items():
        gone.setdefault(k, []).append(v)
    return [(node, extend.ops.get(node.op), gone.get(k, ())) for k, node in enumerate(graph.nodes)]


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
        for node, op, gone in steps:
            wanted = node.grad and before
            if wanted != mode:
                extend.set_grad_mode(wanted)
                mode = wanted
            step(node, op, env)
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


def step(node, op, env):
    args = rebuild(node.args, lambda a: env[a] if isinstance(a, Value) else a)
    if node.op == "detach":
        answer = args[0].detach()
    elif node.into is None:
        answer = extend.call(op, *args)
    else:
        answer = extend.call(op, *args, out=env[node.into])
    if node.results:
        env.update(zip(node.results, answer if node.several else (answer,)))
