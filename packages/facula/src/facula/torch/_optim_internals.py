"""torch.optim.optimizer: what optimizers written for PyTorch import from beside Optimizer."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable
from typing import Any, Callable, Union

import facula

ParamsT = Union[Iterable[facula.Tensor], Iterable[dict[str, Any]], Iterable[tuple[str, facula.Tensor]]]


def _default_to_fused_or_foreach(params: list, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """(fused, foreach): neither, lists in one call do not pay on a CPU."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Kinds of device whose steps a graph can capture."""
    return []


def _get_value(x: Any) -> Any:
    """A tensor's number; anything else as it is."""
    return x.item() if isinstance(x, facula.Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """x: nothing is compiled."""
    return x


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple | None = None) -> Any:
    """Where the cubic through two points (x, f) with slopes g, tensors, is least, within bounds, else between the points."""
    from facula.optim.lbfgs import Point, _cubic_minimum

    return _cubic_minimum(Point(x1, f1, g1, g1), Point(x2, f2, g2, g2), bounds)


def _strong_wolfe(
    obj_func: Callable, x: Any, t: Any, d: Any, f: Any, g: Any, gtd: Any, c1: float = 1e-4, c2: float = 0.9, tolerance_change: float = 1e-9, max_ls: int = 25
) -> tuple:
    """(loss, gradient, step, evaluations) of a search from x along d that meets Wolfe's strong conditions.

    obj_func(x, t, d): loss and gradient at x + t d; f, g, gtd: those at x, and the slope along d; t: the first step to try.
    """
    from facula.optim import lbfgs

    def at(step: Any) -> Any:
        loss, gradient = obj_func(x, step, d)
        return lbfgs.Point(step, loss, gradient, gradient.dot(d))

    found, evaluations = lbfgs._strong_wolfe(at, lbfgs.Point(0, f, g, gtd), t, d.abs().max(), tolerance_change, max_ls, c1, c2)
    return found.loss, found.grad, found.t, evaluations


def _dispatch_sqrt(x: Any) -> Any:
    """The root of a tensor or number."""
    return x.sqrt() if isinstance(x, facula.Tensor) else x**0.5


def _view_as_real(params: list, *state_and_grads: list) -> None:
    """Complex parameters and what goes with them seen as pairs, in their lists."""
    for at, param in enumerate(params):
        if facula.is_complex(param):
            params[at] = facula.view_as_real(param)
            for tensors in state_and_grads:
                tensors[at] = facula.view_as_real(tensors[at].resolve_conj())


@contextlib.contextmanager
def _enable_get_lr_call(o: Any) -> Any:
    """A block in which the schedule's get_lr does not warn."""
    o._get_lr_called_within_step = True
    try:
        yield o
    finally:
        o._get_lr_called_within_step = False


def _use_grad_for_differentiable(func: Callable) -> Callable:
    """A step that records its operations exactly where the optimizer was made differentiable."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **options: Any) -> Any:
        with facula.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            return func(self, *args, **options)

    return step
