"""A trace in a file: a zip with graph.json, which can be read without running anything, and tensors.pt as facula.save writes it."""

import io
import json
import os
import pickle
import struct
import zipfile
import zlib

import facula
from facula.tensor_core import extend

from ._traced import Trace, TracedFunction
from .graph import Graph, Node, Value, leaves, rebuild

FORMAT = 1
KINDS = {"input", "state", "grad", "captured", "constant", "empty", "result"}
LIMIT = 64 << 20  # bytes of graph.json: 100,000 rows take 20 MB
DAMAGED = (
    KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, NotImplementedError, EOFError,
    pickle.UnpicklingError, struct.error, zlib.error, zipfile.BadZipFile,
)  # fmt: skip


def save(m, f, _extra_files=None):
    """Write a traced function or module to a path or an object with `write`; a path is replaced at once or not at all.

    _extra_files: texts or bytes by name, to be kept beside it.

    >>> import io
    >>> file = io.BytesIO()
    >>> facula.jit.save(facula.jit.trace(lambda x: x * 2, facula.ones(2)), file)
    >>> _ = file.seek(0)
    >>> facula.jit.load(file)(facula.tensor([3.0, 4.0]))
    tensor([6., 8.])
    """
    trace = getattr(m, "_trace", None)
    if trace is None:
        raise TypeError(f"jit.save: got a {type(m).__name__}, which is no trace. Make one with facula.jit.trace.")
    graph, table = trace.graph, {}
    for v in graph.mentioned():
        table.setdefault(v, len(table))
    tensors = {str(table[v]): t.detach() for v, t in graph.tensors.items()}
    state, buffers = _state(m)
    text = {
        "format": FORMAT,
        "name": getattr(m, "name", None) or getattr(m, "original_name", "forward"),
        "values": [
            [v.name, v.kind, v.dtype._name, v.shape, v.stride, v.requires_grad, None if v.of is None else table[v.of]]
            for v in table
        ],
        "inputs": [table[v] for v in graph.inputs],
        "nodes": [
            [
                n.op,
                [_encode(a, table) for a in n.args],
                [table[v] for v in n.results],
                None if n.into is None else table[n.into],
                n.grad,
                n.several,
            ]
            for n in graph.nodes
        ],
        "outputs": _encode(graph.outputs, table),
        "effects": [[table[v], None if g is None else table[g]] for v, g in graph.effects],
        "fresh": [table[v] for v in graph.fresh],
        "nesting": trace.nesting,
        "parameters": trace.parameters,
        "buffers": buffers,
    }
    inner = io.BytesIO()
    facula.save({"tensors": tensors, "state": state}, inner)
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as file:
        file.writestr("graph.json", json.dumps(text))
        file.writestr("tensors.pt", inner.getvalue())
        for name, content in (_extra_files or {}).items():
            file.writestr(f"extra/{name}", content)
    if hasattr(f, "write"):
        f.write(outer.getvalue())
        return
    beside = f"{os.fspath(f)}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as file:
            file.write(outer.getvalue())
        os.replace(beside, f)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def _state(m):
    if isinstance(m, TracedFunction):
        return m.state_dict(), sorted(n for n, _ in m.named_buffers())
    buffers = dict(m.named_buffers())
    return {n: t.detach() for n, t in [*m.named_parameters(), *buffers.items()]}, sorted(buffers)


def load(f, map_location=None, _extra_files=None):
    """The traced function in a file that facula.jit.save wrote: data is read, nothing in it is run.

    What was a module comes back as a TracedFunction with its parameters and buffers. Raises RuntimeError for a damaged or foreign file.
    _extra_files: a dict whose keys name what else was saved; gets the bytes.

    >>> import tempfile
    >>> traced = facula.jit.trace(lambda x: x * 2, facula.ones(2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facula.jit.save(traced, folder + "/double.pt")
    ...     print(facula.jit.load(folder + "/double.pt")(facula.tensor([1.0, 5.0])))
    tensor([ 2., 10.])
    """
    try:
        with zipfile.ZipFile(f) as file:
            text = json.loads(_read(file, "graph.json", LIMIT))
            held = facula.load(io.BytesIO(_read(file, "tensors.pt")), map_location, weights_only=True)
            extra = {name: _read(file, f"extra/{name}") for name in _extra_files or ()}
        if text["format"] != FORMAT:
            raise ValueError(f"format {text['format']}, this reader knows {FORMAT}")
        graph = _graph(text, held["tensors"])
        state = held["state"]
        parameters = {v.name.removeprefix("self."): v.requires_grad for v in graph.values("state")}
        missing = [n for n in parameters if n not in state]
        if missing:
            raise ValueError(f"no tensor for {missing[0]}")
        for name, tensor in state.items():
            if parameters.get(name) and name not in text["buffers"]:
                tensor.requires_grad_()
        if extra:
            _extra_files.update(extra)
        return TracedFunction(Trace(graph, text["nesting"], text["parameters"]), text["name"], state, text["buffers"])
    except DAMAGED as error:
        raise RuntimeError(
            f"jit.load: {getattr(f, 'name', f)} is not a trace that facula.jit.save wrote ({type(error).__name__}: {error})"
        ) from error


def _read(file, name, limit=None):
    """A record as save stores it. A compressed one could be a thousand times its file's size."""
    info = file.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
        raise ValueError(f"{name} is compressed or encrypted")
    if limit is not None and info.file_size > limit:
        raise ValueError(f"{name} is larger than {limit} bytes")
    return file.read(name)


def _graph(text, tensors):
    values = []
    for name, kind, dtype, shape, stride, requires_grad, of in text["values"]:
        if kind not in KINDS or type(name) is not str or not all(type(n) is int and n >= 0 for n in (*shape, *stride)):
            raise ValueError(f"a value is {name!r} of kind {kind!r}, shape {shape} and stride {stride}")
        values.append(Value(name, kind, _dtype(dtype), tuple(shape), tuple(stride), bool(requires_grad), of))
    values = Values(values)
    for v in values:
        v.of = None if v.of is None else values[v.of]
    graph = Graph([values[k] for k in text["inputs"]])
    for op, args, results, into, grad, several in text["nodes"]:
        if op != "detach" and op not in extend.ops:
            raise ValueError(f"the row {op!r} is not in this Facula")
        args = tuple(_decode(a, values) for a in args)
        if op != "detach" and len(args) != len(extend.ops[op].params):
            raise ValueError(f"{op} has {len(args)} arguments, its row takes {len(extend.ops[op].params)}")
        graph.nodes.append(
            Node(
                op,
                args,
                tuple(values[k] for k in results),
                None if into is None else values[into],
                bool(grad),
                bool(several),
            )
        )
    graph.outputs = _decode(text["outputs"], values)
    graph.effects = [(values[v], None if g is None else values[g]) for v, g in text["effects"]]
    graph.tensors = {values[int(k)]: t for k, t in tensors.items()}
    graph.fresh = {values[k] for k in text["fresh"]}
    _check_order(graph)
    return graph


class Values(list):
    """Values by number. A negative one would count from the end."""

    def __getitem__(self, k):
        if type(k) is not int or k < 0:
            raise ValueError(f"{k!r} is no value's number")
        return super().__getitem__(k)


def _check_order(graph):
    """Raises ValueError where something is used that nothing gave before."""
    known = {*graph.inputs, *graph.tensors, *graph.values("state"), *graph.values("empty")}
    grads = graph.values("grad")

    def want(tree):
        for v in leaves(tree):
            if v not in known:
                raise ValueError(f"{v.name} is used before anything gives it")

    want([v.of for v in grads])
    known.update(grads)
    for node in graph.nodes:
        want((node.args, node.into))
        known.update(node.results)
    want((graph.outputs, graph.effects))
    rebuild(graph.outputs, _want_value)


def _want_value(leaf):
    if not isinstance(leaf, Value):
        raise ValueError(f"an output is {leaf!r}, no tensor")


def _dtype(name):
    found = getattr(facula, name, None)
    if not isinstance(found, facula.dtype):
        raise ValueError(f"{name!r} is no dtype")
    return found


def _encode(tree, table):
    """JSON for an argument: [tag, ...] for everything that JSON has no own form of."""
    if isinstance(tree, Value):
        return ["v", table[tree]]
    if isinstance(tree, tuple):
        return ["t", [_encode(i, table) for i in tree]]
    if isinstance(tree, list):
        return ["l", [_encode(i, table) for i in tree]]
    if isinstance(tree, dict):
        return ["d", [[k, _encode(i, table)] for k, i in tree.items()]]
    if isinstance(tree, facula.dtype):
        return ["dtype", tree._name]
    if isinstance(tree, float):
        return ["f", tree.hex()]
    if isinstance(tree, complex):
        return ["c", tree.real.hex(), tree.imag.hex()]
    if tree is None or isinstance(tree, (bool, int, str)):
        return tree
    raise RuntimeError(
        f"jit.save: an argument of type {type(tree).__name__} cannot be written to a file. Trace without it (a Generator: use the default one)."
    )


def _decode(item, values):
    if not isinstance(item, list):
        return item
    tag, *rest = item
    if tag == "v":
        return values[rest[0]]
    if tag in "tl":
        items = [_decode(i, values) for i in rest[0]]
        return tuple(items) if tag == "t" else items
    if tag == "d":
        return {k: _decode(i, values) for k, i in rest[0]}
    if tag == "dtype":
        return _dtype(rest[0])
    if tag == "f":
        return float.fromhex(rest[0])
    if tag == "c":
        return complex(*map(float.fromhex, rest))
    raise ValueError(f"unknown tag {tag!r}")
