"""Functions from functions, as PyTorch's torch.func: gradients, Jacobians, products with them, modules as functions."""

from ._grads import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from ._module import functional_call, stack_module_state
from ._vmap import vmap

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "stack_module_state", "vjp", "vmap"]
