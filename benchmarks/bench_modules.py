#!/usr/bin/env python3
"""Modules of drawn configurations, forward alone and forward and backward, and steps of optimizers over drawn parameters, beside PyTorch.

    tools/bench modules [--seed 1] [--cases 3000] [--only Conv,LSTM] [--quick]

What bench_drawn.py is to functions this is to torch.nn: widths, kernels, strides, groups, heads, lengths, masks and reductions are drawn
(modules_drawn.py), and both libraries are called in turn in one process (_pairs.py), on one thread by processor time. Drawn again is what
takes PyTorch less than 5 us or more than 5 ms (15 ms with its backward). The summary gives, by class, how many cases were timed, the median
ratio, how many are above 1 and 1.5, and the worst. --only with a whole name and an equals sign before it (=Conv1d) takes that class alone.
"""

import importlib
import random
import time
from math import prod

import numpy as np
from _drawn import drawn_parser, run_drawn
from _harness import THEIRS, Case
from modules_drawn import CLASSES

FEWEST, MOST = 5e-6, 5e-3


class Drawn:
    """What was drawn for a class by a seed; module(t) and inputs(t) make it in the library t."""

    def __init__(self, name, seed):
        self.name, self.seed, self.r = name, seed, random.Random(seed)
        self.dtype = self.any("float32", "float32", "float32", "float32", "float32", "float32", "float64")
        self.train, self.optimizer, self.backward_alone, self.same, self.graded = True, False, False, True, 9
        self.function, self.packed, self.options, self.arguments, self.shapes = None, None, {}, (), []
        CLASSES[name](self)

    def any(self, *values):
        return self.r.choice(values)

    def of(self, values):
        return self.r.choice(values)

    def chance(self, part):
        return self.r.random() < part

    def maybe(self, part, **options):
        return options if self.chance(part) else {}

    def make(self, inputs, *arguments, **options):
        self.arguments, self.options, self.shapes = arguments, options, inputs

    def call(self, function, inputs, **options):
        self.function, self.options, self.shapes = function, options, inputs

    def step(self, shapes, **options):
        self.optimizer, self.options, self.shapes, self.dtype = True, options, shapes, "float32"

    def __str__(self):
        said = ", ".join([*map(str, self.arguments), *(f"{k}={v}" for k, v in self.options.items())])
        if self.optimizer:
            return f"{self.name}({said}) of {len(self.shapes)} parameters, {sum(prod(s) for s in self.shapes)} elements"
        shapes = ", ".join(str(tuple(shape)) for _, shape in self.shapes)
        mode = "" if self.train else " eval"
        lengths = " packed" if self.packed else ""
        return f"{self.function or self.name}({said}){mode} of {shapes}{lengths}" + " float64" * (self.dtype == "float64")

    def tensor(self, t, kind, shape, salt):
        draw = np.random.default_rng(self.seed + salt)
        if isinstance(kind, int):
            return t.from_numpy(draw.integers(0, kind, shape))
        if kind == "b":
            return t.from_numpy(draw.random(shape) < 0.8)
        array = draw.standard_normal(shape) if kind == "n" else draw.random(shape) if kind == "u" else np.sign(draw.random(shape) - 0.5)
        return t.from_numpy(np.asarray(array)).to(getattr(t, self.dtype))

    def inputs(self, t):
        return [self.tensor(t, kind, shape, salt) for salt, (kind, shape) in enumerate(self.shapes)]

    def module(self, t):
        t.manual_seed(0)
        if self.function:
            function, options = getattr(t.nn.functional, self.function), self.options
            return lambda *inputs: function(*inputs, **options)
        module = getattr(t.nn, self.name)(*self.arguments, **self.options).to(getattr(t, self.dtype)).train(self.train)
        if not self.packed:
            return module
        lengths, first = t.tensor(self.packed), self.options.get("batch_first", False)

        def packed(x):
            return module(t.nn.utils.rnn.pack_padded_sequence(x, lengths, first))[0].data

        packed.parameters = module.parameters
        return packed


def forward(t, d):
    module, inputs = d.module(t), d.inputs(t)

    def call():
        with t.no_grad():
            return module(*inputs)

    return call


def both(t, d):
    """Gradients of all inputs and parameters that have one."""
    module, inputs = d.module(t), d.inputs(t)
    wanted = [x.requires_grad_() for k, x in enumerate(inputs) if x.is_floating_point() and k < d.graded]
    wanted += list(module.parameters()) if hasattr(module, "parameters") else []

    def result():
        out = module(*inputs)
        while isinstance(out, (tuple, list)):
            out = out[0]
        return out

    g = d.tensor(t, "n", result().shape, 77)
    return lambda: t.autograd.grad(result(), wanted, g, allow_unused=True)


def optimizer_step(t, d):
    """A step over parameters that have their gradients."""
    parameters = []
    for salt, shape in enumerate(d.shapes):
        x = d.tensor(t, "n", shape, salt).requires_grad_()
        x.grad = d.tensor(t, "n", shape, salt + 1000)
        parameters.append(x)
    optimizer = getattr(t.optim, d.name)(parameters, **d.options)

    def call():
        optimizer.step()
        return parameters[0]

    return call


def fits(torch, make, d, most):
    """Whether PyTorch has it, and takes as long as a case should."""
    try:
        call = make(torch, d)
        call()
        took = []
        for _ in range(3):
            start = time.process_time()
            call()
            took.append(time.process_time() - start)
    except (RuntimeError, ValueError, AssertionError, TypeError, IndexError, NotImplementedError):
        return False
    return FEWEST <= min(took) <= most


def cases(torch, seed, count, only):
    names = [n for n in CLASSES if not only or any(n == part[1:] if part.startswith("=") else part in n for part in only)]
    for k in range(count):
        name = names[k % len(names)]
        for again in range(100):
            d = Drawn(name, seed * 1_000_003 + 1009 * k + again)
            back = (k // len(names) % 2 == 1 or d.backward_alone) and d.graded > 0
            make = optimizer_step if d.optimizer else both if back else forward
            if fits(torch, make, d, MOST * (3 if back else 1)):
                kind = "" if d.optimizer else " and back" if back else ""
                yield Case(f"{d}{kind}", lambda t, d=d, make=make: make(t, d), family=name, tol=1e-3 if d.same else None)
                break


def run():
    options = drawn_parser(__doc__).parse_args()
    run_drawn("modules", options, lambda count: cases(importlib.import_module(THEIRS), options.seed, count, options.only), 0.03)


if __name__ == "__main__":
    run()
