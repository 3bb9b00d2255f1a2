"""What optimizers that treat each parameter by itself have in common.

They state an initial state, the row of the core that makes one step of all parameters in one call, and what it is given;
and the same step as a composition, which is what differentiable=True records.
"""

from __future__ import annotations

from itertools import compress
from typing import Any, Callable

import facula
from facula import Tensor
from facula.tensor_core import extend

from .optimizer import Optimizer


def check(ok: bool, what: str, value: Any) -> None:
    """ValueError `Invalid <what>: <value>` unless ok."""
    if not ok:
        raise ValueError(f"Invalid {what}: {value}")


def check_lr(lr: Any) -> None:
    """A learning rate is a number that is not negative, or a Tensor of one element."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check(lr >= 0.0, "learning rate", lr)


def check_options(**options: Any) -> None:
    """Ranges, in the order given: lr as check_lr has it, betas in [0, 1), rho in [0, 1], any other not negative. NaN is in none."""
    for name, value in options.items():
        if name == "lr":
            check_lr(value)
        elif name == "betas":
            for k in (0, 1):
                check(0.0 <= value[k] < 1.0, f"beta parameter at index {k}", value[k])
        else:
            label = "epsilon" if name == "eps" else name
            check(0.0 <= value <= 1.0 if name == "rho" else value >= 0.0, f"{label} value", value)


def check_implementation(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """foreach and fused name PyTorch's implementations. There is one here, so they choose nothing; contradictions are refused."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach and fused:  # in this order: a foreach that is neither true nor false is refused
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def refuse_fused(p: Tensor, group: dict) -> None:
    """RuntimeError where PyTorch's fused step refuses a parameter."""
    if group.get("fused") and (p.is_meta or not p.is_floating_point()):
        raise RuntimeError(
            f"`fused=True` requires all the params to be floating point Tensors of supported devices: ['cpu', 'cuda'] but {p.dtype} and "
            f"{p.device.type}. Leave fused out."
        )


def refuse_foreach(group: dict) -> None:
    """AssertionError where PyTorch's step of whole lists refuses to be differentiated."""
    if group.get("foreach") and group.get("differentiable"):
        raise AssertionError("_foreach ops don't support autograd: foreach and differentiable cannot be True together. Leave foreach out.")


def number(x: Any) -> float:
    """The Python number of a number or of a Tensor of one element."""
    return x.item() if isinstance(x, Tensor) else x


def factor(x: Any) -> Any:
    """The number as a composition takes it: a Tensor that requires grad stays one, for the gradient of what is learned through the step."""
    return x if isinstance(x, Tensor) and x.requires_grad else number(x)


def add_scaled(t: Tensor, x: Tensor, scale: Any) -> Tensor:
    """t += scale * x, of a number or a Tensor of one element."""
    return t.addcmul_(x, scale) if isinstance(scale, Tensor) else t.add_(x, alpha=scale)


def flag(group: dict, name: str) -> bool:
    """An option as a row takes it: what is true or false, but with fused a bool, as PyTorch's fused steps want it."""
    value = group[name]
    return value if value is True or value is False or group.get("fused") else bool(value)


def common(group: dict) -> tuple[float, float, bool]:
    """(lr, weight decay, maximize) of a group, as a row takes them."""
    return number(group["lr"]), number(group.get("weight_decay", 0)), flag(group, "maximize")


def decay_rates(group: dict) -> tuple[float, float]:
    """The two decay rates of a group, as a row takes them."""
    beta1, beta2 = group["betas"]
    return number(beta1), number(beta2)


def count() -> Tensor:
    """A step count: 0-d, of the dtype in which PyTorch saves it."""
    return facula.zeros((), dtype=scalar_dtype())


def scalar_dtype() -> facula.dtype:
    """Of counts and other numbers in the state: float64 where that is the default dtype, else float32."""
    return facula.float64 if facula.get_default_dtype() is facula.float64 else facula.float32


_NUMBERS = ("step", "eta", "mu", "mu_product")  # state of one element


class FormulaOptimizer(Optimizer):
    """step = for each parameter with a gradient: _fresh(p, group) once; then the row `_kernel` over all of them.

    A complex parameter is its real view, as are gradient and state."""

    _kernel = ""  # the row's name
    _sees_complex = False  # update takes complex tensors as they are
    _younger = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}  # options that checkpoints of older versions lack
    _couples_decay = True  # weight decay is weight_decay * p added to the gradient, before update

    def _fresh(self, p: Tensor, group: dict) -> dict[str, Any] | None:
        """The state of a parameter before its first step; None where the formula has none."""
        raise NotImplementedError(f"{type(self).__name__} does not define _fresh.")

    def _columns(self, group: dict) -> tuple[str | None, ...]:
        """The state that the row is given after parameters and gradients, one list each; None for a list that is empty."""
        raise NotImplementedError(f"{type(self).__name__} does not define _columns.")

    def _settings(self, group: dict) -> tuple:
        """The numbers that the row is given after its lists."""
        raise NotImplementedError(f"{type(self).__name__} does not define _settings.")

    def _update(self, p: Tensor, grad: Tensor, state: dict, group: dict) -> None:
        """One step of one parameter as a composition, in place."""
        raise NotImplementedError(f"{type(self).__name__} does not define _update.")

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for key, value in self._younger.items():
                group.setdefault(key, value)
        for kept in self.state.values():
            for key in _NUMBERS:
                if isinstance(kept.get(key), (int, float)):
                    kept[key] = facula.tensor(float(kept[key]), dtype=scalar_dtype())

    def step(self, closure: Callable | None = None) -> Any:
        """Move every parameter that has a gradient; the loss that `closure` returned, if one was given."""
        with facula.set_grad_enabled(self.defaults.get("differentiable", False)):
            loss = _evaluated(closure)
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def _step_group(self, group: dict) -> None:
        """One step of one group: one call. Its lists are gathered one by one: a third of the time of a loop over parameters."""
        if group.get("differentiable") or facula.is_grad_enabled() or not self._kernel:  # a loaded group may say other than this optimizer's defaults
            return self._step_composed(group)
        params = group["params"]
        grads = extend.gradients(params)
        live = [g is not None for g in grads]
        if not all(live):
            params, grads = list(compress(params, live)), list(compress(grads, live))
        if group.get("capturable") or any([g.is_sparse for g in grads]):
            params, grads = self._without_sparse(params, grads, group)
        if params:
            self._step_listed(params, grads, group)

    def _without_sparse(self, params: list, grads: list, group: dict) -> tuple[list, list]:
        """What is left for the row when every gradient was looked at: refused, or sparse and done by itself, or neither."""
        dense = []
        for p, grad in zip(params, grads):
            self._refuse(p, grad, group)
            if grad.is_sparse:
                self._step_one(p, grad, self._state_of(p, group), group)
            else:
                dense.append((p, grad))
        return [p for p, _ in dense], [grad for _, grad in dense]

    def _step_listed(self, params: list, grads: list, group: dict) -> None:
        """The row over parameters with dense gradients."""
        states = [*map(self.state.get, params)]
        if not all(states):
            states = [self._state_of(p, group) for p in params]
        self._run(params, grads, self._lists(states, group), group, self._settings(group))

    def _lists(self, states: list, group: dict) -> list[list[Tensor]]:
        """What the row is given after parameters and gradients."""
        return [[] if column is None else [s[column] for s in states] for column in self._columns(group)]

    def _state_of(self, p: Tensor, group: dict) -> dict | None:
        """The state of a parameter, made where there is none yet."""
        state = self.state.get(p)
        if not state:
            state = self._fresh(p, group)
            if state is not None:
                self.state[p] = state
        return state

    def _run(self, params: list, grads: list, lists: list, group: dict, settings: tuple) -> None:
        """The row over these parameters. It refuses complex ones and two devices before it writes: they are seen to then.

        What it refuses besides, a complex rate or one that the dtype cannot hold, is composed: its ops say what is wrong with it."""
        kernel = extend.function(extend.ops[self._kernel])
        try:
            kernel(params, grads, *lists, *settings)
        except (TypeError, extend.DeviceError) as refused:  # a DTypeError is a TypeError
            if group.get("fused") and not isinstance(refused, (extend.DTypeError, extend.DeviceError)):
                raise  # PyTorch's fused step wants options of the right class, as the row does
            for p, grad in zip(params, grads):
                self._refuse(p, grad, group)
            states = [*map(self.state.get, params)]
            want_tensors([s["step"] for s in states if s and "step" in s])
            if self._widened(states):
                return self._run(params, grads, self._lists(states, group), group, settings)
            meta = [p.is_meta for p in params]  # asked here, for each costs as much as its share of the call
            if any(p.is_complex() for p in params) or any(meta):
                there = [k for k, nowhere in enumerate(meta) if not nowhere]
                try:
                    if there:
                        kernel(*([_as_real(t[k]) for k in there] if t else t for t in (params, grads, *lists)), *settings)
                except TypeError:
                    pass
                else:  # a meta parameter has nothing to compute, and its step count is on the CPU
                    params, grads = list(compress(params, meta)), list(compress(grads, meta))
            for p, grad in zip(params, grads):
                self._step_one(p, grad, self._state_of(p, group), group)

    def _widened(self, states: list) -> bool:
        """Numbers of the state that loading made as narrow as their half parameter, made wide again; were there any?"""
        half = False
        for state in states:
            for name in _NUMBERS:
                if (state or {}).get(name) is not None and state[name].dtype in (facula.float16, facula.bfloat16):
                    state[name] = state[name].to(scalar_dtype())
                    half = True
        return half

    def _step_composed(self, group: dict) -> None:
        """One step of one group, parameter by parameter."""
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            self._refuse(p, grad, group)
            state = self._state_of(p, group)
            if group.get("differentiable"):  # what earlier steps saved for backward stays as it was
                for key, value in (state or {}).items():
                    if isinstance(value, Tensor):
                        state[key] = value.clone()
            self._step_one(p, grad, state, group)

    def _step_one(self, p: Tensor, grad: Tensor, state: dict | None, group: dict) -> None:
        """Sign and coupled weight decay, then update on real tensors."""
        if group.get("maximize"):
            grad = -grad
        decay = group.get("weight_decay", 0)
        if decay != 0 and self._couples_decay and not group.get("decoupled_weight_decay"):
            grad = add_scaled(grad.clone(), p.clone(), factor(decay))  # of p as it is before it moves
        if p.is_complex() and not self._sees_complex and not grad.is_sparse:
            real = {k: facula.view_as_real(v) if isinstance(v, Tensor) and v.is_complex() else v for k, v in state.items()}
            self._update(facula.view_as_real(p), facula.view_as_real(grad.resolve_conj()), real, group)
            for key, value in real.items():  # what update rebound rather than wrote into
                if key not in state or not isinstance(value, Tensor):
                    state[key] = value
        else:
            self._update(p, grad, state, group)

    def _refuse(self, p: Tensor, grad: Tensor, group: dict) -> None:
        """RuntimeError for gradients that the formula does not take, and for what `fused` and `foreach` were not made for."""
        refuse_fused(p, group)
        if grad.is_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients. Use SparseAdam, or a dense gradient.")
        refuse_foreach(group)
        if group.get("capturable") and not group.get("fused") and p.device.type == "cpu":
            raise AssertionError("If capturable=True, params and state_steps must be on supported devices: ['cuda'].")


def want_tensors(counts: list) -> None:
    """RuntimeError for step counts that are numbers, as they were once."""
    if not all(isinstance(t, Tensor) for t in counts):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors. Give tensors for numbers.")


def _as_real(t: Tensor) -> Tensor:
    return facula.view_as_real(t) if t.is_complex() else t


def _evaluated(closure: Callable | None) -> Any:
    if closure is None:
        return None
    with facula.enable_grad():
        return closure()
