"""torch._vmap_internals: the vmap from before functorch, of functions whose arguments and results are no deeper than tuples."""

from __future__ import annotations

from typing import Any, Callable

from facula.func import vmap


def _vmap(func: Callable, in_dims: int | tuple = 0, out_dims: int | tuple = 0, allow_none_pass_through: bool = False) -> Callable:
    """func over the examples along in_dims, the results' examples along out_dims.

    allow_none_pass_through: results may be None, and stay None.
    """

    def mapped(*args: Any) -> Any:
        if not allow_none_pass_through:
            return vmap(func, in_dims, out_dims)(*args)
        form: list = []  # what func answers, None where it is None

        def tensors(*examples: Any) -> tuple:
            found = func(*examples)
            form[:] = [isinstance(found, tuple), found if isinstance(found, tuple) else (found,)]
            return tuple(x for x in form[1] if x is not None)

        dims = out_dims
        if isinstance(out_dims, tuple):  # one for each result, of which the Nones are gone
            probe = vmap(tensors, in_dims)
            probe(*args)
            dims = tuple(d for d, x in zip(out_dims, form[1]) if x is not None)
        whole = iter(vmap(tensors, in_dims, dims)(*args))
        results = tuple(None if x is None else next(whole) for x in form[1])
        return results if form[0] else results[0]

    return mapped
