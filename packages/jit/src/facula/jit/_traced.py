"""What trace and load give back: something to call, with the graph in it."""

from facula.tensor_core.extend import Tensor

from ._replay import run, steps_of
from .graph import rebuild


OTHERS = 64  # traces of other shapes that one keeps


def flatten(tree, path="input", found=None):
    """(path, tensor) of every tensor in nested tuples, lists and dicts. Raises TypeError for anything else."""
    found = [] if found is None else found
    if isinstance(tree, Tensor):
        found.append((path, tree))
    elif isinstance(tree, (tuple, list)):
        for k, item in enumerate(tree):
            flatten(item, f"{path}[{k}]", found)
    elif isinstance(tree, dict):
        for key, item in tree.items():
            flatten(item, f"{path}[{key!r}]", found)
    else:
        raise RuntimeError(
            f"trace: {path} is a {type(tree).__name__}; only tensors, and tuples, lists and dicts of tensors, can be traced. Close over other values."
        )
    return found


def shape_of(tree):
    """The nesting alone, to compare."""
    if isinstance(tree, Tensor):
        return "tensor"
    if isinstance(tree, dict):
        return {k: shape_of(v) for k, v in tree.items()}
    return [shape_of(i) for i in tree]


class Trace:
    """The graph with what a call needs: the nesting of the arguments and the steps.

    again: records the original on other inputs; None for a trace that came from a file, which serves its own shapes alone.
    """

    def __init__(self, graph, nesting, parameters, again=None):
        self.graph, self.nesting, self.parameters = graph, nesting, parameters
        self.steps, self.again, self.others = steps_of(graph), again, {}

    def __call__(self, args, kwargs, state):
        args = self.bind(args, kwargs)
        tensors = flatten(args)
        if shape_of(args) != self.nesting:
            raise RuntimeError(
                f"trace: the arguments are nested as {shape_of(args)}, traced with {self.nesting}. Trace again with such inputs."
            )
        for (_, t), v in zip(tensors, self.graph.inputs):
            if tuple(t.shape) != v.shape or t.dtype is not v.dtype:
                if self.again is not None:
                    return self._other(args, tensors)(args, {}, state)
                raise RuntimeError(
                    f"trace: {v.name} has shape {tuple(t.shape)} and dtype {t.dtype._name}, the trace was made with {v.shape} and {v.dtype._name} and is "
                    "for that alone. Trace again with such an input."
                )
        return run(self.graph, self.steps, [t for _, t in tensors], state)

    def _other(self, args, tensors):
        """The trace for inputs of these shapes and dtypes, made when they first come."""
        key = tuple((tuple(t.shape), t.dtype) for _, t in tensors)
        if key not in self.others:
            if len(self.others) >= OTHERS:
                self.others.clear()
            self.others[key] = Trace(self.again(args), self.nesting, self.parameters)
        return self.others[key]

    def bind(self, args, kwargs):
        """Arguments by name in their places."""
        if not kwargs:
            return args
        left = list(self.parameters[len(args) :])
        if sorted(kwargs) != sorted(left):
            raise TypeError(f"trace: given arguments {sorted(kwargs)} by name, expected {left}.")
        return (*args, *(kwargs[name] for name in left))


class Readable:
    """What holds a trace: a function or a module."""

    @property
    def graph(self):
        """The recorded rows."""
        return self._trace.graph

    @property
    def code(self):
        """The recorded rows as a Python function."""
        return self._trace.graph.code

    def save(self, f, _extra_files=None):
        """Write it to a file that facula.jit.load reads."""
        from ._file import save

        save(self, f, _extra_files)


class TracedFunction(Readable):
    """A recorded function: call it like the original, with inputs of any shapes (those of the example alone, if it came from a file).

    >>> traced = facula.jit.trace(lambda x: x * 2, facula.ones(2))
    >>> isinstance(traced, facula.jit.TracedFunction), traced(facula.tensor([1.0, 2.0, 3.0]))
    (True, tensor([2., 4., 6.]))
    """

    def __init__(self, trace, name="forward", tensors=None, buffers=()):
        self._trace, self.name, self._tensors, self._buffers = trace, name, tensors or {}, frozenset(buffers)

    def __call__(self, *args, **kwargs):
        return self._trace(args, kwargs, self._tensors.__getitem__)

    def named_parameters(self):
        """(name, tensor) of each parameter that came with a loaded module."""
        return ((n, t) for n, t in self._tensors.items() if n not in self._buffers)

    def parameters(self):
        """The parameters that came with a loaded module."""
        return (t for _, t in self.named_parameters())

    def named_buffers(self):
        return ((n, t) for n, t in self._tensors.items() if n in self._buffers)

    def buffers(self):
        return (t for _, t in self.named_buffers())

    def state_dict(self):
        """Parameters and buffers by name, detached."""
        return {name: t.detach() for name, t in self._tensors.items()}

    def __repr__(self):
        return f"TracedFunction({self.name}, {len(self.graph.nodes)} rows)"


def traced_module(trace, module, base):
    """A module of class base over the original's parameters, buffers and children, whose forward runs the trace."""

    class TracedModule(Readable, base):
        def __init__(self):
            base.__init__(self)
            self._parameters.update(module._parameters)
            self._buffers.update(module._buffers)
            self._non_persistent_buffers_set.update(module._non_persistent_buffers_set)
            self._modules.update(module._modules)
            object.__setattr__(self, "_trace", trace)
            self.training = module.training
            self.original_name = type(module).__name__

        def forward(self, *args, **kwargs):
            return self._trace(args, kwargs, self._tensor)

        def _tensor(self, name):
            owner, _, last = name.rpartition(".")
            for part in owner.split(".") if owner else ():
                self = self._modules[part]
            found = self._parameters.get(last)
            return self._buffers[last] if found is None else found

        def extra_repr(self):
            return f"original_name={self.original_name}"

    TracedModule.__module__, TracedModule.__qualname__ = TracedFunction.__module__, "TracedModule"  # where programs look for it
    return TracedModule()


def outputs_of(tree, tracer):
    """The outputs with Values for tensors. Raises RuntimeError for what a trace cannot give."""

    def one(item):
        if isinstance(item, Tensor):
            return tracer.find(item)
        raise RuntimeError(
            f"trace: the function returned a {type(item).__name__}; only tensors, and tuples, lists and dicts of tensors, can come out of a trace. Return a tensor."
        )

    return rebuild(tree, one)
