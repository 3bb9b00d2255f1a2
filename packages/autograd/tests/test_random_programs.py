"""Random programs of operations, views, writes and backward passes, step by step beside PyTorch where it is installed.

After every step both must have raised or not, and agree on every tensor's values, requires_grad, is_leaf and .grad. Facula refuses
less than PyTorch in two places: writes to one of several views of a tensor without history, and views made under no_grad of one.
Where PyTorch alone refuses for such a reason the program ends.
"""

import random

import pytest
from backend import BACKEND, near, torch

reference = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
if BACKEND == "torch":
    pytest.skip("compares two libraries", allow_module_level=True)

LIBRARIES = (reference, torch)
STRICTER = ("returns multiple views", "created in no_grad mode", "some elements of the input tensor", "doesn't match the broadcast shape")
VALUES = [[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, 2.0], [3.0, -2.0, 1.5, 0.75]]

# each entry: name -> function of (library, tensors, i, j)
OPS = {
    "mul": lambda T, p, i, j: p[i] * p[j],
    "add": lambda T, p, i, j: p[i] + p[j],
    "sin": lambda T, p, i, j: p[i].sin(),
    "exp": lambda T, p, i, j: p[i].clamp(-3, 3).exp(),
    "sigmoid": lambda T, p, i, j: p[i].sigmoid(),
    "clone": lambda T, p, i, j: p[i].clone(),
    "sum": lambda T, p, i, j: p[i].sum(),
    "sum of rows": lambda T, p, i, j: p[i].sum(0),
    "square": lambda T, p, i, j: p[i] * p[i],
    "div": lambda T, p, i, j: p[i] / (p[j].detach().abs() + 1),
}
VIEWS = {  # with the number of dims that they need
    "alias": (0, lambda T, p, i, j: p[i][...]),
    "unsqueeze": (0, lambda T, p, i, j: p[i].unsqueeze(0)),
    "view": (0, lambda T, p, i, j: p[i].view(-1)),
    "as_strided": (0, lambda T, p, i, j: p[i].as_strided((2,), (1,))),
    "select": (1, lambda T, p, i, j: p[i][0]),
    "slice": (1, lambda T, p, i, j: p[i][1:]),
    "narrow": (1, lambda T, p, i, j: p[i].narrow(0, 0, 1)),
    "expand": (1, lambda T, p, i, j: p[i].unsqueeze(0).expand(2, *p[i].shape)),
    "unbind": (1, lambda T, p, i, j: list(p[i].unbind(0))),
    "split": (1, lambda T, p, i, j: list(p[i].split(2))),
    "chunk": (1, lambda T, p, i, j: list(p[i].chunk(2))),
    "rows": (1, lambda T, p, i, j: p[i][[0, 0]]),
    "transpose": (2, lambda T, p, i, j: p[i].transpose(0, 1)),
    "diagonal": (2, lambda T, p, i, j: p[i].diagonal()),
    "column": (2, lambda T, p, i, j: p[i].select(1, 0)),
    "columns": (2, lambda T, p, i, j: p[i][:, ::2]),
    "permute": (2, lambda T, p, i, j: p[i].permute(*range(p[i].ndim - 1, -1, -1))),
}
WRITES = {
    "mul_": (0, lambda T, p, i, j: p[i].mul_(2)),
    "add_": (0, lambda T, p, i, j: p[i].add_(p[j])),
    "mul_ by": (0, lambda T, p, i, j: p[i].mul_(p[j])),
    "zero_": (0, lambda T, p, i, j: p[i].zero_()),
    "fill_": (0, lambda T, p, i, j: p[i].fill_(0.5)),
    "copy_": (0, lambda T, p, i, j: p[i].copy_(p[j])),
    "sigmoid_": (0, lambda T, p, i, j: p[i].sigmoid_()),
    "exp_": (0, lambda T, p, i, j: p[i].clamp_(-2, 2).exp_()),
    "pow_": (0, lambda T, p, i, j: p[i].pow_(2)),
    "clamp_": (0, lambda T, p, i, j: p[i].clamp_(-1, 1)),
    "[...] =": (0, lambda T, p, i, j: p[i].__setitem__(Ellipsis, p[j])),
    "[0] = sum": (1, lambda T, p, i, j: p[i].__setitem__(0, p[j].sum())),
    "[0] = 3": (1, lambda T, p, i, j: p[i].__setitem__(0, 3.0)),
    "[1:] =": (1, lambda T, p, i, j: p[i].__setitem__(slice(1, None), p[j])),
    "[:, 0] =": (2, lambda T, p, i, j: p[i].__setitem__((slice(None), 0), p[j])),
}
OTHERS = {
    "detach": lambda T, p, i, j: p[i].detach(),
    "data": lambda T, p, i, j: p[i].data,
    "requires_grad_": lambda T, p, i, j: p[i].requires_grad_(),
    "requires_grad_(False)": lambda T, p, i, j: p[i].requires_grad_(False),
    "detach_": lambda T, p, i, j: p[i].detach_(),
    "grad = None": lambda T, p, i, j: setattr(p[i], "grad", None),
    "retain_grad": lambda T, p, i, j: p[i].retain_grad(),
}
NOT_WITH_VIEWS = {"requires_grad_", "requires_grad_(False)", "detach_"}  # PyTorch's views then answer what their base does


def starts(T):
    return [
        T.tensor(VALUES, dtype=T.float64, requires_grad=True),
        T.tensor([1.5, -0.5, 2.0, 1.0], dtype=T.float64, requires_grad=True),
        T.tensor(VALUES, dtype=T.float64),
    ]


class Stricter(Exception):
    """PyTorch refused what Facula can do."""


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pools = tuple(starts(T) for T in LIBRARIES)
        self.log = []

    def step(self):
        r, known = self.random, self.pools[0]
        i, j = r.randrange(len(known)), r.randrange(len(known))
        kind = r.choices(("op", "view", "write", "backward", "grad", "other", "silent op"), (3, 4, 4, 1, 1, 1, 1))[0]
        silent = kind == "silent op" or (kind in ("view", "write") and r.random() < 0.12)
        if kind in ("op", "silent op"):
            name = r.choice(sorted(OPS))
            f = OPS[name]
        elif kind in ("view", "write"):
            table = VIEWS if kind == "view" else WRITES
            name = r.choice(sorted(n for n in table if table[n][0] <= known[i].ndim))
            f = table[name][1]
        elif kind == "backward":
            keep = r.random() < 0.6
            name, f = f"backward keep={keep}", lambda T, p, i, j: p[i].backward(T.ones(tuple(p[i].shape), dtype=T.float64), retain_graph=keep)
        elif kind == "grad":
            options = dict(retain_graph=r.random() < 0.6, create_graph=r.random() < 0.3, allow_unused=r.random() < 0.5)
            name, f = f"grad {options}", lambda T, p, i, j: list(T.autograd.grad((p[i] * p[i]).sum(), [p[j]], **options))
        else:
            name = r.choice(sorted(OTHERS))
            f = OTHERS[name]
            if name in NOT_WITH_VIEWS and (known[i]._base is not None or any(t._base is known[i] for t in known)):
                return
        self.log.append(f"{'no_grad ' if silent else ''}{name} t{i} t{j}")
        self.run(f, i, j, silent)
        self.compare()

    def run(self, f, i, j, silent):
        results = []
        for T, pool in zip(LIBRARIES, self.pools):
            try:
                with T.set_grad_enabled(not silent):
                    results.append((None, f(T, pool, i, j)))
            except Exception as error:
                results.append((error, None))
        (theirs, a), (ours, b) = results
        if theirs is not None and ours is None and any(word in str(theirs) for word in STRICTER):
            raise Stricter
        if theirs is None and ours is not None and "more than one element of the written-to" in str(ours):
            raise Stricter  # the core's: PyTorch lets a copy write several times to one element
        assert (theirs is None) == (ours is None), f"{theirs!r} against {ours!r}"
        if theirs is not None:
            assert isinstance(ours, RuntimeError if isinstance(theirs, RuntimeError) else type(theirs))
            return
        for x, y in zip(*(found if isinstance(found, list) else [found] for found in (a, b))):
            assert (x is None) == (y is None)
            if x is not None and not any(x is t for t in self.pools[0]):
                self.pools[0].append(x)
                self.pools[1].append(y)

    def compare(self):
        for k, (x, y) in enumerate(zip(*self.pools)):
            theirs = described(x)
            if "refused" in theirs:
                raise Stricter
            ours = described(y)
            for theirs_, ours_, what in zip(theirs, ours, ("values", "requires_grad", "is_leaf", "grad")):
                same = theirs_ == ours_ if isinstance(theirs_, bool) or theirs_ is None or ours_ is None else near(ours_, theirs_)
                assert same, f"t{k}.{what}: {theirs_} in PyTorch, {ours_} here"


def described(t):
    def ask(f):
        try:
            return f()
        except RuntimeError as error:
            if any(word in str(error) for word in STRICTER):
                return "refused"
            raise

    return t.detach().tolist(), ask(lambda: t.requires_grad), ask(lambda: t.is_leaf), ask(lambda: t.grad.tolist() if t.is_leaf and t.grad is not None else None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(400))
def test_program_does_what_pytorch_does(seed):
    program = Program(seed)
    try:
        for _ in range(14):
            program.step()
    except Stricter:
        pass
    except Exception as error:
        raise AssertionError(f"seed {seed}: " + "; ".join(program.log)) from error
