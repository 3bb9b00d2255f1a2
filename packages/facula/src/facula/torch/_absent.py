"""Classes that libraries ask about and that nothing here is: what several processes or a compiler would make.

`isinstance(x, FullyShardedDataParallel)` is False, as it is in every program of one process. Making one raises RuntimeError.
"""

from __future__ import annotations

import types
from typing import Any

_OFFLOAD = "CPUOffload CPUOffloadPolicy OffloadPolicy MixedPrecision MixedPrecisionPolicy BackwardPrefetch ShardingStrategy StateDictType"
# PyTorch's module -> its classes and functions
NAMES = {
    "torch.distributed.fsdp": f"FullyShardedDataParallel FSDPModule FullStateDictConfig FullOptimStateDictConfig ShardedStateDictConfig fully_shard {_OFFLOAD}",
    "torch.distributed.fsdp.fully_sharded_data_parallel": f"FullyShardedDataParallel FlatParameter {_OFFLOAD}",
    "torch.distributed.fsdp.wrap": "size_based_auto_wrap_policy transformer_auto_wrap_policy ModuleWrapPolicy",
    "torch.distributed.fsdp.sharded_grad_scaler": "ShardedGradScaler",
    "torch.distributed._composable.fsdp": "FSDPModule fully_shard",
    "torch.distributed._tensor.experimental": "implicit_replication",
    "torch.distributed.tensor.experimental": "implicit_replication",
    "torch.distributed.optim": "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer",
    "torch.distributed._functional_collectives": "AsyncCollectiveTensor all_gather_tensor all_reduce all_to_all_single_autograd reduce_scatter_tensor",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper": "CheckpointImpl CheckpointWrapper apply_activation_checkpointing checkpoint_wrapper offload_wrapper",
    "torch.distributed.algorithms.model_averaging.averagers": "ModelAverager PeriodicModelAverager",
    "torch.distributed.checkpoint": "FileSystemReader FileSystemWriter async_save load save",
    "torch.distributed.checkpoint.hf_storage": "HuggingFaceStorageReader HuggingFaceStorageWriter",
    "torch.distributed.algorithms.ddp_comm_hooks": "default_hooks powerSGD_hook post_localSGD_hook",
    "torch.distributed.algorithms.join": "Join Joinable JoinHook",
    "torch.ao.quantization": "FakeQuantizeBase ObserverBase",
    "torch.quantization": "FakeQuantizeBase ObserverBase",
    "torch.utils.data.datapipes.iter.combinatorics": "SamplerIterDataPipe ShufflerIterDataPipe",
    "torch.utils.cpp_extension": "BuildExtension CUDAExtension CppExtension include_paths load load_inline",
    "torch.distributed.rpc": "RRef TensorPipeRpcBackendOptions WorkerInfo init_rpc remote rpc_async rpc_sync shutdown",
    "torch.distributed.pipelining": "PipelineStage ScheduleGPipe",
    "torch.export": "Dim ExportedProgram export",
    "torch.onnx": "ONNXProgram",
    "torch.onnx.symbolic_helper": "",  # looked into while something is exported
    "torch.cuda.comm": "broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter",
    "torch.cuda": "CUDAGraph Event ExternalStream Stream StreamContext graph",
    "torch.autograd.profiler": "emit_itt emit_nvtx",
    "torch._C": "Graph Node Value",
    "torch": "Stream PyTorchFileReader PyTorchFileWriter FloatType TensorType",
}
# and what such a module holds besides: no collective runs ahead of the program, no process is called, no compiler for devices is looked for
VALUES: dict[str, dict[str, Any]] = {
    "torch.distributed._functional_collectives": {"wait_tensor": lambda tensor: tensor},
    "torch.distributed.rpc": {"is_available": lambda: False},
    "torch.utils.cpp_extension": {"CUDA_HOME": None, "ROCM_HOME": None},
}
# where a name stands -> what a program can do instead; the first that fits
INSTEAD = {
    "torch.distributed": "Run on one process, without it.",
    "torch.ao": "Keep the model in floating point.",
    "torch.quantization": "Keep the model in floating point.",
    "torch.cuda": "Run on the CPU, without it.",
    "torch.Stream": "Run on the CPU, without it.",
    "torch.Event": "Run on the CPU, without it.",
    "torch.utils.cpp_extension": "Use the library's Python code: nothing is compiled while a program runs.",
    "torch.jit": "Record the program with torch.jit.trace or torch.fx.symbolic_trace.",
    "torch.export": "Record the program with torch.jit.trace or torch.fx.symbolic_trace.",
    "torch.onnx": "Save weights with torch.save, or record the program with torch.jit.trace.",
    "torch.autograd.profiler": "Measure with torch.profiler.",
    "torch": "Run without it.",
}


def absent(dotted: str) -> type:
    """The class of that name: nothing is one, and making one raises RuntimeError."""
    module, _, name = dotted.rpartition(".")

    def refuse(cls: type, *args: Any, **options: Any) -> None:
        instead = next(text for place, text in INSTEAD.items() if f"{dotted}.".startswith(f"{place}."))
        raise RuntimeError(f"{dotted}: Facula has no such thing. {instead}")

    return type(name, (), {"__new__": refuse, "__module__": module, "__doc__": f"{dotted}: nothing here is one."})


def modules() -> list[str]:
    """The modules of the table and the folders they lie in."""
    folders = {".".join(parts[:n]) for parts in (name.split(".") for name in NAMES) for n in range(3, len(parts) + 1)}
    return sorted({"torch.ao", "torch.export", "torch.quantization"} | folders)


_made: dict[str, types.ModuleType] = {}


def module(dotted: str) -> types.ModuleType:
    """The module of that name, with its classes."""
    if dotted not in _made:
        made = types.ModuleType(dotted, "Classes that nothing here is.")
        for name in NAMES.get(dotted, "").split():
            made.__dict__[name] = one(f"{dotted}.{name}")
        made.__dict__.update(VALUES.get(dotted, {}))
        _made[dotted] = made
    return _made[dotted]


_classes: dict[str, type] = {}


def one(dotted: str) -> type:
    """The class of that name, the same one in every module that has it; functions of one name are different ones."""
    name = dotted.rpartition(".")[2]
    return _classes.setdefault(name if name[0].isupper() else dotted, absent(dotted))


def __getattr__(name: str) -> type:
    if name == "Event":
        return one("torch.Event")
    raise AttributeError(name)
