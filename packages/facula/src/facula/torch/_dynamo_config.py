"""torch._dynamo.config: a compiler's switches, which programs set. Nothing is compiled, so they are remembered and change nothing."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator

cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
allow_unspec_int_on_nn_module = capture_dynamic_output_shape_ops = capture_scalar_outputs = False
disable = error_on_recompile = fail_on_recompile_limit_hit = skip_nnmodule_hook_guards = suppress_errors = verbose = False
automatic_dynamic_shapes = assume_static_by_default = guard_nn_modules = inline_inbuilt_nn_modules = optimize_ddp = specialize_int = True
dynamic_shapes = True


@contextlib.contextmanager
def patch(arg1: Any = None, arg2: Any = None, **switches: Any) -> Iterator[None]:
    """A block, or a decorator, with switches set otherwise: patch(verbose=True), patch("verbose", True) or patch({"verbose": True})."""
    switches.update(arg1 if isinstance(arg1, dict) else {} if arg1 is None else {arg1: arg2})
    module = sys.modules["torch._dynamo.config"]
    before = {name: getattr(module, name) for name in switches}
    for name, value in switches.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
