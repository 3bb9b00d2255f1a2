"""The tracer: an interpreter on the core's door that lets every row run and writes down that it did."""

import gc
import warnings
import weakref

from facula.tensor_core import extend
from facula.tensor_core.extend import Tensor

from ._errors import TracerWarning
from .graph import Graph, Node, Value, rebuild

# rows that overwrite all of a tensor whatever it held
FILLS = {"fill_number_", "copy_into_"} | {
    name for name, op in extend.ops.items() if op.kind == "random" and not name.startswith("draw_")
}
# what reads values: a number that the trace keeps is a warning, a shape that depends on the data cannot be kept
SHAPES = {"nonzero": "facula.where, or a product with the mask,"}


def storage(tensor):
    return extend.lib.fc_storage_id(extend.handle(tensor))


def strided(tensor):
    """Whether it has memory of its own kind: a sparse tensor has none, nor has a parameter that is not initialised."""
    try:
        return extend.handle(tensor) is not None
    except (AttributeError, ValueError):
        return False


def geometry(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.dtype, extend.lib.fc_lazy(extend.handle(tensor))


class Tracer:
    """Collects a Graph while it is this thread's interpreter."""

    def __init__(self):
        self.graph = Graph()
        self.known = {}  # id of a tensor -> (tensor, Value); holding the tensor keeps the id
        self.stored = {}  # storage -> the tensors known in it
        self.made = []  # (tensor, Value) of constants
        self.count = 0
        self.before = {}  # storage -> tensors that were there when tracing began
        for found in gc.get_objects():
            if isinstance(found, Tensor) and strided(found):
                self.before.setdefault(storage(found), []).append(weakref.ref(found))

    # --- values -----------------------------------------------------------------------------------------------------

    def value(self, tensor, name, kind, of=None):
        """A new Value that stands for this tensor from now on."""
        v = Value(name, kind, tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor._origin is not None, of)
        self.known[id(tensor)] = (tensor, v)
        self.stored.setdefault(storage(tensor), []).append(tensor)
        return v

    def number(self, prefix):
        self.count += 1
        return f"{prefix}{self.count - 1}"

    def result(self, tensor):
        return self.value(tensor, self.number("v"), "result")

    def find(self, tensor, filled=False):
        """The Value of a tensor that a row was given."""
        if id(tensor) in self.known:
            return self.known[id(tensor)][1]
        relatives = self.stored.get(storage(tensor))
        if relatives:
            return self.relative(tensor, relatives)
        if any(r() is not None for r in self.before.get(storage(tensor), ())):
            v = self.value(tensor, self.number("w"), "captured")
            self.graph.tensors[v] = tensor
            return v
        v = self.value(tensor, self.number("c"), "empty" if filled else "constant")
        if not filled:
            self.graph.tensors[v] = tensor
            self.made.append((tensor, v))
        return v

    def relative(self, tensor, relatives):
        """A tensor over memory that is known: .detach(), .data and the like make one without a row."""
        same = next((t for t in reversed(relatives) if geometry(t) == geometry(tensor)), None)
        source = self.known[id(same if same is not None else relatives[0])][1]
        v = self.result(tensor)
        if same is not None:
            self.graph.nodes.append(Node("detach", (source,), (v,), grad=False))
        elif geometry(tensor)[3:] == geometry(relatives[0])[3:]:
            size, stride, offset, *_ = geometry(tensor)
            self.graph.nodes.append(Node("as_strided", (source, list(size), list(stride), offset), (v,), grad=False))
        else:
            raise RuntimeError(
                f"trace: bytes of a {relatives[0].dtype} tensor seen as {tensor.dtype}, or as a conjugate of it, cannot be traced. Convert with .to() or resolve_conj()."
            )
        return v

    def encode(self, tree):
        return rebuild(tree, lambda a: self.find(a) if isinstance(a, Tensor) else a)

    # --- the door ---------------------------------------------------------------------------------------------------

    def __call__(self, op, args, kwargs):
        into = kwargs.get("out")
        inplace = into is not None and into is args[0]
        written = [a for k, a in enumerate(args) if op.params[k].tensor and "!" in op.params[k].type]
        target = None
        if into is not None:
            target = self.find(into, filled=inplace and op.name in FILLS)
            written.append(into)
        encoded = self.encode(args)
        self.keep(written)
        grad = extend.grad_mode()
        answer = extend.call(op, *args, **kwargs)
        node = Node(op.name, encoded, (), target, grad, several=type(answer) is tuple)
        self.graph.nodes.append(node)
        if into is None and not op.writes:
            node.results = tuple(self.result(t) for t in (answer if node.several else (answer,)))
        return answer

    def keep(self, written):
        """Constants about to be written: what they hold now is what every run starts with."""
        for tensor in rebuild([w for w in written], lambda a: a):
            for t in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
                for made, v in self.made:
                    if v not in self.graph.fresh and extend.shares_storage(made, t):
                        self.graph.fresh.add(v)
                        self.graph.tensors[v] = made.detach().clone()

    def reads(self, tensor, how):
        """Values are about to leave the tensors: the core tells."""
        if how in SHAPES:
            raise RuntimeError(
                f"trace: the shape of {how}'s result depends on the values in its input (shape {tuple(tensor.shape)}), and a trace has fixed shapes. "
                f"Masks and nonzero need eager code; {SHAPES[how]} often does the same."
            )
        if id(tensor) in self.known:
            warnings.warn(
                f"trace: {how} turns a tensor into a Python value, which the trace keeps as a constant. It may be wrong for other inputs.",
                TracerWarning,
                stacklevel=5,
            )
