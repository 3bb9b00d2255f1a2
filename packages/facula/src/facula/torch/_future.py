"""torch.__future__: how Module.to and its like change parameters."""

from __future__ import annotations

from facula.nn._conversion import (  # noqa: F401
    get_overwrite_module_params_on_conversion, get_swap_module_params_on_conversion,
    set_overwrite_module_params_on_conversion, set_swap_module_params_on_conversion,
)  # fmt: skip
