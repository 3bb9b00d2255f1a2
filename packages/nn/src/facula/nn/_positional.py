"""`torch.batch_norm`, `torch.embedding`, `torch.lstm` ...: functions of the top-level namespace that do what one of nn.functional does,
with arguments by position and reductions as numbers (0 none, 1 mean, 2 sum)."""

from __future__ import annotations

from typing import Any, Sequence

import facula
from facula import Tensor
from facula.tensor_core import extend

from . import functional as F
from .functional import _dropout
from .functional._activation import rrelu_drawn
from .functional._embedding import _renormalise
from .functional._grid import _check_grid
from .functional._kinds import check_kinds
from .functional._loss_metric import margin_ranking, triplet
from .functional._loss_regression import logits_cross_entropy
from .functional._norm import normalised_batch, normalised_groups, normalised_items
from ._recurrent import run_cell, run_layer

_REDUCTIONS = ("none", "mean", "sum")
_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def _reduction(number: int) -> str:
    """Its word; as in PyTorch, every number but those of the mean and the sum stands for none."""
    return _REDUCTIONS[number] if number in (1, 2) else "none"


def batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: bool, momentum: float, eps: float, cudnn_enabled: bool
) -> Tensor:
    """F.batch_norm, weight and bias before the statistics. cudnn_enabled chooses between equal results.

    >>> x = facula.tensor([[1.0], [3.0]])
    >>> facula.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False).round(decimals=3)
    tensor([[-1.],
            [ 1.]])
    """
    return normalised_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool
) -> Tensor:
    """F.instance_norm, weight and bias before the statistics. cudnn_enabled chooses between equal results.

    >>> facula.instance_norm(facula.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 1e-5, False).round(decimals=3)
    tensor([[[-1.,  1.]]])
    """
    return normalised_items(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05, cudnn_enable: bool = True
) -> Tensor:
    """F.layer_norm. cudnn_enable chooses between equal results.

    >>> facula.layer_norm(facula.tensor([1.0, 3.0]), (2,), eps=0.0)
    tensor([-1.,  1.])
    """
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05, cudnn_enabled: bool = True
) -> Tensor:
    """F.group_norm, of one value in a group too. cudnn_enabled chooses between equal results.

    >>> facula.group_norm(facula.tensor([[1.0, 3.0]]), 1, eps=0.0)
    tensor([[-1.,  1.]])
    """
    try:
        if type(num_groups) is int and num_groups <= 0:
            raise RuntimeError(f"group_norm: Expected num groups to be greater than 0, got {num_groups}. Give 1 at least.")
        return normalised_groups(input, num_groups, weight, bias, eps)
    except (IndexError, RuntimeError):
        if isinstance(input, Tensor):
            input.size(1)  # which refuses what has no channels
        raise


def _share(p: float) -> float:
    """p, refused as PyTorch's own functions do, whose exception is not that of F's."""
    _dropout._check(p, RuntimeError)
    return p


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Whole channels dropped: F.dropout2d for any number of dims.

    >>> _ = facula.manual_seed(0)
    >>> facula.feature_dropout(facula.ones(1, 3, 2), 0.5, True)
    tensor([[[0., 0.],
             [0., 0.],
             [2., 2.]]])
    """
    return _dropout._drop(input, _share(p), train, False, True, _dropout._scaled)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """feature_dropout in place.

    >>> _ = facula.manual_seed(0)
    >>> facula.feature_dropout_(facula.ones(1, 3, 2), 0.5, True)
    tensor([[[0., 0.],
             [0., 0.],
             [2., 2.]]])
    """
    return _dropout._drop(input, _share(p), train, True, True, _dropout._scaled)


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """F.dropout.

    >>> _ = facula.manual_seed(0)
    >>> facula.dropout(facula.ones(4), 0.5, True)
    tensor([0., 0., 2., 0.])
    """
    return F.dropout(input, _share(p), train)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """F.alpha_dropout.

    >>> facula.alpha_dropout(facula.ones(2), 0.5, False)
    tensor([1., 1.])
    """
    return F.alpha_dropout(input, _share(p), train)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """F.feature_alpha_dropout.

    >>> facula.feature_alpha_dropout(facula.ones(1, 2, 2), 0.5, False)
    tensor([[[1., 1.],
             [1., 1.]]])
    """
    return F.feature_alpha_dropout(input, _share(p), train)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """F.dropout in place.

    >>> _ = facula.manual_seed(0)
    >>> facula.dropout_(facula.ones(4), 0.5, True)
    tensor([0., 0., 2., 0.])
    """
    return F.dropout(input, _share(p), train, True)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """F.alpha_dropout in place.

    >>> facula.alpha_dropout_(facula.ones(2), 0.5, False)
    tensor([1., 1.])
    """
    return F.alpha_dropout(input, _share(p), train, True)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """F.feature_alpha_dropout in place.

    >>> facula.feature_alpha_dropout_(facula.ones(1, 2, 2), 0.5, False)
    tensor([[[1., 1.],
             [1., 1.]]])
    """
    return F.feature_alpha_dropout(input, _share(p), train, True)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, generator: Any = None) -> Tensor:
    """F.rrelu with slopes from a generator.

    >>> facula.rrelu(facula.tensor([-1.0, 2.0]), 0.25, 0.25)
    tensor([-0.2500,  2.0000])
    """
    return rrelu_drawn(input, lower, upper, training, False, generator)


def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """F.embedding with the table first.

    >>> facula.embedding(facula.tensor([[1.0, 2.0], [3.0, 4.0]]), facula.tensor([1, 0, 1]))
    tensor([[3., 4.],
            [1., 2.],
            [3., 4.]])
    """
    return F.embedding(indices, weight, padding_idx if weight.dim() and 0 <= padding_idx < weight.size(0) else None, None, 2.0, scale_grad_by_freq, sparse)


def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """The rows of input that indices name, scaled down to norm max_norm where theirs is larger. In place.

    >>> facula.embedding_renorm_(facula.tensor([[3.0, 4.0], [30.0, 40.0]]), facula.tensor([1]), 5.0, 2.0)
    tensor([[3.0000, 4.0000],
            [3.0000, 4.0000]])
    """
    if input.dim() != 2:
        raise RuntimeError(f"embedding_renorm_: expected 2-dimensional tensor, but got {input.dim()}-dimensional tensor for argument #1 'input'. Give a table of vectors.")
    if indices.dtype not in (facula.int64, facula.int32):
        raise RuntimeError(f"embedding_renorm_: expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got {indices.dtype._name}. Convert it with .long().")
    with facula.no_grad():
        _renormalise(input, indices, max_norm, norm_type)
    return input


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 0) -> Tensor:
    """F.binary_cross_entropy_with_logits.

    >>> facula.binary_cross_entropy_with_logits(facula.tensor([0.0]), facula.tensor([1.0]))
    tensor([0.6931])
    """
    if input.shape != target.shape:
        if input.dtype._kind < 2 and input.numel():
            raise extend.DTypeError(f'binary_cross_entropy_with_logits: "log_sigmoid" not implemented for {input.dtype._scalar_type!r}. Convert with input.float().')
        if facula.broadcast_shapes(input.shape, target.shape) != target.shape:
            raise RuntimeError(f"binary_cross_entropy_with_logits: output with shape {list(target.shape)} doesn't match the broadcast shape of it and input {list(input.shape)}. Give a target of input's shape.")
    return logits_cross_entropy(input, target, weight, _reduction(reduction), pos_weight)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """F.cosine_embedding_loss.

    >>> facula.cosine_embedding_loss(facula.tensor([[1.0, 0.0]]), facula.tensor([[0.0, 1.0]]), facula.tensor([1]))
    tensor([1.])
    """
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_reduction(reduction))


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """F.hinge_embedding_loss.

    >>> facula.hinge_embedding_loss(facula.tensor([0.5, 0.25]), facula.tensor([1.0, -1.0]), reduction=0)
    tensor([0.5000, 0.7500])
    """
    return F.hinge_embedding_loss(input, target, margin, reduction=_reduction(reduction))


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0) -> Tensor:
    """F.margin_ranking_loss.

    >>> facula.margin_ranking_loss(facula.tensor([1.0, 3.0]), facula.tensor([2.0, 2.0]), facula.tensor([1.0, 1.0]), reduction=0)
    tensor([1., 0.])
    """
    return margin_ranking(input1, input2, target, margin, _reduction(reduction))


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: bool = False, reduction: int = 0
) -> Tensor:
    """F.triplet_margin_loss, of margins of 0 and below too.

    >>> facula.triplet_margin_loss(facula.tensor([[0.0]]), facula.tensor([[1.0]]), facula.tensor([[1.5]]))
    tensor([0.5000])
    """
    return triplet(anchor, positive, negative, margin, p, eps, swap, _reduction(reduction))


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """F.poisson_nll_loss.

    >>> facula.poisson_nll_loss(facula.tensor([0.0]), facula.tensor([2.0]), True, False, 1e-8, 0)
    tensor([1.])
    """
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_reduction(reduction))


def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """F.kl_div.

    >>> facula.kl_div(facula.tensor([0.5, 0.5]).log(), facula.tensor([1.0, 0.0]), reduction=2)
    tensor(0.6931)
    """
    return F.kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0, zero_infinity: bool = False
) -> Tensor:
    """F.ctc_loss.

    >>> log_probs = facula.zeros(2, 1, 3).log_softmax(2)
    >>> facula.ctc_loss(log_probs, facula.tensor([[1]]), facula.tensor([2]), facula.tensor([1]))
    tensor([1.0986])
    """
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity)


def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """F.grid_sample: modes 0 bilinear, 1 nearest, 2 bicubic; paddings 0 zeros, 1 border, 2 reflection.

    >>> facula.grid_sampler(facula.tensor([[[[1.0, 2.0]]]]), facula.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[1.5000]]]])
    """
    if input.dim() not in (4, 5) or grid.dim() != input.dim():
        _check_grid(input, grid, input.dim() - 2)
    for name, mode, words in (("interpolation_mode", interpolation_mode, _MODES), ("padding_mode", padding_mode, _PADDINGS)):
        if not 0 <= mode < len(words):
            raise RuntimeError(f"grid_sampler: {name} must be between 0 and {len(words) - 1} ({', '.join(words)}), but got {mode}.")
    return F.grid_sample(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


def _of_rank(name: str, rank: int) -> Any:
    def sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
        if input.dim() != rank:
            raise extend.RankError(f"{name}: expected input of {rank} dims, but got {input.dim()}. Reshape it.")
        return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)

    sampler.__name__ = sampler.__qualname__ = name
    ones, grid = ", ".join(["1"] * rank), ", ".join(["1"] * (rank - 1) + [str(rank - 2)])
    sampler.__doc__ = f"grid_sampler of inputs with {rank} dims.\n\n    >>> facula.{name}(facula.ones({ones}), facula.zeros({grid}), 0, 0, False).item()\n    1.0\n    "
    return sampler


grid_sampler_2d, grid_sampler_3d = _of_rank("grid_sampler_2d", 4), _of_rank("grid_sampler_3d", 5)


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """F.affine_grid.

    >>> facula.affine_grid_generator(facula.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2), True)[0, 0]
    tensor([[-1., -1.],
            [ 1., -1.]])
    """
    if len(size) not in (4, 5):
        raise RuntimeError(f"affine_grid_generator: AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, got size {tuple(size)}.")
    if theta.dtype._kind < 2 or theta.dim() != 3 or min(size[2:]) > 0:
        return F.affine_grid(theta if theta.dtype._kind > 1 or theta.dim() == 3 else theta.float(), list(size), align_corners)
    if tuple(theta.shape) != (size[0], len(size) - 2, len(size) - 1) or min(size) < 0:
        raise RuntimeError(f"affine_grid_generator: theta {tuple(theta.shape)} is no batch of maps for size {tuple(size)}. Give one map for each item.")
    return theta.new_empty((size[0], *size[2:], len(size) - 2))


def adaptive_max_pool1d(input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """F.adaptive_max_pool1d with its indices.

    >>> facula.adaptive_max_pool1d(facula.tensor([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    (tensor([[[3., 2.]]]), tensor([[[1, 2]]]))
    """
    return F.adaptive_max_pool1d(input, output_size, True)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """Norms of the slices along dim, shaped to broadcast against v; of the whole where dim is -1.

    >>> facula.norm_except_dim(facula.tensor([[3.0, 4.0], [6.0, 8.0]]))
    tensor([[ 5.],
            [10.]])
    """
    if dim != -1:
        v.size(dim)  # which refuses a dim that is not there
    if v.dtype._kind < 2:
        raise extend.DTypeError(f"norm_except_dim: norm(): input dtype should be either floating point or complex. Got {v.dtype._name} instead. Convert with v.float().")
    from .utils._norms import norm_except_dim as norms  # which few programs need

    return norms(v, dim, pow)


def _layers(mode: str, x: Tensor, hx: Any, params: Sequence[Tensor], biases: bool, layers: int, dropout: float, train: bool, both: bool, sizes: Tensor) -> tuple:
    """(outputs, *last states) of a stack over packed rows x; params flat, as PyTorch orders them."""
    states = tuple(hx) if mode == "LSTM" else (hx,)
    ways = 2 if both else 1
    per = (4 if biases else 2) + (mode == "LSTM" and states[0].size(2) != states[1].size(2))  # of one layer in one direction; a projection has one more
    _counted(mode.lower(), states[0], len(params) // per, len(params) % per, layers, ways)
    ends: list[list[Tensor]] = [[] for _ in states]
    k = 0
    for layer in range(layers):
        outs = []
        for reverse in (False, True)[:ways]:
            mine = list(params[k * per : (k + 1) * per])
            w_hr = mine.pop() if per in (3, 5) else None
            weights = [*mine[:2], *(mine[2:4] if biases else (None, None)), w_hr]
            out, last = run_layer(mode, x, tuple(s[k] for s in states), weights, sizes, reverse)
            outs.append(out)
            for end, s in zip(ends, last):
                end.append(s)
            k += 1
        x = facula.cat(outs, 1) if both else outs[0]
        if dropout and train and layer < layers - 1:
            x = F.dropout(x, dropout, True)
    return x, *(facula.stack(end) for end in ends)


def _counted(name: str, state: Tensor, weights: int, left: int, layers: int, ways: int) -> None:
    """Refuse other numbers of states and weights than a stack's: one for each layer in each direction."""
    if left:
        raise RuntimeError(f"{name}: got an incorrect number of RNN parameters: {left} more than {weights} layers take. Give the weights of whole layers.")
    states = state.size(0)
    if states % ways or weights % ways:
        raise RuntimeError(f"{name}: Odd number of params or hiddens given to a bidirectional RNN: {states} states, weights of {weights}. Give those of both directions.")
    for found, what in ((states, "hidden states"), (weights, "weights")):
        if found != layers * ways:
            raise RuntimeError(f"{name}: Expected {'more' if found < layers * ways else 'fewer'} {what} in stacked_rnn: {found} for {layers} layers of {ways} directions. Give one of each.")


_STACKED = ("input", "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
_PACKED = ("data", "batch_sizes", *_STACKED[1:-1])
_KINDS = {"has_biases": "bool", "num_layers": "int", "dropout": "float", "train": "bool", "bidirectional": "bool", "batch_first": "bool"}


def _of_form(form: tuple, several: bool, args: tuple, options: dict) -> dict | None:
    """The arguments by the form's names; None if they are of another form. several: hx is a list."""
    given = dict(zip(form, args))
    if len(args) + len(options) != len(form) or given.keys() | options.keys() != set(form):
        return None
    given |= options
    lists = ("hx", "params") if several else ("params",)
    fits = (isinstance(v, (list, tuple)) and all(isinstance(t, Tensor) for t in v) if n in lists else extend.of_kind(_KINDS.get(n, "tensor"), v) for n, v in given.items())
    return given if all(fits) else None


def _recurrent(name: str, mode: str) -> Any:
    several = mode == "LSTM"

    def run(*args: Any, **options: Any) -> tuple:
        given = _of_form(_STACKED, several, args, options) or _of_form(_PACKED, several, args, options)
        if given is None:
            kinds = ", ".join([*(type(v).__name__ for v in args), *(f"{n}={type(v).__name__}" for n, v in options.items())])
            raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}). Give all of ({', '.join(_STACKED)}), or of ({', '.join(_PACKED)}).")
        hx = given["hx"]
        if several and len(hx) != 2:
            raise RuntimeError(f"lstm expects two hidden states, got {len(hx)}. Give (h, c).")
        rest = [given[n] for n in _STACKED[1:-1]]
        if given["num_layers"] >= 2**63:
            extend.check(name, "num_layers", 4, "int", given["num_layers"])
        if "data" in given and len(given["params"]) % (4 if given["has_biases"] else 2) and not several:
            raise RuntimeError(f"{name}: got an incorrect number of RNN parameters: {len(given['params'])}. Give those of whole layers.")
        if "data" in given:
            return _layers(mode, given["data"], *rest, given["batch_sizes"])
        if given["input"].dim() != 3:
            raise extend.RankError(f"{name}: input must have 3 dimensions, got {given['input'].dim()}. Add that of the batch with unsqueeze.")
        x = given["input"].transpose(0, 1) if given["batch_first"] else given["input"]
        sizes = facula.full((x.size(0),), x.size(1), dtype=facula.int64)
        out, *ends = _layers(mode, x.reshape(-1, x.size(2)), *rest, sizes)
        out = out.reshape(x.shape[0], x.shape[1], -1)
        return out.transpose(0, 1) if given["batch_first"] else out, *ends

    run.__name__ = run.__qualname__ = name
    parts = {"LSTM": 4, "GRU": 3}.get(mode, 1)
    state = "(facula.zeros(1, 2, 5), facula.zeros(1, 2, 5))" if several else "facula.zeros(1, 2, 5)"
    run.__doc__ = (
        f"nn.{name.split('_')[0].upper()} as a function of its flat weights: (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, "
        "batch_first), or of packed data: (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional).\n\n"
        f"    >>> weights = [facula.ones({5 * parts}, 3), facula.ones({5 * parts}, 5)]\n"
        f"    >>> facula.{name}(facula.ones(7, 2, 3), {state}, weights, False, 1, 0.0, False, False, False)[0].shape\n"
        "    torch.Size([7, 2, 5])\n    "
    )
    return run


lstm, gru = _recurrent("lstm", "LSTM"), _recurrent("gru", "GRU")
rnn_tanh, rnn_relu = _recurrent("rnn_tanh", "RNN_TANH"), _recurrent("rnn_relu", "RNN_RELU")


def _fitting(name: str, mode: str, gates: int, input: Tensor, states: Any, w_ih: Tensor, w_hh: Tensor) -> None:
    """Refuse what does not make one step: an input of another size, weights of other gates, states of another batch, in the mode's order of looking at them."""
    hidden = w_hh.size(1)
    for part in {"LSTM": ("input", "weights", "states"), "GRU": ("input", "states", "weights")}.get(mode, ("weights", "input", "states")):
        if part == "input" and w_ih.size(1) != input.size(1):
            raise RuntimeError(f"{name}: input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}. Give weights of its size.")
        for what, weight in (("w_ih", w_ih), ("w_hh", w_hh)) if part == "weights" else ():
            if weight.size(0) != gates * hidden:
                raise RuntimeError(f"{name}: the first dim of {what} must be {gates} * hidden_size = {gates * hidden}, but got {weight.size(0)} (w_hh: {tuple(w_hh.shape)}). Give weights of one size.")
        for k, state in enumerate(states) if part == "states" else ():
            if state.size(0) != input.size(0):
                raise RuntimeError(f"{name}: Input batch size {input.size(0)} doesn't match hidden{k} batch size {state.size(0)}. Give a state for each.")
            if state.size(1) != hidden:
                raise RuntimeError(f"{name}: hidden{k} has inconsistent hidden_size: got {state.size(1)}, expected {hidden}. Give a state of the weights' size.")


def _cell(name: str, mode: str) -> Any:
    several = mode == "LSTM"
    parts = {"LSTM": 4, "GRU": 3}.get(mode, 1)

    def run(input: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Any:
        if several and not extend.of_kind("tensors", hx):
            raise TypeError(f"lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not {type(hx).__name__}. Give (h, c).")
        if several and len(hx) != 2:
            raise RuntimeError(f"lstm_cell expects two hidden states, got {len(hx)}. Give (h, c).")
        states = tuple(hx) if several else (hx,)
        _fitting(name, mode, parts, input, states, w_ih, w_hh)
        new = run_cell(mode, input, states, w_ih, w_hh, b_ih, b_hh)
        return new if several else new[0]

    run.__name__ = run.__qualname__ = name
    if not several:
        run.__annotations__["hx"] = "Tensor"
    state = "(facula.zeros(2, 5), facula.zeros(2, 5))" if several else "facula.zeros(2, 5)"
    shown = f"facula.{name}(facula.ones(2, 3), {state}, facula.ones({5 * parts}, 3), facula.ones({5 * parts}, 5)){'[0]' if several else ''}.shape"
    run.__doc__ = f"One step of a {mode.replace('_', ' ').lower()} cell; input (N, I), hx (N, H){' twice' if several else ''}.\n\n    >>> {shown}\n    torch.Size([2, 5])\n    "
    return run


lstm_cell, gru_cell = _cell("lstm_cell", "LSTM"), _cell("gru_cell", "GRU")
rnn_tanh_cell, rnn_relu_cell = _cell("rnn_tanh_cell", "RNN_TANH"), _cell("rnn_relu_cell", "RNN_RELU")

__all__ = [
    "adaptive_max_pool1d", "affine_grid_generator", "alpha_dropout", "alpha_dropout_", "batch_norm", "binary_cross_entropy_with_logits",
    "cosine_embedding_loss", "ctc_loss", "dropout", "dropout_", "embedding", "embedding_renorm_", "feature_alpha_dropout", "feature_alpha_dropout_",
    "feature_dropout", "feature_dropout_", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "group_norm", "gru", "gru_cell", "hinge_embedding_loss", "instance_norm", "kl_div",
    "layer_norm", "lstm", "lstm_cell", "margin_ranking_loss",
    "norm_except_dim", "poisson_nll_loss", "rrelu", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell", "triplet_margin_loss",
]  # fmt: skip

check_kinds(globals(), __all__)
