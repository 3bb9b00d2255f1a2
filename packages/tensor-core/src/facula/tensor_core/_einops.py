"""einops works on tensors: its backend for them, registered from this side when einops is imported.

einops finds a backend among the subclasses of its AbstractBackend, so one has to exist before the first call. A finder that knows one
name waits for `einops._backends`, and leaves when it came.
"""

import sys

_MODULE = "einops._backends"
_backends = []  # keeps the class: a class knows its subclasses by weak references


def register(backends):
    """Define the backend: a subclass is all that einops asks for."""
    import facula

    class FaculaBackend(backends.AbstractBackend):
        framework_name = "facula"

        def is_appropriate_type(self, tensor):
            return isinstance(tensor, facula.Tensor)

        def from_numpy(self, x):
            return facula.from_numpy(x)

        def to_numpy(self, x):
            return x.detach().numpy()

        def arange(self, start, stop):
            return facula.arange(start, stop, dtype=facula.int64)

        def reduce(self, x, operation, axes):
            if operation in ("min", "max"):
                return (x.amin if operation == "min" else x.amax)(dim=axes)
            if operation == "prod":
                for axis in sorted(axes, reverse=True):
                    x = x.prod(dim=axis)
                return x
            return getattr(x, operation)(dim=axes)  # sum, mean, any, all

        def transpose(self, x, axes):
            return x.permute(axes)

        def stack_on_zeroth_dimension(self, tensors):
            return facula.stack(tensors)

        def add_axes(self, x, n_axes, pos2len):
            sizes = [-1] * n_axes
            for position, length in pos2len.items():
                x, sizes[position] = x.unsqueeze(position), length
            return x.expand(sizes)

        def tile(self, x, repeats):
            return x.repeat(repeats)

        def concat(self, tensors, axis):
            return facula.cat(tensors, dim=axis)

        def add_axis(self, x, new_position):
            return x.unsqueeze(new_position)

        def is_float_type(self, x):
            return x.is_floating_point()

        def einsum(self, pattern, *x):
            return facula.einsum(pattern, *x)

    _backends.append(FaculaBackend)


class _Waiting:
    """The finder: registers the backend behind the loading of einops' own file."""

    def find_spec(self, name, path=None, target=None):
        if name != _MODULE:
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            register(module)

        spec.loader.exec_module = exec_module
        return spec


def arrange():
    """Register now if einops is there, else when it comes."""
    if _MODULE in sys.modules:
        register(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Waiting())
