"""Optimizers that hold another one and leave Optimizer.__init__ out, as libraries write them."""

import facula
from facula import optim


class Wrapper(optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner

    def step(self, closure=None):
        return self.inner.step(closure)


def test_a_wrapper_without_init_steps():
    w = facula.ones(2, requires_grad=True)
    wrapper = Wrapper(optim.SGD([w], lr=0.5))
    (2 * w).sum().backward()
    wrapper.step()

    assert [0.0, 0.0] == w.tolist()
