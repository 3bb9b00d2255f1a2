"""What programs find in `torch` that Facula has under no name of its own, or under another meaning."""

from __future__ import annotations

import importlib
import sys
import warnings

from . import _absent

# The release whose behaviour Facula follows; programs compare torch.__version__ with what they need.
REFERENCE = "2.13.0+facula"

_told: set[str] = set()


def _tell_once(text: str) -> None:
    if text not in _told:
        _told.add(text)
        warnings.warn(text, stacklevel=3)


def _version():
    from ._torch_version import TorchVersion

    return TorchVersion(REFERENCE)


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """A wrapper of the module (or the function itself) that runs it eagerly and gives the same numbers. Says so once."""
    if model is None:
        return lambda function: compile(function, disable=disable)
    if not callable(model):
        raise TypeError(
            f"torch.compile: got {type(model).__name__}, which cannot be called. Give a module or function."
        )
    if not disable:
        _tell_once("torch.compile: Facula runs the module as it is, nothing is compiled (said once)")
    return model if disable else _wrapped(model)


def _wrapped(model):
    """A module as PyTorch wraps it, once; anything else as it is."""
    if "facula.nn" not in sys.modules:  # then there is no module
        return model
    from facula.nn import Module

    from ._compiled import OptimizedModule

    return OptimizedModule(model) if isinstance(model, Module) and not isinstance(model, OptimizedModule) else model


def _assert_async(condition, message: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """RuntimeError where the tensor of one element is zero; told at once, there being no device that runs ahead."""
    if not bool(condition):
        raise RuntimeError(message)


def _check(cond: bool, message=None) -> None:
    """RuntimeError where cond is false; message: a function that gives its text."""
    _check_with(RuntimeError, cond, message)


def _check_with(error_type: type[BaseException], cond: bool, message=None) -> None:
    """error_type where cond is false."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise error_type("Expected cond to be True, but got False." if message is None else str(message()))


def _check_tensor_all_with(error_type: type[BaseException], cond, message=None) -> None:
    """error_type where an element of a tensor of bools is False."""
    import facula

    if not isinstance(cond, facula.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype != facula.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond, message=None) -> None:
    """RuntimeError where an element of a tensor of bools is False."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_value(cond: bool, message=None) -> None:
    """ValueError where cond is false."""
    _check_with(ValueError, cond, message)


def _check_index(cond: bool, message=None) -> None:
    """IndexError where cond is false."""
    _check_with(IndexError, cond, message)


def _check_not_implemented(cond: bool, message=None) -> None:
    """NotImplementedError where cond is false."""
    _check_with(NotImplementedError, cond, message)


def _check_type(cond: bool, message=None) -> None:
    """TypeError where cond is false."""
    _check_with(TypeError, cond, message)


def _shape_as_tensor(input):
    """The sizes as an int64 tensor."""
    import facula

    return facula.tensor(tuple(input.shape), dtype=facula.int64)


def _here(name: str):
    return getattr(sys.modules[__name__], name)


# Files of the reference under whose name its package has a function: `from torch.nn.utils.weight_norm import WeightNorm`
FILES = {
    "torch.autograd.gradcheck": "facula.autograd.gradcheck",
    "torch.nn.utils.weight_norm": "facula.nn.utils.weight_norm",
    "torch.nn.utils.spectral_norm": "facula.nn.utils.spectral_norm",
    "torch.nn.parallel.data_parallel": "facula.nn.parallel.data_parallel",
    "torch.nn.parallel.parallel_apply": "facula.nn.parallel.pieces",
    "torch.nn.parallel.replicate": "facula.nn.parallel.pieces",
    "torchvision.models.alexnet": "facula.vision.models.alexnet",
    "torchvision.models.googlenet": "facula.vision.models.googlenet",
    "torchvision.models.video.s3d": "facula.vision.models.video",
    "torchvision.ops.roi_align": "facula.vision.ops.pooling",
    "torchvision.ops.roi_pool": "facula.vision.ops.pooling",
    "torchvision.ops.stochastic_depth": "facula.vision.ops.losses",
    "torch.multiprocessing.spawn": "facula.dist.multiprocessing",
}

# Files of torchvision.models.detection, and ours
_DETECTION = {
    "_utils": "_boxes", "anchor_utils": "_anchors", "backbone_utils": "_backbones", "faster_rcnn": "rcnn", "fcos": "dense",
    "generalized_rcnn": "rcnn", "image_list": "_transform", "keypoint_rcnn": "rcnn", "mask_rcnn": "rcnn", "retinanet": "dense",
    "roi_heads": "_roi_heads", "rpn": "_rpn", "ssdlite": "ssd", "transform": "_transform",
}  # fmt: skip

# Dotted names in `torch` that always come from here, because Facula's own name tells something else.
OVERRIDES = {
    "torch.distributed.run": "facula.torch._launch",
    "torch.jit.load": "facula.torch._script:load",  # gives modules
    "torch.__version__": lambda: _version(),
    "torch.version": "facula.torch._version",
    "torch.get_device_module": "facula.torch._utils:get_device_module",  # which knows torch.cpu
    "torch.torch": lambda: importlib.import_module("torch"),  # the reference's namespace names itself
    "torch.nn.modules.utils": "facula.torch._tuples",
    "torch.optim.lbfgs._strong_wolfe": "facula.torch._optim_internals:_strong_wolfe",  # ours takes points
    "torch._functorch.vmap": "facula.torch._functorch",
    "torch._higher_order_ops.associative_scan": "facula.torch._associative_scan",  # the file, not its function
}

_ABSENT_DTYPES = "complex32 chalf qint8 quint8 qint32 quint4x2 quint2x4".split()

_NN = "facula.torch._nn_internals:"
_TRANSFORMER = {"_detect_is_causal_mask": "_is_causal", "_get_clones": "_copies", "_get_seq_len": "_seq_len"}
_OPTIM = "facula.torch._optim_internals:"
_LOADER = "facula.data._iterators:"

# Modules of the standard library that PyTorch's files import, and that programs reach through them (torch.serialization.pickle).
_STANDARD = {
    "torch": "builtins ctypes functools glob importlib inspect math os platform sys textwrap threading warnings",
    "torch.serialization": "copyreg difflib functools io os pickle re shutil struct sys tarfile tempfile threading warnings",
    "torch.nn.functional": "dataclasses importlib math warnings",
    "torch.hub": "contextlib errno hashlib json os re shutil sys tempfile uuid warnings zipfile",
    "torch.optim.lr_scheduler": "math types warnings",
    "torch.optim.optimizer": "functools",
    "torch.autograd": "warnings",
    "torch.utils.data.dataloader": "contextlib functools itertools logging os queue threading warnings",
    "torch.utils.data.dataset": "bisect itertools math warnings",
    "torch.utils.data.sampler": "itertools",
    "torch.utils.data.distributed": "math",
    "torch.utils.checkpoint": "contextlib itertools platform uuid warnings",
    "torch.nn.modules.module": "functools inspect itertools warnings weakref",
    "torch.nn.modules.transformer": "copy warnings",
    "torch.nn.modules.container": "operator",
    "torch.nn.modules.rnn": "math numbers warnings weakref",
    **{f"torch.nn.modules.{n}": "math" for n in ("conv", "linear", "loss")},
    "torch.distributions.transforms": "functools math operator",
    "torch.distributions.normal": "math",
}

# Dotted names served from here only while Facula itself has none of that name. A text is a module, or module:name.
FALLBACKS = {
    **{f"{file}.{name}": name for file, names in _STANDARD.items() for name in names.split()},
    "torch.Event": "facula.torch._absent:Event",
    "torch.OutOfMemoryError": "facula.torch._cuda:OutOfMemoryError",
    "torch.ScriptModule": "facula.torch._script:ScriptModule",
    "torch.Future": "facula.torch._futures:Future",
    "torch.distributed.DeviceMesh": "facula.torch._dtensor:DeviceMesh",
    "torch.distributions.utils._standard_normal": "facula.torch._distributions:_standard_normal",
    "torch.distributions.transforms._clipped_sigmoid": "facula.torch._distributions:_clipped_sigmoid",
    "torch.distributions.utils._sum_rightmost": "facula.torch._distributions:_sum_rightmost",
    "torch.serialization.MAP_LOCATION": "facula.torch._kinds:MAP_LOCATION",
    "torch.nn.modules.module._IncompatibleKeys": "facula.nn._module_state:_IncompatibleKeys",
    "torch.nn.modules.transformer._get_activation_fn": _NN + "_get_activation_fn",
    "torch.optim.optimizer.ParamsT": _OPTIM + "ParamsT",
    "torch.optim.optimizer._params_t": _OPTIM + "ParamsT",
    "torch.optim.optimizer._default_to_fused_or_foreach": _OPTIM + "_default_to_fused_or_foreach",
    "torch.optim.optimizer._get_capturable_supported_devices": _OPTIM + "_get_capturable_supported_devices",
    "torch.optim.optimizer._use_grad_for_differentiable": _OPTIM + "_use_grad_for_differentiable",
    "torch.optim.optimizer._dispatch_sqrt": _OPTIM + "_dispatch_sqrt",
    "torch.optim.optimizer._get_value": _OPTIM + "_get_value",
    "torch.optim.optimizer._stack_if_compiling": _OPTIM + "_stack_if_compiling",
    "torch.optim.optimizer._view_as_real": _OPTIM + "_view_as_real",
    "torch.utils.data.dataloader._BaseDataLoaderIter": _LOADER + "LoaderIterator",
    "torch.utils.data.dataloader._SingleProcessDataLoaderIter": _LOADER + "SingleProcessIterator",
    "torch.utils.data.dataloader._MultiProcessingDataLoaderIter": _LOADER + "WorkersIterator",
    "torch.profiler.kineto_available": "facula.torch._profiler:kineto_available",
    "torch.profiler.profiler": "facula.profiler",
    "torch.profiler.profiler._default_schedule_fn": "facula.torch._profiler:_default_schedule_fn",
    "torch._higher_order_ops": "facula.torch._associative_scan",
    "torch._dynamo._trace_wrapped_higher_order_op": "facula.torch._compiler",
    "torch.distributed.constants": "facula.torch._dtensor",
    "torch.distributions.transforms._InverseTransform": "facula.distributions._transform:_InverseTransform",
    "torch.distributed.distributed_c10d._get_default_group": "facula.torch._dtensor:_get_default_group",
    "torch.distributed.is_torchelastic_launched": "facula.torch._dtensor:is_torchelastic_launched",
    "torch.distributed.get_process_group_ranks": "facula.torch._dtensor:get_process_group_ranks",
    "torch.nn.utils.stateless._reparametrize_module": _NN + "_reparametrize_module",
    "torch.storage": "facula.tensor_core.memory.storage",
    "torch.nn._reduction": "facula.torch._reduction",
    "torch._utils": "facula.torch._utils",
    # what plain pickles of PyTorch's name
    "torch._utils._rebuild_parameter_with_state": "facula.nn.parameter:rebuild_parameter_with_state",
    "torch.storage._load_from_bytes": "facula.torch._utils:_load_from_bytes",
    "torch.serialization._get_layout": "facula.torch._utils:_get_layout",
    "torch._tensor._rebuild_from_type_v2": "facula.torch._utils:_rebuild_from_type_v2",
    "torch._C._VariableFunctionsClass": "facula",
    "torch.storage._dtype_to_storage_type_map": lambda: lambda: importlib.import_module("facula.tensor_core._torch_names").STORAGE_OF,
    "torch.StorageBase": "facula.torch._c:StorageBase",
    "torch.Storage": lambda: importlib.import_module("facula.torch._kinds").default_storage(),
    "torch.cpu.amp": "facula.torch._cpu_amp",
    "torch.utils.collect_env": "facula.torch._collect_env",
    "torch.utils._contextlib": "facula.torch._contextlib",
    "torch.utils._python_dispatch": "facula.torch._python_dispatch",
    "torch.testing._internal": "facula.torch._common_utils",
    "torch.testing._internal.common_utils": "facula.torch._common_utils",
    "torch.nn.utils._named_member_accessor": "facula.torch._member_accessor",
    "torch.utils.weak": "facula.torch._weak",
    "torch.torch_version": "facula.torch._torch_version",
    "torch._C._functorch": "facula.torch._functorch",
    "torch._functorch": "facula.func",
    "functorch.experimental": "facula.torch._functorch_experimental",
    "functorch.einops": "facula.func",
    "torch._functorch.apis": "facula.func",
    "torch._functorch.eager_transforms": "facula.func",
    "torch._jit_internal": "facula.torch._jit_internal",
    "torch.distributed.nn": "facula.torch._distributed_nn",
    "torch.distributed.nn.functional": "facula.torch._distributed_nn",
    "torch.distributed.launch": "facula.torch._launch",
    "torch.utils.data._utils.worker._generate_state": "facula.torch._loader_names:_generate_state",
    **{f"torch.utils.data.dataloader.{n}": f"facula.torch._loader_names:{n}" for n in ("_DatasetKind", "_collate_fn_t")},
    **{f"torch.nn.modules.module._global_{n}_registration_hooks": f"facula.nn._hooks:{n}_registration_hooks" for n in ("buffer", "module", "parameter")},
    "torch.nn.modules.module._EXTRA_STATE_KEY_SUFFIX": "facula.nn._module_state:EXTRA_STATE",
    **{
        f"torch.distributions.{home}.{n}": f"facula.torch._distributions:{n}"
        for home, names in {
            "multivariate_normal": "_batch_mahalanobis _batch_mv _precision_to_scale_tril", "lowrank_multivariate_normal": "_batch_mahalanobis _batch_mv",
        }.items()
        for n in names.split()
    },
    **{f"torch.{n}": f"facula.torch._indices:{n}" for n in ("_convert_indices_from_coo_to_csr", "_convert_indices_from_csr_to_coo", "_int_mm", "_log_softmax_backward_data", "_segment_reduce", "_softmax_backward_data", "_validate_sparse_compressed_tensor_args", "_validate_sparse_coo_tensor_args")},
    **{f"torch.nn.init.{n}": f"facula.torch._indices:{n}" for n in ("_no_grad_normal_", "_no_grad_uniform_")},
    **{f"torch.nn.init._no_grad_{n}_": f"facula.nn.init:{t}" for n, t in (("fill", "constant_"), ("zero", "zeros_"))},
    "torch.jit.Attribute": "facula.torch._indices:Attribute",
    "torch.nn.parameter._ParameterMeta": lambda: type(importlib.import_module("facula.nn").Parameter),
    "torch.utils.tensorboard.writer": "facula.utils.tensorboard",
    "torch.utils.tensorboard.summary": "facula.torch._tensorboard_summary",
    "torch.functional.F": "facula.nn.functional",
    "torch.legacy_contiguous_format": "facula:contiguous_format",
    "torch.hub._get_torch_home": "facula.hub:_home",
    "torch.hub.tqdm": "facula.torch._progress:tqdm",
    "torch.utils.model_zoo.tqdm": "facula.torch._progress:tqdm",
    "torch.distributions.kl._KL_REGISTRY": "facula.distributions.kl:_RULES",
    "torch.utils.data._utils.pin_memory": "facula.torch._loader_names",
    "torch._vmap_internals": "facula.torch._vmap_internals",
    "torch.optim.lbfgs._cubic_interpolate": _OPTIM + "_cubic_interpolate",
    "torch.cuda.random": "facula.torch._cuda",
    "torch.cuda.memory": "facula.torch._cuda",
    "torch.autograd.profiler_util": "facula.autograd._events",
    "torch.masked._ops": "facula.masked",
    "torch.cuda.amp.grad_scaler": "facula.torch._cuda_amp",
    "torch.cuda.amp.common": "facula.torch._cuda_amp_common",
    **{f"torch.distributed.elastic{below}": "facula.torch._elastic" for below in ("", ".multiprocessing", ".multiprocessing.errors")},
    **{f"torch.autograd.functional.{n}": f"facula.torch._autograd_internals:{n}" for n in ("_as_tuple", "_construct_standard_basis_for", "_grad_postprocess", "_tuple_postprocess")},
    **{f"torch.{n}": f"facula.torch._removed:{n}" for n in ("eig", "lstsq", "matrix_rank", "solve", "symeig")},
    **{f"torch.jit.{n}": f"facula.torch._script:{n}" for n in ("fork", "optimized_execution", "wait")},
    "torch.jit.Future": "facula.torch._futures:Future",
    "torch.amp.autocast_mode._cast": "facula.torch._older_amp:_cast",
    **{f"torch.utils._pytree._namedtuple_{n}": f"facula.utils._pytree:_named_{n}" for n in ("flatten", "unflatten")},
    "torch._tensor_str": "facula.tensor_core._print",
    "torch.backends": "facula.torch._backends",
    "torch.futures": "facula.torch._futures",
    "torch.distributed.checkpoint.state_dict": "facula.torch._checkpoint_state",
    "torch.distributed.tensor": "facula.torch._dtensor",
    "torch.distributed._tensor": "facula.torch._dtensor",
    "torch.distributed.device_mesh": "facula.torch._dtensor",
    "torch.distributed.tensor.placement_types": "facula.torch._dtensor",
    "torch.distributed.tensor._utils": "facula.torch._dtensor",
    **{f"torch.sparse.{n}": f"facula.torch._sparse_types:{n}" for n in ("DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor")},
    **{
        f"torch.cuda.{n}": f"facula.torch._cuda:{n}"
        for n in (*(f"{kind}Tensor" for kind in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split()), "_initialized", "_lazy_call", "_queued_calls", "is_current_stream_capturing", "stream")
    },
    "torch.library": "facula.torch._library",
    "torch.utils.flop_counter": "facula.torch._flop_counter",
    "torch.utils.module_tracker": "facula.torch._module_tracker",
    "torch.nn.functional.grad": "facula.nn.grad",
    "torch.serialization.SourceChangeWarning": "facula.torch._kinds:SourceChangeWarning",
    "torch.nn.modules.transformer._generate_square_subsequent_mask": _NN + "_generate_square_subsequent_mask",
    **{f"torch.nn.modules.transformer.{n}": f"facula.nn.transformer:{ours}" for n, ours in _TRANSFORMER.items()},
    **{f"torch.nn.modules.{n}._addindent": _NN + "_addindent" for n in ("container", "module")},
    "torch.nn.modules.rnn.apply_permutation": _NN + "apply_permutation",
    "torch.nn.modules.utils._list_with_default": "facula.nn._sizes:_list_with_default",
    **{f"torch.nn.functional.{n}": f"facula.torch._attention_internals:{n}" for n in ("_canonical_mask", "_in_projection", "_none_or_dtype")},
    "torch.nn.functional._in_projection_packed": "facula.nn.functional._attention:_projected",
    "torch.nn.functional._mha_shape_check": "facula.nn.functional._attention:_check_shapes",
    "torch.nn.functional._get_softmax_dim": _NN + "_get_softmax_dim",
    **{f"torch.nn.parallel.scatter_gather.{n}": _NN + n for n in ("is_namedtuple", "_is_namedtuple")},
    "torch.optim.lr_scheduler._enable_get_lr_call": _OPTIM + "_enable_get_lr_call",
    **{f"torchvision.models.segmentation.{n}": "facula.vision.models.segmentation" for n in ("deeplabv3", "fcn", "lraspp")},
    **{f"torchvision.models.video.{n}": "facula.vision.models.video" for n in ("resnet", "swin_transformer")},
    **{f"torchvision.models.detection.{theirs}": f"facula.vision.models.detection.{ours}" for theirs, ours in _DETECTION.items()},
    **{f"torchvision.ops.{n}": "facula.vision.ops.pyramid" for n in ("feature_pyramid_network", "poolers")},
    **{f"torchvision.ops.{n}_loss": "facula.vision.ops.losses" for n in ("ciou", "diou", "focal", "giou")},
    "torchvision.transforms.transforms": "facula.vision.transforms",
    "torchvision.datasets.fakedata": "facula.vision.datasets.fake",
    "torchvision.models.mobilenet": "facula.vision.models",
    "torchvision.io": "facula.torch._vision_io",
    "torchvision.io.image": "facula.torch._vision_io",
    "torch.ops": "facula.torch._operators",
    "torch.cuda": "facula.torch._cuda",
    "torch.mps": "facula.torch._mps",
    "torch.cuda.nvtx": "facula.torch._nvtx",
    "torch.cuda.amp": "facula.torch._cuda_amp",
    "torch.utils.model_zoo": "facula.hub",
    "torch.compiler": "facula.torch._compiler",
    "torch._dynamo": "facula.torch._compiler",
    "torch._dynamo.OptimizedModule": "facula.torch._compiled:OptimizedModule",
    "torch._dynamo.eval_frame": "facula.torch._compiled",
    "torch._dynamo.config": "facula.torch._dynamo_config",
    "torch.utils._foreach_utils": "facula.torch._foreach_utils",
    **{
        f"torch.{n}": lambda n=n: getattr(importlib.import_module("facula.torch._symbolic"), n)
        for n in "SymBool SymFloat SymInt sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum".split()
    },
    **{f"torch.{n}": lambda n=n: importlib.import_module("facula.torch._dtypes").ABSENT[n] for n in _ABSENT_DTYPES},
    "torch.onnx": "facula.torch._onnx",
    "torch.cpu": "facula.torch._cpu",
    "torch.__future__": "facula.torch._future",
    "torch._C": "facula.torch._c",
    "torch._guards": "facula.torch._guards",
    "torch.DeviceObjType": "facula:device",
    **{f"torch._cast_{n}": f"facula.torch._dtypes:_cast_{n}" for n in "Byte Char Double Float Half Int Long Short".split()},
    "torch.jit._get_trace_graph": lambda: _absent.one("torch.jit._get_trace_graph"),  # libraries import it beside their losses
    "torch._subclasses": "facula.torch._subclasses",
    "torch._subclasses.fake_tensor": "facula.torch._subclasses",
    "torch.fx.experimental": "facula.torch._fx_experimental",
    "torch.fx.experimental.proxy_tensor": "facula.torch._fx_experimental",
    "torch.fx.experimental.optimization": "facula.torch._fx_optimization",
    "torch.jit.annotations": "facula.torch._annotations",
    "torch.xpu": "facula.torch._accelerator",
    "torch.accelerator": "facula.torch._accelerator",
    "torch.__config__": "facula.torch._config",
    "torchvision.__version__": lambda: "0.28.0+facula",
}
for _dotted in _absent.modules():
    FALLBACKS.setdefault(_dotted, lambda dotted=_dotted: _absent.module(dotted))
for _dotted, _names in _absent.NAMES.items():
    for _name in _names.split():
        FALLBACKS.setdefault(f"{_dotted}.{_name}", lambda dotted=f"{_dotted}.{_name}": _absent.one(dotted))
for _name in (
    "compile",
    "_assert_async",
    "_check",
    "_check_index",
    "_check_not_implemented",
    "_check_tensor_all",
    "_check_tensor_all_with",
    "_check_type",
    "_check_value",
    "_check_with",
    "_shape_as_tensor",
):
    FALLBACKS[f"torch.{_name}"] = lambda name=_name: _here(name)
for _name in (
    "Error",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TopLevelTracedModule",
    "_overload",
    "_overload_method",
    "annotate",
    "export",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "isinstance",
    "optimize_for_inference",
    "script",
    "script_if_tracing",
    "script_method",
    "unused",
):
    FALLBACKS[f"torch.jit.{_name}"] = lambda name=_name: getattr(importlib.import_module("facula.torch._script"), name)
