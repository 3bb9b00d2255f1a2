"""PyTorch's own files, where programs import from them: which Facula modules hold what stands there."""

from __future__ import annotations

import importlib
import types

NN_FILES = {
    "activation": "activation", "adaptive": "adaptive", "batchnorm": "normalization", "channelshuffle": "vision", "container": "containers",
    "conv": "conv", "distance": "distance", "dropout": "dropout", "flatten": "flatten", "fold": "flatten", "instancenorm": "normalization",
    "lazy": "lazy", "linear": "linear", "loss": "loss", "module": "module", "normalization": "normalization", "padding": "padding",
    "pixelshuffle": "vision", "pooling": "pooling", "rnn": "rnn", "sparse": "embedding", "transformer": "transformer", "upsampling": "vision",
}  # fmt: skip
_DISTRIBUTIONS = (
    "bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet exp_family exponential fishersnedecor gamma "
    "generalized_pareto geometric gumbel half_cauchy half_normal independent inverse_gamma kumaraswamy laplace lkj_cholesky log_normal "
    "logistic_normal lowrank_multivariate_normal mixture_same_family multinomial negative_binomial normal one_hot_categorical pareto "
    "poisson relaxed_bernoulli relaxed_categorical studentT transformed_distribution uniform von_mises weibull wishart"
).split()
_OPTIM = "adadelta adagrad adamax adamw asgd nadam radam rmsprop sparse_adam".split()

# dotted name -> Facula modules, asked in order
PLACES: dict[str, tuple[str, ...]] = {
    "torch.nn.modules": ("facula.nn",),
    **{f"torch.nn.modules.{name}": (f"facula.nn.{ours}", "facula.nn") for name, ours in NN_FILES.items()},
    **{f"torch.distributions.{name}": ("facula.distributions",) for name in _DISTRIBUTIONS},
    **{f"torch.optim.{name}": ("facula.optim",) for name in _OPTIM},
    **{
        f"torch.nn.parallel.{name}": ("facula.nn.parallel",)
        for name in ("comm", "data_parallel", "parallel_apply", "replicate", "scatter_gather")
    },
    "torch.autograd.variable": ("facula.autograd",),
    "torch.utils.data._utils": ("facula.data",),
    "torch.utils.data._utils.collate": ("facula.data", "facula.data._collate"),
    "torch.utils.data._utils.worker": ("facula.data",),
    "torch.return_types": ("facula.tensor_core.return_types",),
    "torch.functional": ("facula",),
    "torch.storage": ("facula",),
    "torch._lowrank": ("facula",),
    "torch._tensor": ("facula", "facula.overrides"),
    "torch.random": ("facula.random", "facula"),
    "torch.distributed.distributed_c10d": ("facula.distributed", "facula.dist._group"),
    "torch._VF": ("facula",),
    "torch._C._VariableFunctions": ("facula",),
    "torch._linalg_utils": ("facula.linalg",),
    "torch.types": ("facula.torch._kinds",),
}


class Place(types.ModuleType):
    """Several modules seen as one."""

    def __init__(self, name: str, modules: list[types.ModuleType]) -> None:
        super().__init__(name)
        self.__modules__ = modules

    def __getattr__(self, name: str):
        for module in self.__modules__:
            found = getattr(module, name, self)
            if found is not self:
                return found
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({n for m in self.__modules__ for n in dir(m)})


def place(dotted: str) -> types.ModuleType | None:
    """The modules behind a PyTorch file; None where none of them is there."""
    modules = []
    for name in PLACES[dotted]:
        try:
            modules.append(importlib.import_module(name))
        except ModuleNotFoundError:
            continue
    return Place(dotted, modules) if modules else None
