"""Functions from functions, as PyTorch's torch.func: gradients, Jacobians, products with them, modules as functions."""

from ._grads import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from ._module import functional_call, replace_all_batch_norm_modules_, stack_module_state
from ._plain import debug_unwrap, functionalize
from ._rearrange import rearrange
from ._vmap import vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "rearrange",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
