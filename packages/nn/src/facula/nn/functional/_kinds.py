"""Arguments of a wrong kind are refused as PyTorch's parser does, by what the functions' annotations say.

What PyTorch's Python refuses before its parser sees the arguments stands in functions _<name>_first beside the functions, which call them too.
Not guarded is what a training step calls all the time, where 70 ns count (those look for themselves), and what PyTorch does not look at either.
"""

from __future__ import annotations

from types import FunctionType
from typing import Callable

from facula.tensor_core import extend

from . import _activation, _conv, _distance, _dropout, _embedding, _fold, _grid, _linear, _loss_class, _loss_ctc, _loss_metric, _loss_regression, _norm, _pool, _pool_adaptive, _vision

_KIND = {"Tensor": "tensor", "bool": "bool", "float": "number"}
_MODULES = (_activation, _conv, _distance, _dropout, _embedding, _fold, _grid, _linear, _loss_class, _loss_ctc, _loss_metric, _loss_regression, _norm, _pool, _pool_adaptive, _vision)
_FAST = frozenset(
    "relu gelu silu sigmoid tanh elu selu mish softmax log_softmax conv1d conv2d conv3d dropout embedding cross_entropy nll_loss mse_loss batch_norm layer_norm"
    " max_pool1d max_pool2d".split()
)
_ANY = frozenset("interpolate upsample upsample_bilinear upsample_nearest normalize multilabel_soft_margin_loss gumbel_softmax local_response_norm gaussian_nll_loss linear_cross_entropy".split())
_NUMPY = {"cosine_similarity": {"axis": "int"}, "pairwise_distance": {"keepdims": "bool"}, "norm_except_dim": {"axis": "int"}}  # what PyTorch's parser, not its Python, reads: NumPy's names
_TRUTHS = frozenset("inplace size_average reduce return_indices full hard antialias recompute_scale_factor".split())  # PyTorch asks only whether they are true


def _kinds(function: Callable) -> dict[str, str]:
    """Parameter -> kind of a guard, from the annotations."""
    found = dict(_NUMPY.get(function.__name__, ()))
    for name, said in function.__annotations__.items():
        word = said.removesuffix(" | None")
        kind = extend.SIZES.get(name, "int") if word == "int" else _KIND.get(word)
        if kind and name not in _TRUTHS and name != "return" and name[0] != "_":
            found[name] = kind + "?" * said.endswith(" | None")
    return found


def checked(function: Callable, after: bool = False, first: Callable | None = None) -> Callable:
    """The function, which looks at the kinds of its arguments first; after: only once it failed. first: what it refuses whatever their kinds are."""
    return extend.guarded(function, _kinds, after, first)


def check_kinds(names: dict, public: list[str]) -> None:
    """Guard a module's public functions, but those that sort out *args themselves."""
    for name in public:
        function = names[name]
        if type(function) is FunctionType and not function.__code__.co_flags & _VARIADIC:
            names[name] = checked(function)


_VARIADIC = 0x04  # the flag of code with *args

for _module in _MODULES:
    for _name, _function in list(vars(_module).items()):
        if type(_function) is FunctionType and _function.__module__ == _module.__name__ and _name[0] != "_" and _name not in _FAST | _ANY:
            setattr(_module, _name, checked(_function, _name.endswith("_with_indices"), vars(_module).get(f"_{_name}_first")))
