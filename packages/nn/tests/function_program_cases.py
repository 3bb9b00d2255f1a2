"""Programs about initial values, functions and utilities."""

from __future__ import annotations

import copy
import pickle
import warnings
from importlib import import_module

from programs import data, error, net, program

# -- init


@program
def initial_values_for_a_seed(T):
    I, seen = T.nn.init, []
    fills = [
        lambda t: I.uniform_(t, -1, 2), lambda t: I.normal_(t, 1, 2), lambda t: I.trunc_normal_(t), lambda t: I.trunc_normal_(t, 1.0, 2.0, 3.0, 4.0),
        lambda t: I.constant_(t, 3), I.ones_, I.zeros_, I.eye_, I.xavier_uniform_, lambda t: I.xavier_normal_(t, 2.0), I.kaiming_uniform_,
        lambda t: I.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"), lambda t: I.kaiming_uniform_(t, a=0.3), lambda t: I.sparse_(t, 0.4),
    ]  # fmt: skip
    for fill in fills:
        T.manual_seed(5)
        t = T.empty(5, 7)
        seen.append(fill(t) is t)
        seen.append(t)
    return seen


@program
def initial_values_of_convolution_weights(T):
    I = T.nn.init
    T.manual_seed(5)
    t = T.nn.Parameter(T.empty(4, 3, 3))
    return [I.dirac_(t), I.dirac_(T.empty(4, 2, 2, 3), 2), I.kaiming_normal_(t), t.requires_grad, [I.calculate_gain(n) for n in ("linear", "tanh", "relu", "selu", "leaky_relu", "sigmoid", "conv2d")], I.calculate_gain("leaky_relu", 0.3)]


@program
def orthogonal_rows_or_columns(T):
    T.manual_seed(5)
    a, b = T.nn.init.orthogonal_(T.empty(5, 3, dtype=T.float64)), T.nn.init.orthogonal_(T.empty(2, 3, 2, dtype=T.float64), 2.0).reshape(2, 6)
    return [a.t() @ a, b @ b.t()]


@program
def what_cannot_be_initialised(T):
    I = T.nn.init
    return [
        error(I.eye_, T.empty(3)), error(I.dirac_, T.empty(3, 3)), error(I.xavier_uniform_, T.empty(3)), error(I.kaiming_uniform_, T.empty(3, 3), mode="x"),
        error(I.calculate_gain, "nope"), error(I.orthogonal_, T.empty(3)), error(I.sparse_, T.empty(3), 0.1), error(I.calculate_gain, "leaky_relu", "x"),
    ]  # fmt: skip


# -- functions


@program
def in_place_activations_give_the_same(T):
    F, seen = T.nn.functional, []
    for f in (F.relu, F.relu6, F.elu, F.selu, F.celu, F.leaky_relu, F.silu, F.mish, F.hardswish, F.hardtanh):
        x = data(T, 3, 4, grad=True)
        y = x * 3
        z = f(y, inplace=True)
        z.sum().backward()
        seen += [z is y, z, x.grad]
    y = data(T, 2, 3)
    seen.append(F.hardsigmoid(y.clone(), inplace=True))  # without gradient: PyTorch's is by a float32 sixth in float64
    return seen + [F.threshold_(y.clone(), 0.1, 7.0), F.relu_(y.clone()), F.elu_(y.clone()), F.hardtanh_(y.clone()), F.leaky_relu_(y.clone())]


@program
def activations_at_special_values(T):
    F, inf, nan = T.nn.functional, float("inf"), float("nan")
    x = T.tensor([nan, inf, -inf, 0.0, -0.0, 1e30, -1e30, 3.0, -3.0, 6.0, 0.5, -0.5], dtype=T.float64)
    names = "relu relu6 elu selu celu leaky_relu hardtanh hardsigmoid hardswish hardshrink softshrink softplus logsigmoid softsign tanhshrink threshold gelu".split()
    seen = []
    for name in names:
        z = x.clone().requires_grad_()
        y = getattr(F, name)(z) if name != "threshold" else F.threshold(z, 0.5, 2.0)
        y.sum().backward()
        seen += [y] + ([z.grad] if name in "relu relu6 leaky_relu hardtanh softplus".split() else [])
        seen += [z.grad[1:]] if name in ("hardshrink", "softshrink") else []  # that of NaN is 0 in PyTorch's vectors, and 1 in what is left over
    return seen


@program
def gumbel_softmax_draws(T):
    T.manual_seed(6)
    x = data(T, 3, 4)
    return [T.nn.functional.gumbel_softmax(x, 0.7), T.nn.functional.gumbel_softmax(x, 1.0, hard=True)]


@program
def padding_modes(T):
    F, x = T.nn.functional, data(T, 2, 3, 4)
    return [
        F.pad(x, (1, 2)), F.pad(x, (1, 0, 2, 1), value=3.0), F.pad(x, (-1, 2, 0, -1)), F.pad(x, (1, 1), mode="reflect"), F.pad(x, (2, 1), mode="circular"),
        F.pad(x, (2, 1), mode="replicate"), error(F.pad, x, (4, 0), mode="reflect"), error(F.pad, x, (1,)), error(F.pad, x, (5, 0), mode="circular"), error(F.pad, x, (-3, -3)),
    ]  # fmt: skip


@program
def one_hot_and_its_refusals(T):
    F, t = T.nn.functional, T.tensor
    return [F.one_hot(t([0, 2, 1])), F.one_hot(t([[0, 2]]), 4), error(F.one_hot, t([0.5])), error(F.one_hot, t([-1])), error(F.one_hot, t([3]), 2)]


@program
def attention_with_masks(T):
    f = T.nn.functional.scaled_dot_product_attention
    q, k, v = data(T, 2, 4, 3, 5, grad=True), data(T, 2, 4, 6, 5) * 2, data(T, 2, 4, 6, 2) + 1
    mask = (T.arange(18).reshape(3, 6) % 4) != 0
    empty = mask & (T.arange(3) != 1).reshape(3, 1)
    outs = [f(q, k, v), f(q, k, v, is_causal=True), f(q, k, v, mask), f(q, k, v, mask.double()), f(q, k, v, empty), f(q, k, v, scale=0.3), f(q, k[:, :2], v[:, :2], enable_gqa=True)]
    sum(o.square().sum() for o in outs).backward()
    return outs + [q.grad, error(f, q, k, v, mask, is_causal=True)]


@program
def grid_sampling(T):
    F = T.nn.functional
    x, theta = data(T, 1, 2, 4, 5, grad=True), T.tensor([[[0.9, 0.3, 0.2], [-0.4, 1.1, 0.1]]], dtype=T.float64, requires_grad=True)
    outs = []
    for align in (False, True):
        grid = F.affine_grid(theta, (1, 2, 3, 4), align_corners=align)
        outs.append(grid)
        for mode in ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                outs.append(F.grid_sample(x, grid * 1.3, mode, padding, align))
    sum(o.square().sum() for o in outs).backward()
    t3 = T.tensor([[[1.0, 0.1, 0, 0.2], [0, 0.8, 0.1, 0], [0.1, 0, 1.0, -0.3]]], dtype=T.float64)
    g3 = F.affine_grid(t3, (1, 1, 2, 3, 2), align_corners=False)
    y = data(T, 1, 1, 3, 2, 4)
    return outs + [x.grad, theta.grad, g3, F.grid_sample(y, g3, align_corners=True), F.grid_sample(y, g3, "nearest", "border", False)]


@program
def antialiased_resampling(T):
    F, x = T.nn.functional, data(T, 1, 2, 7, 9)
    return [F.interpolate(x, size=(3, 12), mode=mode, antialias=True, align_corners=False) for mode in ("bilinear", "bicubic")] + [
        F.interpolate(x, scale_factor=0.4, mode="bilinear", antialias=True), F.interpolate(x, scale_factor=(0.5, 2.0), mode="area"), error(F.interpolate, x), error(F.interpolate, x, size=3, mode="linear"), error(F.interpolate, x, size=(1, 2, 3)),
    ]  # fmt: skip


@program
def distances(T):
    F, x, y = T.nn.functional, data(T, 4, 3, grad=True), data(T, 4, 3) + 1
    outs = [F.pdist(x), F.pdist(x, 1.0), F.cosine_similarity(x, y, dim=0), F.normalize(x), F.normalize(x, p=1.0, dim=0), F.pairwise_distance(x, y, p=3.0)]
    sum(o.sum() for o in outs).backward()
    return outs + [x.grad]


@program
def losses_refuse(T):
    F, x, t = T.nn.functional, data(T, 3, 4), T.tensor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            error(F.nll_loss, x, t([0, 5, 1])), error(F.nll_loss, x, t([0, 1])), error(F.nll_loss, x, t([0.0, 1, 2])), error(F.cross_entropy, x, t([0, 1, -1])),
            error(F.cross_entropy, x, t([0, 1, 2]), weight=T.ones(3)), error(F.cross_entropy, x, t([0, 1, 2]), label_smoothing=2.0), error(F.binary_cross_entropy, x, x),
            error(F.binary_cross_entropy, x.abs(), x[0]), error(F.binary_cross_entropy_with_logits, x, x[0]), error(F.mse_loss, x, T.ones(3)), error(F.mse_loss, x, x, reduction="foo"),
            error(F.smooth_l1_loss, x, x, beta=-1.0), error(F.huber_loss, x, x, delta=-1.0), error(F.multi_margin_loss, x, t([0, 1, 9])), error(F.triplet_margin_loss, x, x, x, margin=-1.0),
            error(F.gaussian_nll_loss, x, x, -x.abs()), error(F.cosine_embedding_loss, x, x, T.ones(3, 4)), error(F.kl_div, x, T.ones(5)), error(F.embedding, t([9]), x), error(F.glu, x[:, :3]),
        ]  # fmt: skip


@program
def weighted_losses(T):
    F, x, y, w = T.nn.functional, data(T, 3, 4), data(T, 3, 4) * 2, data(T, 3, 4).abs()
    return [f(x, y, weight=w, reduction=r) for f in (F.mse_loss, F.l1_loss, F.huber_loss) for r in ("mean", "sum", "none")]


# -- utils


@program
def gradients_are_clipped(T):
    U, m = T.nn.utils, net(T)
    m(data(T, 5, 3)).square().sum().backward()
    total = U.clip_grad_norm_(m.parameters(), 0.5)
    seen = [total] + [p.grad.clone() for p in m.parameters()] + [U.get_total_norm([p.grad for p in m.parameters()], float("inf"))]
    U.clip_grad_value_(m.parameters(), 0.01)
    seen += [p.grad for p in m.parameters()]
    m[0].weight.grad[0, 0] = float("nan")
    return seen + [error(U.clip_grad_norm_, m.parameters(), 1.0, error_if_nonfinite=True)]


@program
def parameters_become_a_vector_and_back(T):
    U, m = T.nn.utils, net(T)
    v = U.parameters_to_vector(m.parameters())
    U.vector_to_parameters(v * 2, m.parameters())
    return [v, U.parameters_to_vector(m.parameters()), error(U.vector_to_parameters, [1], m.parameters())]


@program
def sequences_are_packed_and_padded(T):
    R = T.nn.utils.rnn
    seqs = [data(T, n, 2) + n for n in (2, 4, 1)]
    padded = R.pad_sequence(seqs, batch_first=True, padding_value=-1.0)
    packed = R.pack_sequence(seqs, enforce_sorted=False)
    back, lengths = R.pad_packed_sequence(packed, padding_value=7.0, total_length=5)
    again = R.pack_padded_sequence(padded, T.tensor([2, 4, 1]), batch_first=True, enforce_sorted=False)
    return [
        padded, R.pad_sequence(seqs, padding_side="left"), packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices, back, lengths,
        again.data, R.unpack_sequence(packed), R.unpad_sequence(padded, T.tensor([2, 4, 1]), batch_first=True), R.invert_permutation(T.tensor([2, 0, 1])),
        error(R.pack_sequence, seqs), error(R.pad_packed_sequence, packed, total_length=2), packed.double().data,
    ]  # fmt: skip


@program
def recurrences_run_on_packed_sequences(T):
    R, seen = T.nn.utils.rnn, []
    for make in (T.nn.RNN, T.nn.LSTM, T.nn.GRU):
        T.manual_seed(2)
        m = make(2, 3, 2, bidirectional=True).double()
        packed = R.pack_sequence([data(T, n, 2) for n in (2, 4, 1)], enforce_sorted=False)
        out, state = m(packed)
        seen += [out.data, *(state if isinstance(state, tuple) else [state])]
        out.data.square().sum().backward()
        seen += [p.grad for p in m.parameters()]
        start = data(T, 4, 3, 3)
        seen.append(m(packed, (start, start) if make is T.nn.LSTM else start)[0].data)
    return seen


@program
def weights_are_normalised_by_hook(T):
    U = T.nn.utils
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = U.weight_norm(net(T)[0])
        seen = [list(m.state_dict()), m.weight_g, m(data(T, 2, 3))]
        m.weight_g.data.mul_(2)
        seen += [m(data(T, 2, 3)), repr(m), error(U.weight_norm, m)]
        U.remove_weight_norm(m)
    return seen + [list(m.state_dict()), m.weight, error(U.remove_weight_norm, m)]


@program
def weights_are_normalised_spectrally_by_hook(T):
    U = T.nn.utils
    T.manual_seed(3)
    m = U.spectral_norm(T.nn.Linear(3, 4).double(), n_power_iterations=2)
    seen = [sorted(m.state_dict()), m(data(T, 2, 3)), m.weight_u]
    m.eval()
    m(data(T, 2, 3)).sum().backward()
    seen += [m.weight_orig.grad]
    U.remove_spectral_norm(m)
    return seen + [sorted(m.state_dict()), m.weight]


@program
def weights_are_parametrized(T):
    P = T.nn.utils.parametrize

    class Symmetric(T.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a):
            return a.triu()

    class Double(T.nn.Module):
        def forward(self, x):
            return 2 * x

        def right_inverse(self, x):
            return x / 2

    T.manual_seed(4)
    m = T.nn.Linear(3, 3).double()
    P.register_parametrization(m, "weight", Symmetric())
    P.register_parametrization(m, "weight", Double())
    seen = [repr(m), list(m.state_dict()), m.weight, m(data(T, 2, 3)), P.is_parametrized(m), P.is_parametrized(m, "bias"), type(m).__name__]
    m.weight = T.eye(3, dtype=T.float64)
    seen += [m.weight, m.parametrizations.weight.original]
    with P.cached():
        seen.append(m.weight is m.weight)
    c = copy.deepcopy(m)
    m(data(T, 2, 3)).sum().backward()
    seen += [m.parametrizations.weight.original.grad, c.weight, P.type_before_parametrizations(m).__name__, error(pickle.dumps, m)]
    P.remove_parametrizations(m, "weight")
    seen += [repr(m), m.weight, type(m.weight).__name__]
    return seen + [error(P.register_parametrization, m, "nope", Double()), error(P.remove_parametrizations, m, "weight"), error(P.register_parametrization, m, "bias", T.nn.Linear(3, 2).double())]


@program
def parametrizations_of_weights(T):
    N, seen = T.nn.utils.parametrizations, []
    T.manual_seed(4)
    m = N.weight_norm(T.nn.Linear(3, 4).double())
    seen += [list(m.state_dict()), m.parametrizations.weight.original0, m(data(T, 2, 3))]
    s = N.spectral_norm(T.nn.Conv2d(2, 3, 2).double(), n_power_iterations=3)
    seen += [sorted(s.state_dict()), s.weight, s(data(T, 1, 2, 3, 3))]
    for shape in ((3, 3), (4, 2), (2, 5)):
        for kind in ("matrix_exp", "cayley", "householder"):
            o = N.orthogonal(T.nn.Linear(*shape).double(), orthogonal_map=kind)
            o.parametrizations.weight.original.data.add_(data(T, *o.weight.shape).tril(-1) if kind == "householder" else data(T, *o.weight.shape))
            w = o.weight
            seen.append((w.t() @ w if w.size(0) > w.size(1) else w @ w.t()) * 1.0)
    return seen


@program
def weights_are_pruned(T):
    P, m = import_module(T.__name__ + ".nn.utils.prune"), net(T)
    P.l1_unstructured(m[0], "weight", 4)
    seen = [sorted(m.state_dict()), m[0].weight_mask, m[0].weight, m(data(T, 5, 3))]
    P.ln_structured(m[0], "weight", 0.25, n=2, dim=0)
    seen += [m[0].weight_mask, P.is_pruned(m)]
    P.remove(m[0], "weight")
    P.custom_from_mask(m[2][1], "weight", T.tensor([[1, 0, 1, 0], [0, 0, 1, 1]]))
    seen += [m[0].weight, m[2][1].weight, sorted(m.state_dict())]
    P.remove(m[2][1], "weight")
    P.global_unstructured([(m[0], "weight"), (m[2][1], "weight")], P.L1Unstructured, amount=0.6)
    T.manual_seed(9)
    P.random_unstructured(m[0], "bias", 0.5)
    P.random_structured(m[0], "weight", 1, dim=1)
    seen += [m[0].weight, m[2][1].weight, m[0].bias_mask]
    return seen + [error(P.l1_unstructured, m[0], "bias", 1.5), error(P.l1_unstructured, m[0], "bias", "x"), error(P.remove, m[1], "weight")]


@program
def batch_norms_are_fused(T):
    U, x = T.nn.utils, data(T, 2, 3, 5, 5)
    T.manual_seed(3)
    c, b = T.nn.Conv2d(3, 4, 3).double(), T.nn.BatchNorm2d(4).double()
    for _ in range(3):
        b(c(x))
    c.eval(), b.eval()
    lin, b1 = T.nn.Linear(3, 4).double().eval(), T.nn.BatchNorm1d(4).double().eval()
    b1.running_mean.add_(0.3)
    return [U.fuse_conv_bn_eval(c, b)(x), U.fuse_linear_bn_eval(lin, b1)(data(T, 2, 3)), error(U.fuse_conv_bn_eval, c.train(), b)]


@program
def forward_runs_with_other_parameters(T):
    call = T.nn.utils.stateless.functional_call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = net(T)
        given = {"0.weight": data(T, 4, 3, grad=True), "1.running_mean": T.ones(4, dtype=T.float64)}
        out = call(m, given, (data(T, 5, 3),))
        out.square().sum().backward()
        tied = T.nn.Sequential(T.nn.Linear(2, 2, bias=False), T.nn.Linear(2, 2, bias=False)).double()
        tied[1].weight = tied[0].weight
        one = T.ones(2, 2, dtype=T.float64)
        return [
            out, given["0.weight"].grad, m[0].weight.grad, m[1].running_mean, call(tied, {"0.weight": one}, data(T, 1, 2)),
            call(tied, {"0.weight": one}, data(T, 1, 2), tie_weights=False) * 0 + 1, error(call, m, {"nope": one}, data(T, 5, 3)), error(call, m, {"0.weight": one}, data(T, 5, 3), strict=True),
        ]  # fmt: skip


@program
def skipped_initial_values(T):
    m = T.nn.utils.skip_init(T.nn.Linear, 3, 4)
    return [tuple(m.weight.shape), str(m.weight.device), type(m.weight).__name__, error(T.nn.utils.skip_init, T.nn.ReLU)]


@program
def lazy_modules_take_shape(T):
    m = T.nn.LazyLinear(3)
    seen = [T.nn.parameter.is_lazy(m.weight), repr(m), repr(m.weight), error(lambda: m.weight.shape), m.has_uninitialized_params()]
    m.load_state_dict({"weight": T.ones(3, 2), "bias": T.zeros(3)})
    seen += [m(T.ones(1, 2)), repr(m), type(m).__name__]
    n = T.nn.LazyLinear(3)
    n.load_state_dict(T.nn.LazyLinear(3).state_dict())
    c = copy.deepcopy(T.nn.LazyLinear(3))
    return seen + [T.nn.parameter.is_lazy(n.weight), type(c.weight).__name__, tuple(c(T.ones(1, 5)).shape)]
