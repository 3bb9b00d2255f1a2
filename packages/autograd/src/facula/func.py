"""facula.func, PyTorch's name for the functions of functions in facula.autograd.func."""

from facula.autograd.func import (
    debug_unwrap,
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    rearrange,
    replace_all_batch_norm_modules_,
    stack_module_state,
    vjp,
    vmap,
)

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "rearrange",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
