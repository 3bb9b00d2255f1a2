"""L-BFGS, with an optional strong Wolfe line search."""

from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple

import facula
from facula import Tensor
from facula.tensor_core import extend

from ._formula import check_lr
from .optimizer import Optimizer

__all__ = ["LBFGS"]

_cat_flat, _add_flat_ = (extend.function(extend.ops[name]) for name in ("_cat_flat", "_add_flat_"))


class Point(NamedTuple):
    """A place on the search line: step, loss, gradient there, slope along the line.

    Slopes are 0-d Tensors, and steps become such where a formula over slopes gave them: so PyTorch's state has it.
    """

    t: float | Tensor
    loss: float
    grad: Tensor
    slope: Tensor


def _cubic_minimum(a: Point, b: Point, bounds: tuple | None = None) -> float | Tensor:
    """Where the cubic through both points and slopes is least, within bounds. Source: Nocedal and Wright, equation 3.59."""
    low, high = bounds if bounds is not None else (a.t, b.t) if a.t <= b.t else (b.t, a.t)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if a.t <= b.t:
        t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        t = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(t, low), high)


def _strong_wolfe(
    at: Callable[[Any], Point], start: Point, t: float | Tensor, widest: Tensor, tolerance: float, most: int, c1: float = 1e-4, c2: float = 0.9
) -> tuple[Point, int]:
    """A point whose loss fell enough, by c1, and whose slope is flat enough, by c2, and the evaluations it took.

    First steps outwards until a minimum is bracketed, then zooms in. widest: the largest element of the direction.
    Source: Nocedal and Wright, Numerical Optimization (2006), algorithms 3.5 and 3.6.
    """

    def too_high(p: Point) -> bool:
        return p.loss > start.loss + c1 * p.t * start.slope

    def flat(p: Point) -> bool:
        return abs(p.slope) <= -c2 * start.slope

    previous, new = start, at(t)
    evaluations, tries = 1, 0
    bracket = None
    while tries < most:
        if too_high(new) or (tries > 1 and new.loss >= previous.loss):
            bracket = [previous, new]
            break
        if flat(new):
            return new, evaluations
        if new.slope >= 0:
            bracket = [previous, new]
            break
        t = _cubic_minimum(previous, new, (new.t + 0.01 * (new.t - previous.t), new.t * 10))
        previous, new = new, at(t)
        evaluations += 1
        tries += 1
    if bracket is None:
        bracket = [start, new]

    stalled = False
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    while tries < most:
        if abs(bracket[1].t - bracket[0].t) * widest < tolerance:
            break
        t = _cubic_minimum(bracket[0], bracket[1])
        left, right = sorted((bracket[0].t, bracket[1].t))
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:  # too near an end: once is let pass, then moved inwards
            if stalled or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        new = at(t)
        evaluations += 1
        tries += 1
        if too_high(new) or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = flat(new)
        if not done and new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if done:
            break
    return bracket[low], evaluations


def _real(t: Tensor) -> Tensor:
    return facula.view_as_real(t.resolve_conj()) if t.is_complex() else t


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` changes of gradient. step needs a closure, and calls it often.

    line_search_fn: None or "strong_wolfe". One parameter group only. Source: Nocedal (1980); Liu and Nocedal (1989).

    >>> w = facula.zeros(1, requires_grad=True)
    >>> optimizer = facula.optim.LBFGS([w])
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 3) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    ...
    >>> _ = optimizer.step(closure)
    >>> w.detach().round(decimals=3)
    tensor([3.])
    """

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    def _flat_grad(self) -> Tensor:
        grads = [p.grad for p in self._params]
        if any([grad is None or grad.is_sparse for grad in grads]):
            grads = [facula.zeros_like(p).detach() if grad is None else grad.to_dense() if grad.is_sparse else grad for p, grad in zip(self._params, grads)]
        flat = _cat_flat(grads)
        return _cat_flat([_real(grad) for grad in grads]) if flat.is_complex() else flat

    def _move(self, t: float | Tensor, direction: Tensor) -> None:
        t = float(t)
        try:
            _add_flat_(self._params, direction, t)
        except (TypeError, extend.DeviceError):  # complex parameters, such of several dtypes; what is wrong is refused again
            reals = [_real(p).detach() for p in self._params]  # whose history no write has to look at
            for real, part in zip(reals, direction.split([real.numel() for real in reals])):
                real.add_(part.view(real.shape), alpha=t)

    def step(self, closure: Callable) -> Any:
        """Up to max_iter iterations; the loss before the first."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"LBFGS: Expected exactly one param_group, but got {len(self.param_groups)}. Give all parameters to one.")
        with facula.no_grad():
            return self._minimise(closure)

    def _minimise(self, closure: Callable) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        lr, tolerance_change = group["lr"], group["tolerance_change"]
        lr = lr.reshape(()) if isinstance(lr, Tensor) else lr
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> Any:
            with facula.enable_grad():
                return closure()

        first = evaluate()
        loss, evaluations = float(first), 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max().item() <= group["tolerance_grad"]:
            return first
        begun = "d" in state
        n = 0
        while n < group["max_iter"]:
            n += 1
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            state["prev_flat_grad"] = grad.clone()
            previous_loss = state["prev_loss"] = loss
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            state["d"], state["t"] = direction, t
            slope = grad.dot(direction)
            if slope > -tolerance_change:
                break
            used = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError(f"LBFGS: line_search_fn is {group['line_search_fn']!r}, only 'strong_wolfe' is supported")
                start = Point(0, loss, grad, slope)
                found, used = self._search(evaluate, start, t, direction, tolerance_change, group["max_eval"] - evaluations)
                t, loss, grad = found.t, found.loss, found.grad
                state["t"] = t
                self._move(t, direction)
            else:
                self._move(t, direction)
                if n != group["max_iter"]:  # the last one's loss nobody would read
                    loss, used = float(evaluate()), 1
                    grad = self._flat_grad()
            evaluations += used
            state["func_evals"] += used
            if (
                evaluations >= group["max_eval"]
                or grad.abs().max().item() <= group["tolerance_grad"]
                or (direction * t).abs().max().item() <= tolerance_change
                or abs(loss - previous_loss) < tolerance_change
            ):
                break
        if not begun:  # PyTorch writes these when the first step ends
            for name in ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss"):
                state[name] = state.pop(name, None)
        return first

    def _direction(self, state: dict, grad: Tensor, history_size: int) -> Tensor:
        """-H grad, by the two-loop recursion. Source: Nocedal and Wright, algorithm 7.4."""
        if state["n_iter"] == 1:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            return grad.neg()
        changes, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y, s = grad - state["prev_flat_grad"], state["d"] * state["t"]
        ys = y.dot(s)
        if ys > 1e-10:
            if len(changes) == history_size:
                for history in (changes, steps, ro):
                    history.pop(0)
            changes.append(y)
            steps.append(s)
            ro.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        alphas = state.setdefault("al", [None] * history_size)  # kept in the state, as PyTorch keeps it
        q = grad.neg()
        for i in reversed(range(len(changes))):
            alphas[i] = steps[i].dot(q) * ro[i]
            q.add_(changes[i], alpha=-alphas[i].item())
        r = q * state["H_diag"]
        for i in range(len(changes)):
            r.add_(steps[i], alpha=(alphas[i] - changes[i].dot(r) * ro[i]).item())
        return r

    def _search(
        self, evaluate: Callable, start: Point, t: float | Tensor, direction: Tensor, tolerance: float, most: int
    ) -> tuple[Point, int]:
        origin = facula._foreach_clone(self._params)

        def at(t: float | Tensor) -> Point:
            self._move(t, direction)
            loss = float(evaluate())
            grad = self._flat_grad()
            facula._foreach_copy_(self._params, origin)
            return Point(t, loss, grad, grad.dot(direction))

        return _strong_wolfe(at, start, t, direction.abs().max(), tolerance, most)
