"""No argument is silently ignored: a public function reads each of its parameters, or is listed here with the reason."""

import ast

import pytest
from tree import PARTS, ROOT

# What callers hand to every function of a kind, whether this one needs it or not.
PROTOCOLS = {
    "exc exc_info error owner protocol types tensor_contents": "Python's and PyTorch's own protocols",
    "inputs outputs args kwargs options context module state_dict prefix": "hooks, rules and proxies get all that there is",
    "flat_inputs inpt": "every transform gets the sample",
    "g group old batch_shape trainer t p q x y key params op out numbers a b c d": "tables call all of their functions alike",
}
# Parameters that ask for a way of doing it, not for another result.
HINTS = {
    "non_blocking": "copies are done when they return",
    "foreach fused capturable cudnn_enable cudnn_enabled num_splits kernel_options set_priority with_priority bucket_cap_mb gradient_as_bucket_view use_libuv": "there is one way here",
    "check_invariants": "they are always checked",
    "assume_unique sparse_grad masked_grad": "the same numbers, only faster or in other memory",
    "stable sorted sort": "the order always is",
    "backward_hooks": "hooks do not travel in files",
    "return_indices": "the name of the function says it",
    "device_ids output_device devices including_emulation device_type use_cuda": "there is no other device",
    "group_name group_desc pg_options device_id use_local_synchronization implicit": "PyTorch does not look at them here either",
}
# module: {function: why it need not read what it is given}
REASONS = {
    "facula.backends.cudnn": {"is_acceptable": "there is no cuDNN for any tensor", "flags.fp32_precision": "cuDNN's alone"},
    "facula.backends.mps": {"is_macos13_or_newer": "no version of it"},
    "facula.cuda": {"memory_allocated": "none on any device", "memory_stats": "none", "current_stream": "there is none on any"},
    "facula.data._fetch": {"MapFetcher.__init__": "beside the fetcher of streams, which asks"},
    "facula.data._collate": {"collate_tensor_fn": "collate functions get the table", "collate_float_fn": "so too", "collate_int_fn": "so too", "collate_str_fn": "so too"},
    "facula.dist._engines": {"SingleEngine.all_reduce": "of one process alone every reduction is the same", "SingleEngine.broadcast": "there is one source"},
    "facula.nn.attention._block_mask": {"noop_mask": "everything attends"},
    "facula.nn.parallel.data_parallel": {"DataParallel.__init__": "one device: nothing is split", "data_parallel": "so too"},
    "facula.optim.sgd": {"SGD.refuse": "sparse gradients are welcome"},
    "facula.optim.swa_utils": {"get_ema_avg_fn.ema_update": "the third argument of averaging functions"},
    "facula.hub": {"list": "arguments of what is fetched", "help": "so too", "load": "so too"},
    "facula.autograd.graph": {"save_on_cpu.__init__": "they are there already"},
    "facula.profiler": {"profile.key_averages": "overloads have one name"},
    "facula.autograd.profiler": {"profile.__init__.use_kineto": "there is one recorder", "profile.__init__.with_modules": "there are no scripted ones"},
    "facula.fx._symbolic_trace": {"Tracer.is_leaf_module": "PyTorch's default looks at the class alone", "Tracer.getattr": "for subclasses"},
    "facula.fx.graph_module": {"reduce_graph_module.Whole.is_leaf_module": "every module"},
    "facula.fx.interpreter": {"Interpreter.output": "for subclasses"},
    "facula.fx.node": {"Node.is_impure": "of overloads that are random; names here are functions"},
    "facula.utils.tensorboard": {"SummaryWriter.add_graph": "traces are strict"},
    "facula.tensor_core.memory.interop": {"cuda": "always refused"},
    "facula.tensor_core.functions.settings": {"is_pinned": "nothing is", "is_distributed": "nothing is"},
    "facula.tensor_core.sparse.tensor": {"Sparse.is_contiguous": "in no format", "Sparse.new": "the CPU", "Sparse.resize_as_": "no format"},
    "facula.tensor_core.files.serialization": {"save.write": "the old format has no root"},
    "facula.autograd._names": {"by_number.name": "tables call all of their functions alike", "matmul": "so too"},
    "facula.autograd._text": {"casts": "so too", "backward_text": "so too"},
    "facula.vision.models.video": {"Conv3DSimple.__init__": "networks call all makers of convolutions alike", "Conv3DNoTemporal.__init__": "so too"},
    "facula.vision.transforms.v2._boxes": dict.fromkeys(
        ("resize", "resized_crop", "pad", "affine", "rotate", "perspective", "elastic"), "how pixels are made; kernels are called alike"
    ),
    "facula.vision.transforms.v2._kernels": dict.fromkeys(
        ("resize_mask", "resized_crop_mask", "rotate_mask", "affine_mask", "perspective_mask", "elastic_mask"), "masks are sampled in one way"
    ),
    "facula.vision.transforms.v2.functional": {"to_dtype": "masks and boxes have no range"},
    "facula.vision.tv_tensors": {"TVTensor.wrap": "classes that know more read it"},
    "facula.autograd._views": {"Part.laid_out": "beside a view's, which asks"},
}  # fmt: skip
ALLOWED = {name for names in (*PROTOCOLS, *HINTS) for name in names.split()}
SHIM = "facula.torch"  # takes what scripts say to compilers and devices that are not there


def reads(function):
    """The names that a function's body reads, in it and in the functions inside."""
    found = set()
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found


def is_refusal(function):
    """A body of a docstring, `...`, or a raise: what it was given does not matter."""
    return all(isinstance(s, (ast.Raise, ast.Pass)) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in function.body)


def unread(node, scope=()):
    """(dotted name, parameter) of the public functions' parameters that nothing reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from unread(child, (*scope, child.name))
        elif isinstance(child, ast.FunctionDef) and (not child.name.startswith("_") or child.name in ("__init__", "__call__")):
            a, known = child.args, reads(child)
            parameters = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p is not None]
            if not is_refusal(child) and "locals" not in known:
                yield from ((".".join((*scope, child.name)), p) for p in parameters if p not in known and p not in ("self", "cls") and not p.startswith("_"))
            yield from unread(child, (*scope, child.name))


@pytest.mark.parametrize("part", PARTS)
def test_public_functions_read_their_arguments(part):
    from tree import modules

    ignored = []
    for path, module in modules(part):
        if module.startswith(SHIM) or path.name.startswith(("_ops", "_errors")):
            continue
        reasons = REASONS.get(module, {})
        for function, parameter in unread(ast.parse(path.read_text())):
            if parameter not in ALLOWED and function not in reasons and f"{function}.{parameter}" not in reasons:
                ignored.append(f"{path.relative_to(ROOT)}: {function}({parameter})")

    assert [] == ignored
