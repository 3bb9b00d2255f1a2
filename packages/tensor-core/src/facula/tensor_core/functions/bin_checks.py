"""What histograms refuse, in the order and with the classes of PyTorch."""

from facula.tensor_core._tensor import Tensor


def check_histogram(name, input, bins, range, weight, halves=False):
    """input as points (..., D), bins with one entry for each of D dims: a number or a tensor of edges."""
    shape = (*input.shape, 1) if name == "histogram" else tuple(input.shape)
    edged = any(isinstance(edges, Tensor) for edges in bins)
    if name == "histogram" and edged and range is not None:
        raise TypeError("histogram() received an invalid combination of arguments: range comes with a number of bins, edges say it themselves. Leave it out.")
    for d, edges in enumerate(bins):
        if isinstance(edges, Tensor):
            _check_edges(input, edges, d)
    _check_weight(input, shape, weight)
    if not edged and range is not None and len(range) != 2 * len(bins):
        raise RuntimeError(f"torch.histogramdd: for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} elements, but got {len(range)}")
    for d, n in enumerate(bins):
        if not isinstance(n, Tensor) and n <= 0:
            raise RuntimeError(f"torch.{name}(): bins must be > 0, but got {n} for dimension {d}")
    if input.dtype._name not in ("float32", "float64") and not (halves and input.dtype._kind == 2):
        raise NotImplementedError(f"{name}: not implemented for {input.dtype._name}. Convert with .to(facula.float32).")


def _check_edges(input, edges, d):
    if edges.dtype is not input.dtype:
        raise RuntimeError(
            f"torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype {input.dtype._name} "
            f"and bins for dimension {d} with dtype {edges.dtype._name}"
        )
    if edges.dim() != 1:
        raise RuntimeError(f"torch.histogramdd: bins tensor should have one dimension, but got {edges.dim()} dimensions in the bins tensor for dimension {d}")
    if not edges.numel():
        raise RuntimeError(f"torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension {d}")


def _check_weight(input, shape, weight):
    if weight is None:
        return
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            f"torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input({input.dtype._name}), "
            f"and weight({weight.dtype._name})"
        )
    if tuple(weight.shape) != shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, "
            f"but got input with shape {list(shape)} and weight with shape {list(weight.shape)}"
        )


def check_range(low, high, d):
    """The least and the greatest edge of dim d: numbers in order."""
    for x in (low, high):
        if not float("-inf") < x < float("inf"):
            raise RuntimeError(f"torch.histogramdd: dimension {d}'s range [{low}, {high}] is not finite. Give range=(min, max).")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low} max {high} for dimension {d}")


def check_out(input, out):
    """The pair that a histogram is written to."""
    if isinstance(out, (tuple, list)) and len(out) == 2:
        for kind, t in zip(("hist", "bin_edges"), out):
            if isinstance(t, Tensor) and t.dtype is not input.dtype:
                raise RuntimeError(f"torch.histogram: input tensor and {kind} tensor should have the same dtype, but got input {input.dtype._name} and {kind} {t.dtype._name}")
