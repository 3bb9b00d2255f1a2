"""Named tuples of several results, as `torch.return_types` has them."""

from collections import namedtuple


def _pair(name, *fields):
    kind = namedtuple(name, fields or ("values", "indices"))
    kind.__module__ = "torch.return_types"
    kind.__qualname__ = name

    def shown(self):
        rows = ",\n".join(f"{f}={v!r}" for f, v in zip(self._fields, self))
        return f"torch.return_types.{name}(\n{rows})"

    kind.__repr__ = shown
    return kind


max, min, sort, topk, kthvalue, mode, median, nanmedian, cummax, cummin = map(
    _pair, ("max", "min", "sort", "topk", "kthvalue", "mode", "median", "nanmedian", "cummax", "cummin")
)
aminmax = _pair("aminmax", "min", "max")
