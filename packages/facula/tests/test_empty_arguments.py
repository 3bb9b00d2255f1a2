"""Every public function given tensors that hold nothing: it answers or refuses as functions do; it does not crash, hang, or ask for memory.

A process of its own calls them and says which one it is in, so that a crash fails a test and names its cause.
"""

import faulthandler
import subprocess
import sys
import warnings

import pytest

import facula

SHAPES = [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 3), (2, 3, 0), (0, 2, 3), (1, 0, 4, 4), (0, 2, 4, 4), (2, 3, 0, 4), (2, 3, 4, 0)]
DTYPES = [facula.float32, facula.int64]
SPACES = ["", "nn.functional", "linalg", "fft", "special", "sparse", "masked", "Tensor"]
OTHERS = {"manual_seed", "seed", "save", "load", "fork", "use_deterministic_algorithms"}  # and those of set_: what they change outlives the call
REFUSALS = (TypeError, ValueError, RuntimeError, IndexError, AttributeError, AssertionError)
DIVIDES = {("nn.functional", "group_norm")}  # PyTorch's divides by the number of groups before it looks at it, and so its class is ZeroDivisionError


def functions(space):
    """The names in a namespace, "nn.functional", of what can be called and leaves the process as it is."""
    owner = facula
    for part in filter(None, space.split(".")):
        owner = getattr(owner, part)
    for name in dir(owner):
        of = getattr(owner, name, None)
        if callable(of) and not isinstance(of, type) and not name.startswith(("_", "set_")) and name not in OTHERS:
            yield name, of


def arguments(shape, dtype):
    x, index = facula.zeros(shape, dtype=dtype), facula.zeros(shape, dtype=facula.int64)
    some, none = facula.zeros(3, 3, 1, 1), facula.zeros(3, 0)
    yield from ((x,), (x, x), (x, x, x), ([x, x],), (x, index), (index, index), (x, some), (x, none), (x, 2), (x, -1), (x, (1, 1)))
    for dim in (0, 1):
        yield from ((x, dim), ([x, x], dim), (x, dim, index), (x, dim, index, x))


def call_all(space):
    """In the child. The exceptions that no function should raise are told on the standard output."""
    faulthandler.dump_traceback_later(300, exit=True)
    for name, of in functions(space):
        print(name, file=sys.stderr, flush=True)
        for shape in SHAPES:
            for dtype in DTYPES:
                for given in arguments(shape, dtype):
                    try:
                        of(*given)
                    except REFUSALS:
                        pass
                    except Exception as e:
                        if isinstance(e, ZeroDivisionError) and (space, name) in DIVIDES:
                            continue
                        print(f"{name}{tuple(getattr(a, 'shape', a) for a in given)}: {e!r}")


@pytest.mark.parametrize("space", SPACES)
def test_a_function_given_nothing_answers_or_refuses(space):
    assert len(list(functions(space))) > 2
    child = subprocess.run([sys.executable, "-X", "faulthandler", __file__, space], capture_output=True, text=True)
    assert child.returncode == 0, child.stderr[-2000:]
    assert not child.stdout, child.stdout[:2000]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    call_all(sys.argv[1])
