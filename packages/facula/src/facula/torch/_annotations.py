"""torch.jit.annotations: the names that scripts for the reference's compiler annotate with."""

from typing import Any, Dict, List, Optional, Tuple, Union

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]
