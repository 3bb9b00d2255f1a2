"""THE ownership table: public name -> the part that brings it. A miss imports that part, or says how to install it."""

import importlib
import importlib.util
import sys

# name on `facula` -> (module that holds it, distribution)
MODULES = {
    "nn": ("facula.nn", "facula-nn"),
    "optim": ("facula.optim", "facula-optim"),
    "autograd": ("facula.autograd", "facula-autograd"),
    "func": ("facula.func", "facula-autograd"),
    "amp": ("facula.amp", "facula-autograd"),
    "profiler": ("facula.profiler", "facula-autograd"),
    "jit": ("facula.jit", "facula-jit"),
    "fx": ("facula.fx", "facula-jit"),
    "onnx": ("facula.jit.onnx", "facula-jit"),
    "distributed": ("facula.dist", "facula-dist"),
    "multiprocessing": ("facula.dist.multiprocessing", "facula-dist"),
    "hub": ("facula.hub", "facula"),
    "distributions": ("facula.distributions", "facula-distributions"),
    "vision": ("facula.vision", "facula-vision"),
    "data": ("facula.data", "facula-data"),
    "torch": ("facula.torch", "facula"),
    "linalg": ("facula.linalg", "facula-tensor-core"),
    "fft": ("facula.fft", "facula-tensor-core"),
    "signal": ("facula.signal", "facula-tensor-core"),
    "special": ("facula.special", "facula-tensor-core"),
    "sparse": ("facula.sparse", "facula-tensor-core"),
    "masked": ("facula.masked", "facula-tensor-core"),
    "random": ("facula.random", "facula-tensor-core"),
    "quasirandom": ("facula.quasirandom", "facula-tensor-core"),
    "testing": ("facula.testing", "facula-tensor-core"),
    "cuda": ("facula.cuda", "facula-tensor-core"),
    "backends": ("facula.backends", "facula-tensor-core"),
    "utils": ("facula.utils", "facula-tensor-core"),
    "overrides": ("facula.overrides", "facula-tensor-core"),
    "version": ("facula.version", "facula-tensor-core"),
    "safetensors": ("facula.safetensors", "facula-tensor-core"),
    "serialization": ("facula.serialization", "facula-tensor-core"),
}

UTILS = {
    "data": ("facula.utils.data", "facula-data"),
    "checkpoint": ("facula.utils.checkpoint", "facula-autograd"),
    "bottleneck": ("facula.utils.bottleneck", "facula-autograd"),
    "trainer": ("facula.utils.trainer", "facula"),
    "tensorboard": ("facula.utils.tensorboard", "facula"),
    "benchmark": ("facula.utils.benchmark", "facula"),
    "dlpack": ("facula.utils.dlpack", "facula-tensor-core"),
    "hooks": ("facula.utils.hooks", "facula-tensor-core"),
    "deterministic": ("facula.utils.deterministic", "facula-tensor-core"),
}

# functions of this very part whose modules are imported at first use, and methods of these names: module -> names
LATER = {
    "facula.tensor_core.linalg.names": (
        "cholesky", "cholesky_inverse", "cholesky_solve", "det", "geqrf", "inverse", "lobpcg", "logdet", "lu", "lu_solve", "lu_unpack", "matrix_exp", "matrix_power",
        "orgqr", "ormqr", "pca_lowrank", "pinverse", "qr", "slogdet", "svd", "svd_lowrank", "triangular_solve",
    ),
    "facula.tensor_core.fft.short_time": ("istft", "stft"),
    "facula.tensor_core.functions.segments": ("hash_tensor", "segment_reduce"),
    "facula.tensor_core.functions.control": ("_assert", "cond", "while_loop"),
    "facula.tensor_core.sparse.products": (
        "dsmm", "hsmm", "hspmm", "native_norm", "saddmm", "smm", "sparse_resize_", "sparse_resize_and_clear_", "spmm", "sspaddmm", "to_sparse_coo",
    ),
    "facula.tensor_core.sparse.rows": ("sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_csc_tensor", "sparse_csr_tensor"),
    "facula.tensor_core.functions.windows": ("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"),
    "facula.tensor_core.functions.copies": (
        "alias_copy", "as_strided_copy", "detach_copy", "diagonal_copy", "empty_permuted", "expand_copy", "fill", "narrow_copy", "nonzero_static",
        "permute_copy", "range", "select_copy", "slice_copy", "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy", "transpose_copy",
        "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_as_complex_copy", "view_as_real_copy", "view_copy",
    ),
}  # fmt: skip
LATER_NO_METHOD = {"_assert", "cond", "dsmm", "hsmm", "hspmm", "native_norm", "saddmm", "spmm", "segment_reduce", "while_loop", "lobpcg", "lu_unpack", "pca_lowrank", "svd_lowrank", *LATER["facula.tensor_core.functions.windows"], *LATER["facula.tensor_core.sparse.rows"], *LATER["facula.tensor_core.functions.copies"]} - {"narrow_copy", "nonzero_static"}

LATER_NO_FUNCTION = {"sparse_resize_", "sparse_resize_and_clear_", "to_sparse_coo"}

LATER_FUNCTIONS = {name for names in LATER.values() for name in names} - LATER_NO_FUNCTION

# names on `facula` that are functions or classes of a part
NAMES = {
    **{name: (module, "facula-tensor-core") for module, names in LATER.items() for name in names if name not in LATER_NO_FUNCTION},
    **dict.fromkeys(
        (
            "no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled", "inference_mode", "is_inference", "is_inference_mode_enabled",
            "is_anomaly_enabled", "is_anomaly_check_nan_enabled",
        ),
        ("facula.autograd", "facula-autograd"),
    ),
    "vmap": ("facula.func", "facula-autograd"),
    "autocast": ("facula.amp", "facula-autograd"),
    "GradScaler": ("facula.amp", "facula-autograd"),
    **dict.fromkeys(
        (
            "clear_autocast_cache", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled",
            "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_dtype",
        ),
        ("facula.amp.autocast_mode", "facula-autograd"),
    ),
    **dict.fromkeys(
        (
            "adaptive_avg_pool1d", "avg_pool1d", "bilinear", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d",
            "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool3d",
            "native_channel_shuffle", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "rms_norm", "rrelu_",
        ),
        ("facula.nn.functional", "facula-nn"),
    ),
    **dict.fromkeys(
        (
            "adaptive_max_pool1d", "affine_grid_generator", "alpha_dropout", "alpha_dropout_", "batch_norm", "binary_cross_entropy_with_logits",
            "cosine_embedding_loss", "ctc_loss", "dropout", "dropout_", "embedding", "embedding_renorm_", "feature_alpha_dropout", "feature_alpha_dropout_",
            "feature_dropout", "feature_dropout_", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "group_norm", "gru", "gru_cell", "hinge_embedding_loss", "instance_norm",
            "kl_div", "layer_norm", "lstm", "lstm_cell", "margin_ranking_loss",
            "norm_except_dim", "poisson_nll_loss", "rrelu", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell", "triplet_margin_loss",
        ),
        ("facula.nn._positional", "facula-nn"),
    ),
    **dict.fromkeys(
        ("batch_norm_update_stats", "embedding_bag", "native_batch_norm", "native_dropout", "native_group_norm", "native_layer_norm"),
        ("facula.nn._native", "facula-nn"),
    ),
}  # fmt: skip

# functions that are a method under another roof: facula.clamp_(x) is x.clamp_()
IN_PLACE = (
    "addmv_", "arctan2_", "as_strided_", "clamp_", "clamp_max_", "clamp_min_", "clip_", "detach", "detach_", "fill_", "fix_", "gcd_", "i0_", "index_put_", "lcm_",
    "ldexp_", "nan_to_num_", "negative_", "resize_as_", "xlogy_", "zero_",
)  # fmt: skip

TENSOR = {
    **{n: (module, "facula-tensor-core") for module, names in LATER.items() for n in names if n not in LATER_NO_METHOD},
    **dict.fromkeys(
        (
            "backward", "grad_fn", "is_leaf", "register_hook", "register_post_accumulate_grad_hook", "retain_grad", "retains_grad",
            "requires_grad_", "detach_", "output_nr", "_backward_hooks", "is_inference",
        ),
        ("facula.autograd", "facula-autograd"),
    ),
}  # fmt: skip


def installed(distribution):
    """Is the part there? Each has a package of its own name; the umbrella's is the command line."""
    part = distribution.removeprefix("facula-").replace("-", "_")
    return importlib.util.find_spec("facula.cli" if part == "facula" else f"facula.{part}") is not None


def installed_names():
    """The names whose part is there."""
    there = {}
    for module in {module for module, _ in NAMES.values()}:
        try:
            there[module] = importlib.util.find_spec(module) is not None
        except ModuleNotFoundError:  # its package is not there
            there[module] = False
    return [name for name, (module, _) in NAMES.items() if there[module]]


def load(public, module, distribution, error_type=None):
    """The part's module, or an error that names what to install: hasattr() is False, and `from facula import nn` says why not."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            if installed(distribution):
                raise AttributeError(f"{public} is not there: {distribution} is installed and does not have it yet") from None
            error_type = error_type or (ModuleNotFoundError if _imported() else AttributeError)
            # a name of its own, so that a traceback adds no guess at what was meant
            raise error_type(f"{public} comes with {distribution}, which is not installed: pip install {distribution}", name=public) from None
        raise


def _imported():
    """Is it the import statement that asks?"""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in ("facula", "facula.utils", __name__):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def attribute(name, prefix="facula", modules=MODULES, names=NAMES):
    """What `facula.name` means when the module itself has no such name."""
    if name in modules:
        return load(f"{prefix}.{name}", *modules[name])
    if name in names:
        module, distribution = names[name]
        return getattr(load(f"{prefix}.{name}", module, distribution), name)
    if prefix == "facula" and name in IN_PLACE:
        from facula.tensor_core._methods import namesake
        from facula.tensor_core._tensor import Tensor

        found = sys.modules["facula"].__dict__[name] = namesake(name, getattr(Tensor, name), method=False)
        return found
    if prefix == "facula" and name.startswith("_foreach_"):
        from facula.tensor_core.functions import foreach as _foreach

        vars(sys.modules[prefix]).update(_foreach.FUNCTIONS)  # asked for once: a look-up here takes a microsecond
        if name in _foreach.FUNCTIONS:
            return _foreach.FUNCTIONS[name]
    raise AttributeError(f"module '{prefix}' has no attribute '{name}'")


class Brought:
    """Stands on Tensor for an attribute that another part attaches when imported, and imports that part when it is asked for.

    One descriptor for each name, not a `__getattr__`: with that, CPython specialises no attribute access of a Tensor at all.
    """

    def __init__(self, name):
        self.name = name

    def __get__(self, tensor, owner=None):
        load(f"Tensor.{self.name}", *TENSOR[self.name])
        owner = owner or type(tensor)
        attached = getattr(owner, self.name) if owner.__dict__.get(self.name) is not self else None
        if attached is None:
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{self.name}'")
        return attached if tensor is None else getattr(tensor, self.name)


def attach(functions):
    """A module of this part that was imported late gives Tensor its methods."""
    from facula.tensor_core._methods import namesake
    from facula.tensor_core._tensor import Tensor

    for name, function in functions.items():
        if name not in LATER_NO_METHOD:
            setattr(Tensor, name, namesake(name, function))
