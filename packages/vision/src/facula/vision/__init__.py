"""Pictures: data sets, transforms, models and operators under torchvision's names."""

import importlib

__all__ = ["datasets", "models", "ops", "transforms", "tv_tensors", "utils"]


def __getattr__(name: str):
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
