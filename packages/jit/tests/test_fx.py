"""facula.fx: graphs of programs, beside PyTorch's where that is installed."""

import copy
import importlib.util
import io
import math
import operator
import pickle
import traceback

import facula
import pytest

pytest.importorskip("facula.nn")
from facula import fx, nn  # noqa: E402
from facula.fx._symbolic_trace import _Patcher  # noqa: E402
from facula.nn import functional as F  # noqa: E402


def doubled(x):
    return x * 2


fx.wrap("doubled")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.w = nn.Parameter(facula.ones(8, 1, 1) * 3)
        self.register_buffer("b", facula.zeros(1) + 2)
        self.tail = nn.Sequential(nn.Conv2d(8, 8, 1), nn.ReLU())

    def forward(self, x: facula.Tensor, scale=2.0) -> facula.Tensor:
        y = F.relu(self.norm(self.conv(x)))
        b, c, h, w = y.shape
        y = self.tail(y) * self.w + self.b
        y = y.view(b, c, h * w).transpose(1, 2)
        y = facula.cat([y, y[..., ::2]], dim=-1)
        z = y.mean(-1, keepdim=True) * math.sqrt(scale)
        return {"y": doubled(y), "z": (z.flatten(1), -z)}


@pytest.fixture
def block():
    facula.manual_seed(0)
    return Block().eval()


@pytest.fixture
def x():
    facula.manual_seed(1)
    return facula.randn(2, 3, 4, 4)


def same(a, b):
    return facula.equal(a["y"], b["y"]) and facula.equal(a["z"][0], b["z"][0]) and facula.equal(a["z"][1], b["z"][1])


WAYS = {
    "traced": lambda g, x: g(x),
    "interpreted": lambda g, x: fx.Interpreter(g).run(x),
    "interpreted, values kept": lambda g, x: fx.Interpreter(g, garbage_collect_values=False).run(x),
    "transformed": lambda g, x: fx.Transformer(g).transform()(x),
    "traced again": lambda g, x: fx.symbolic_trace(g)(x),
    "pickled": lambda g, x: pickle.loads(pickle.dumps(g))(x),
    "saved": lambda g, x: saved(g)(x),
    "copied deeply": lambda g, x: copy.deepcopy(g)(x),
    "copied": lambda g, x: copy.copy(g)(x),
    "of a copied graph": lambda g, x: fx.GraphModule(g, copy.deepcopy(g.graph))(x),
    "of a dict": lambda g, x: fx.GraphModule({n.target: operator.attrgetter(n.target)(g) for n in g.graph.nodes if n.op in ("call_module", "get_attr")}, g.graph)(x),
}


def saved(g):
    file = io.BytesIO()
    facula.save(g, file)
    file.seek(0)
    return facula.load(file, weights_only=False)


def test_parameters_among_the_arguments_of_functions(x):
    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.bias = nn.Parameter(facula.randn(5, 4)), nn.Parameter(facula.randn(5))
            self.k = nn.Parameter(facula.randn(2, 3, 1, 1))

        def forward(self, x):
            return F.linear(x, self.w, self.bias).mean() + facula.conv2d(x, self.k, None).sum() + facula.addmm(self.bias, x[0, 0], self.w.t()).sum()

    plain = Plain()

    assert facula.equal(plain(x), fx.symbolic_trace(plain)(x))


def test_operands_in_a_list_are_seen_one_by_one(x):
    graph = fx.symbolic_trace(lambda a, b: facula.einsum("...i,...j->...ij", (a, b))).graph

    assert ["...i,...j->...ij", "a", "b"] == [str(a) for a in next(n for n in graph.nodes if n.op == "call_function").args]


@pytest.mark.parametrize("way", WAYS)
def test_a_graph_gives_the_module_s_bits(block, x, way):
    g = fx.symbolic_trace(block)

    assert same(block(x), WAYS[way](g, x))
    assert sorted(block.state_dict()) == sorted({**g.state_dict(), "norm.num_batches_tracked": 0})


def test_a_graph_trains_the_module_s_parameters(block, x):
    g = fx.symbolic_trace(block)
    g(x)["y"].sum().backward()
    expected = [p.grad.clone() for p in block.parameters()]
    block.zero_grad()
    block(x)["y"].sum().backward()

    assert all(facula.equal(a, p.grad) for a, p in zip(expected, block.parameters()))


def test_nothing_is_left_patched_after_an_error():
    plain = nn.Module.__call__, nn.Module.__getattr__, math.sqrt
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(lambda x: 1 if math.sqrt(x) > 0 else 2)

    assert plain == (nn.Module.__call__, nn.Module.__getattr__, math.sqrt)
    assert "__call__" not in vars(nn.Module)


REFUSED = {
    "if": (lambda x: x if x.sum() > 0 else -x, ValueError, "control flow"),
    "for": (lambda x: [y for y in x], ValueError, "cannot be iterated"),
    "len": (lambda x: len(x), RuntimeError, "len"),
    "assignment": (lambda x: operator.setitem(x, 0, 1.0), TypeError, "assignment"),
    "an object": (lambda x: facula.add(x, object()), NotImplementedError, "argument of type"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_traced_says_so(what):
    program, kind, text = REFUSED[what]
    with pytest.raises(kind, match=text):
        fx.symbolic_trace(program)


def flagged(x, y=3, *, flag=True, **more):
    return x + y if flag else x - more["z"]


# program, concrete arguments, arguments, result
ARGUMENTS = [
    (flagged, None, (1,), {}, None),
    (lambda x, flag: x + 1 if flag else x - 1, {"flag": False}, (5, False), {}, 4),
    (lambda x, y=None: x if y is None else y, {"y": None}, (5,), {}, 5),
    (lambda *a, **k: a[0] + k["z"], None, (5,), {"z": 2}, 7),
    (lambda a, b=2, c=3: a + b * c, None, (1,), {"c": 5}, 11),
]


@pytest.mark.parametrize("program,concrete,args,kwargs,expected", ARGUMENTS[1:])
def test_arguments_are_those_of_the_program(program, concrete, args, kwargs, expected):
    assert expected == fx.symbolic_trace(program, concrete_args=concrete)(*args, **kwargs)


def test_a_concrete_argument_is_held_to_its_value():
    g = fx.symbolic_trace(lambda x, flag: x + 1 if flag else x - 1, concrete_args={"flag": True})

    with pytest.raises(AssertionError, match="specialized to have value True"):
        g(1, False)


def test_replaced_nodes(x):
    g = fx.symbolic_trace(lambda x: facula.relu(x) + 1)
    for n in g.graph.nodes:
        if n.target is operator.add:
            with g.graph.inserting_after(n):
                new = g.graph.call_function(facula.mul, (n.args[0], 3))
            n.replace_all_uses_with(new)
            g.graph.erase_node(n)
    g.graph.lint()
    g.recompile()

    assert facula.equal(facula.relu(x) * 3, g(x))
    assert ["x", "relu", "mul", "output"] == [n.name for n in g.graph.nodes] == [n.name for n in reversed(g.graph.nodes)][::-1]


def test_forward_replaced_in_the_class_leaves_the_graph_in_charge(x):
    g = fx.symbolic_trace(facula.nn.ReLU())
    assert "GraphModuleImpl" in str(type(g)) and type(g).__name__ == "ReLU"
    before = g.forward
    type(g).forward = lambda self, x: x * 7
    assert facula.equal(g(x), x * 7)
    type(g).forward = before
    g.graph.output_node().args = (g.graph.find_nodes(op="placeholder")[0],)
    g.recompile()

    assert facula.equal(g(x), x)


def test_a_used_node_is_not_erased():
    g = fx.symbolic_trace(lambda x: facula.relu(x) + 1).graph
    with pytest.raises(RuntimeError, match="1 users"):
        g.erase_node(g.find_nodes(op="call_function")[0])


def test_lint_finds_a_use_before_its_definition():
    g = fx.symbolic_trace(lambda x: facula.relu(x) + 1).graph
    relu, add = g.find_nodes(op="call_function")
    relu.prepend(add)
    with pytest.raises(RuntimeError, match="before it has been defined"):
        g.lint()


def test_dead_code_goes_and_writes_stay(x):
    g = fx.symbolic_trace(lambda x: (x.sin(), x.add_(1), operator.add(x, 2), x.relu())[3])

    assert g.graph.eliminate_dead_code()
    assert ["x", "add_", "relu", "output"] == [n.name for n in g.graph.nodes]


def test_arguments_of_nodes_cannot_be_changed():
    n = fx.symbolic_trace(lambda x: facula.cat([x, x], dim=0)).graph.find_nodes(op="call_function")[0]
    with pytest.raises(TypeError, match="cannot be changed"):
        n.args[0].append(1)
    with pytest.raises(TypeError, match="cannot be changed"):
        n.kwargs["dim"] = 1
    n.update_kwarg("dim", 1)

    assert {"dim": 1} == n.kwargs


# program, pattern, replacement, arguments, matches, result
PATTERNS = {
    "an operation": (lambda x, y: facula.relu(x + y), lambda a, b: a + b, lambda a, b: a - b, (3.0, 1.0), 1, 2.0),
    "several": (lambda x, y: x.neg() + y.neg(), lambda a: a.neg(), lambda a: a.abs(), (-3.0, 1.0), 2, 4.0),
    "one after another": (lambda x, y: x.neg().neg() + y, lambda a: a.neg(), lambda a: a.neg() * 2, (3.0, 1.0), 2, 13.0),
    "values used elsewhere stay": (lambda x, y: (t := x.sin()).cos() + t, lambda a: a.sin().cos(), lambda a: a, (3.0, 1.0), 0, None),
    "arguments in their order": (lambda x, y: x - y, lambda a, b: a - b, lambda a, b: b - a, (3.0, 1.0), 1, -2.0),
    "literals are compared": (lambda x, y: (x * 2) + (y * 3), lambda a: a * 3, lambda a: a * 100, (1.0, 1.0), 1, 102.0),
}


@pytest.mark.parametrize("what", PATTERNS)
def test_patterns_are_replaced(what):
    program, pattern, replacement, args, count, result = PATTERNS[what]
    g = fx.symbolic_trace(program)
    args = [facula.tensor(a) for a in args]
    expected = program(*args) if result is None else facula.tensor(result)

    assert count == len(fx.replace_pattern(g, pattern, replacement))
    assert facula.equal(expected, g(*args))


def test_a_replacement_stands_before_whoever_first_reads_it():
    def program(x, w):
        a = w.sin()
        b = w.cos()
        return x + a, b

    g = fx.symbolic_trace(program)
    fx.replace_pattern(g, lambda w: w.sin(), lambda w: w.tan())

    assert ["x", "w", "cos", "tan", "add", "output"] == [n.name for n in g.graph.nodes]


def test_a_module_takes_a_function_s_place(block, x):
    class Tail(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.Tanh()

        def forward(self, a):
            return self.act(a)

    g = fx.symbolic_trace(block)
    fx.replace_pattern(g, lambda a: F.relu(a), fx.symbolic_trace(Tail()))

    assert isinstance(g.act, nn.Tanh)
    assert not same(block(x), g(x))


def test_shapes_are_noted(block, x):
    from facula.fx.passes.shape_prop import ShapeProp

    g = fx.symbolic_trace(block)
    ShapeProp(g).propagate(x)
    noted = {n.name: n.meta["tensor_meta"] for n in g.graph.nodes if "tensor_meta" in n.meta and n.op != "output"}

    assert ((2, 8, 4, 4), facula.float32) == (tuple(noted["conv"].shape), noted["conv"].dtype)
    assert (2, 16, 12) == tuple(noted["cat"].shape)


def test_a_subclass_says_what_is_a_leaf(block):
    class Whole(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, Block) or super().is_leaf_module(m, module_qualified_name)

    graph = Whole().trace(nn.Sequential(block, nn.ReLU()))

    assert ["input_1", "_0", "_1", "output"] == [n.name for n in graph.nodes]


def test_nodes_know_their_modules(block):
    graph = fx.symbolic_trace(nn.Sequential(block)).graph

    assert ["0", "0.conv"] == list(graph.find_nodes(op="call_module")[0].meta["nn_module_stack"])


def test_tensors_made_outside_become_attributes(x):
    k = facula.ones(4)
    g = fx.symbolic_trace(lambda x: x + k)

    assert facula.equal(x + 1, g(x))
    assert g._tensor_constant0 is k


def added(k, x):
    k = k.clone()
    k += x
    return k


BESIDE_PROXIES = {
    "a sum": lambda k, x: k + x, "a quotient": lambda k, x: k / x, "a comparison": lambda k, x: k < x, "a product": lambda k, x: k @ x, "in place": added,
    "copied": lambda k, x: k.clone().copy_(x), "its dtype": lambda k, x: k.to(x.dtype), "its shape": lambda k, x: k.view(x.shape), "its length": lambda k, x: k.view(x.shape[0], 1),
    "repeated": lambda k, x: k.repeat(x.shape[0], 1), "expanded": lambda k, x: k.expand(x.shape[0], -1), "as it": lambda k, x: k.expand_as(x),
}  # fmt: skip


@pytest.mark.parametrize("program", BESIDE_PROXIES.values(), ids=BESIDE_PROXIES)
def test_tensors_made_outside_are_recorded_beside_proxies(program):
    k, x = facula.tensor([1.0, 2.0, 3.0]), facula.tensor([3.0, 2.0, 1.0])
    g = fx.symbolic_trace(lambda x: program(k, x))

    assert facula.equal(program(k, x), g(x))


def test_a_proxy_extends_a_graph(x):
    g = fx.symbolic_trace(lambda x: x.relu())
    out = g.graph.output_node()
    with g.graph.inserting_before(out):
        out.args = ((fx.Proxy(out.args[0]) * 2 + 1).node,)
    g.recompile()

    assert facula.equal(x.relu() * 2 + 1, g(x))


def test_a_traceback_shows_the_generated_line():
    g = fx.symbolic_trace(lambda x: facula.relu(x).view(7))
    with pytest.raises(RuntimeError) as error:
        g(facula.ones(3))

    assert "view = relu.view(7)" in "".join(traceback.format_tb(error.value.__traceback__))


def test_an_interpreter_names_the_node_that_failed():
    with pytest.raises(RuntimeError, match=r"While executing %view"):
        fx.Interpreter(fx.symbolic_trace(lambda x: x.view(7))).run(facula.ones(3))


def test_to_folder(block, x, tmp_path, monkeypatch):
    g = fx.symbolic_trace(block.tail)
    g.to_folder(tmp_path / "written", "Written")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("written")
    y = facula.randn(1, 8, 2, 2)

    assert facula.equal(block.tail(y), module.Written()(y))


# source, with torch, nn, F, fx, operator, math at hand; what it leaves in `out`
BESIDE = {
    "a block": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.w, self.seq = nn.Linear(3, 4), nn.Parameter(torch.ones(4)), nn.Sequential(nn.Conv1d(1, 1, 1), nn.ReLU())
        self.register_buffer("b", torch.zeros(4))
    def forward(self, x: torch.Tensor, k: int = 2):
        b, c = x.shape
        y = F.elu(self.lin(x)) * self.w + self.b
        y = F.dropout(F.relu(y), 0.5, self.training)
        y = self.seq(y.unsqueeze(1)).reshape(b, -1)[:, 1:k]
        return torch.cat([y, y], dim=1), {"a": y.T, "b": [y.sum(-1), None]}, x.size(0) // 2
g = fx.symbolic_trace(M())
out = g.code, str(g.graph), [n.name for n in g.graph.nodes]
""",
    "operators": """
g = fx.symbolic_trace(lambda x, y: (-x, +x, ~y, x + 1, 1 + x, 1 - x, x / 2, 2 / x, x // 2, x % 3, x ** 2, 2 ** x, x @ y, x == y, x != 1, x < y, x >= 1, y & 1, y | y, y ^ y, y << 1, y >> 1, abs(x), x[0], x[1:, None, ..., y]))
out = g.code, str(g.graph)
""",
    "names": """
def f(input, len_, torch_2, x1, _y, self_attn):
    a = input.add(1); b = input.add(2); c = x1.add_1(3) if False else x1.add(3)
    return a, b, c, getattr(input, 'shape')[0], input.T.mT, len_.device, torch_2.relu().relu(), F.softplus(_y) if 0 else F.max_pool2d(_y, 2), self_attn
g = fx.symbolic_trace(f)
out = g.code, str(g.graph)
""",
    "values": """
g = fx.symbolic_trace(lambda x: (x.to(torch.float64), x.clamp(min=float('-inf'), max=float('inf')), x.to(device=torch.device('cpu')), x.view(torch.Size([1, 2])), x.sum((0, 1)), x.masked_fill(x > 0, float('nan'))))
out = g.code, str(g.graph)
""",
    "a written graph": """
gr = fx.Graph()
a, b = gr.placeholder("a"), gr.placeholder("b", torch.Tensor, 3)
c = gr.call_function(operator.iadd, (a, b))
d = gr.call_function(operator.setitem, (c, 0, 1.0))
e = gr.call_method("relu", (c,))
gr.call_function(torch.add, (e, 1), {"alpha": 2})
gr.output((e, [c]))
g = fx.GraphModule({}, gr)
out = g.code, str(gr), g.print_readable(print_output=False).count("def forward"), e.users, c.all_input_nodes
gr.eliminate_dead_code
""",
    "errors": """
out = []
gr = fx.Graph()
a = gr.placeholder("a")
for act in (lambda: gr.erase_node(gr.output(a).args[0]), lambda: fx.Graph().call_function(torch.relu, (a,)), lambda: fx.symbolic_trace(lambda x: bool(x)),
            lambda: fx.symbolic_trace(lambda x: range(x)), lambda: fx.symbolic_trace(nn.Linear(2, 2), {"input": 1}) and None, lambda: gr.create_node("call_x", "a")):
    try: out.append(act())
    except Exception as error: out.append(type(error).__name__)
""",
}


@pytest.mark.parametrize("what", BESIDE)
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compares with PyTorch, which is not installed")
def test_graphs_read_like_pytorch_s(what):
    import torch
    import torch.fx
    import torch.nn.functional

    there = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "fx": torch.fx}
    here = {"torch": facula, "nn": nn, "F": F, "fx": fx}
    for space in (there, here):
        space.update(operator=operator, math=math, __name__="m")
        exec(BESIDE[what], space)

    assert str(there["out"]) == str(here["out"])


def test_a_patch_is_not_put_on_another_unless_asked_for():
    class Thing:
        said = staticmethod(lambda: "before")

    with _Patcher() as patcher:
        patcher.patch_method(Thing, "said", lambda: "first")
        patcher.patch_method(Thing, "said", lambda: "second")
        assert "first" == Thing.said()
        home = {"f": lambda: "before"}
        patcher.patch(home, "f", lambda: "outer", deduplicate=False)
        patcher.patch(home, "f", lambda: "inner", deduplicate=False)
        assert "inner" == home["f"]()

    assert ("before", "before") == (Thing.said(), home["f"]())
