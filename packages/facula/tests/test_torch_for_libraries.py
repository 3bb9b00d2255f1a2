"""What libraries written for PyTorch look up, beside its documented interface."""

import importlib
import importlib.metadata
import json
import multiprocessing
import pickle
import warnings

import facula
import facula.torch
import numpy
import pytest
from facula.torch import _names


def test_the_metadata_tells_the_version(served):
    assert served.__version__ == importlib.metadata.version("torch")
    assert importlib.metadata.version("torchvision").endswith("+facula")


HOMES = {
    "torch": "Tensor Size dtype device layout memory_format iinfo finfo FloatStorage FloatTensor", "torch.storage": "UntypedStorage TypedStorage", "torch._C": "Generator",
}  # fmt: skip


def test_tensors_and_what_belongs_to_them_say_that_they_are_torch_s():
    homes = {name: getattr(facula, name).__module__ for names in HOMES.values() for name in names.split()}
    with facula.torch.enabled(shadow=True) as torch:
        for home, names in HOMES.items():
            assert dict.fromkeys(names.split(), home) == {name: getattr(torch, name).__module__ for name in names.split()}
            for name in names.split():
                assert getattr(torch, name) is getattr(importlib.import_module(home), name)

    assert homes == {name: getattr(facula, name).__module__ for name in homes} and "torch" not in homes.values()


def test_tensors_have_no_array_interface_as_pytorchs_have_none():
    x = facula.ones(2)
    with facula.torch.enabled(shadow=True):
        assert not hasattr(x, "__array_interface__")
        assert numpy.shares_memory(numpy.asarray(x), x.numpy())

    assert hasattr(x, "__array_interface__")


def test_functions_that_are_made_when_asked_for_are_imported_with_the_others(served):
    for name in ("detach", "detach_", "fill_", "zero_", "index_put_", "as_strided_", "addmv_", "arctan2_", "resize_as_"):
        assert name in dir(served) and name in served.__all__

    names = {}
    exec("from torch import *", names)
    assert [0.0, 0.0] == names["zero_"](served.ones(2)).tolist()


def test_a_namespace_holds_its_classes_at_once(served):
    assert served.distributions.__dict__["Normal"] is facula.distributions.Normal


NAMES = """
torch.distributions.utils._standard_normal torch.distributions.transforms._InverseTransform torch.serialization.MAP_LOCATION
torch.nn.modules.module._IncompatibleKeys torch.nn.parallel.scatter_gather.scatter torch.nn.utils.stateless._reparametrize_module
torch.optim.optimizer.ParamsT torch.optim.optimizer._use_grad_for_differentiable torch.utils.data.dataloader._BaseDataLoaderIter
torch.distributed.tensor.DTensor torch.cuda.comm.broadcast torch.distributed.fsdp.FullyShardedDataParallel torch.distributed.optim.ZeroRedundancyOptimizer
torch.distributed.algorithms.join.Join torch.distributed.constants.default_pg_timeout torch.fx.GraphModule torch.storage.TypedStorage
torch._C._TensorMeta torch.Future torch.ScriptModule torch.utils.flop_counter.FlopCounterMode torchvision.io.read_image
torch.utils._pytree._dict_flatten_with_keys torch.nn.attention.flex_attention.BlockMask
torch.fx.passes.shape_prop.ShapeProp torch.fx.subgraph_rewriter.replace_pattern torch.quasirandom.SobolEngine torch.jit._overload torch.export.ExportedProgram
torch.utils.data._utils.collate.np_str_obj_array_pattern torch.serialization.DEFAULT_PROTOCOL torchvision.models.densenet.DenseNet
torchvision.models.vgg.make_layers torch.ops.aten torch.ao.quantization.ObserverBase
torch._utils._flatten_dense_tensors torch._utils.ExceptionWrapper torch.nn._reduction.get_enum torch.cpu.amp.autocast torch.utils.collect_env.main
torch.utils._contextlib._DecoratorContextManager torch.utils.weak.WeakTensorKeyDictionary torch.torch_version.TorchVersion
torch._C._functorch.is_batchedtensor torch._functorch.vmap._maybe_remove_batch_dim torch._jit_internal._copy_to_script_wrapper
torch.distributed.nn.functional.all_gather torch.distributed.distributed_c10d._get_default_group torch._VF.lstm torch._C._VariableFunctions.relu
torch.utils.data.dataloader._DatasetKind torch.utils.data._utils.worker._generate_state torch.nn.utils._named_member_accessor.swap_tensor
torch.multiprocessing.spawn.ProcessRaisedException torch.nn.utils.weight_norm.WeightNorm torch.nn.utils.spectral_norm.SpectralNorm
torch.utils._python_dispatch.is_traceable_wrapper_subclass torch._dynamo.config.suppress_errors torch.jit.Error torch.jit.trace_module
torch.nn.functional._canonical_mask torch.nn.functional._in_projection_packed torch.nn.functional._mha_shape_check torch.nn.functional._get_softmax_dim
torch.nn.modules.transformer._get_clones torch.nn.modules.transformer._detect_is_causal_mask torch.nn.modules.rnn.apply_permutation torch.nn.functional.grad
torch.nn.modules.utils._list_with_default torch.nn.parallel.scatter_gather.is_namedtuple torch.nn.parallel.data_parallel.DataParallel
torch.nn.parallel.replicate.replicate torch.nn.init._no_grad_fill_ torch.optim.lr_scheduler._enable_get_lr_call torch.utils.module_tracker.ModuleTracker
torch.serialization.SourceChangeWarning torch.utils.hooks.unserializable_hook torch.nn.modules.container._addindent torch.backends.nnpack.flags
torch.StorageBase torch._C.StorageBase torch.cuda._initialized torch._guards.active_fake_mode torch.utils.data.dataloader._collate_fn_t torch.DeviceObjType
torch.distributed._composable.fsdp.FSDPModule torch.distributed._tensor.DTensor torch.quantization.ObserverBase torch.jit._get_trace_graph torch.cuda.nvtx.range_push
torch.functional.F torch.legacy_contiguous_format torch._C.Value torch._C._has_xpu torch.cuda._lazy_call torch.utils.tensorboard.writer.SummaryWriter torch.nn.parameter._ParameterMeta torch._subclasses.fake_tensor.unset_fake_temporarily torch.hub._get_torch_home torch.hub.tqdm torch.distributions.kl._KL_REGISTRY torch.jit.fork
torch.utils.data._utils.pin_memory.pin_memory torch._vmap_internals._vmap torch.optim.lbfgs._cubic_interpolate torch.cuda.amp.grad_scaler.GradScaler torch.amp.grad_scaler.OptState torch.nn.utils._per_sample_grad.call_for_per_sample_grads torch.utils.cpp_extension.load
torch.autograd.functional._construct_standard_basis_for torch.symeig torch.TensorType torch.onnx.symbolic_helper torch.cuda.amp.common.amp_definitely_not_available torch._C._mps_is_available torch.sym_max torch.amp.autocast_mode._cast
torch.utils._pytree._namedtuple_flatten torch.serialization.get_unsafe_globals_in_checkpoint torch._check_tensor_all torch.cuda.random.get_rng_state_all
functorch.make_functional torchvision.models.inception.Inception3 torchvision.models.googlenet.GoogLeNet
torchvision.transforms.transforms.Compose torchvision.models.alexnet.AlexNet torchvision.models.mobilenet.MobileNetV2
torchvision.ops.stochastic_depth.StochasticDepth torchvision.ops.roi_align.RoIAlign torchvision.ops.roi_pool.RoIPool
torchvision.ops.focal_loss.sigmoid_focal_loss torchvision.ops.giou_loss.generalized_box_iou_loss torchvision.datasets.fakedata.FakeData
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_there(served, name):
    module, _, last = name.rpartition(".")

    assert getattr(importlib.import_module(module), last) is not None


@pytest.mark.parametrize("table", [_names.OVERRIDES, _names.FALLBACKS], ids=["overrides", "fallbacks"])
def test_every_name_that_is_served_from_elsewhere_leads_somewhere(served, table):
    for dotted, place in table.items():
        if isinstance(place, str):
            home, _, name = place.partition(":")

            assert not name or hasattr(importlib.import_module(home), name), f"{dotted}: {place}"


def test_nothing_is_what_several_processes_would_make(served):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel as again

    assert FullyShardedDataParallel is again
    assert not isinstance(served.nn.Linear(1, 1), FullyShardedDataParallel)
    with pytest.raises(RuntimeError, match="FullyShardedDataParallel"):
        FullyShardedDataParallel(served.nn.Linear(1, 1))


@pytest.mark.parametrize(
    "name, instead",
    [
        ("torch.distributed.optim.ZeroRedundancyOptimizer", "one process"),
        ("torch.quantization.FakeQuantizeBase", "floating point"),
        ("torch.cuda.CUDAGraph", "on the CPU"),
        ("torch.utils.cpp_extension.load_inline", "Python code"),
        ("torch.jit._get_trace_graph", r"torch\.jit\.trace"),
        ("torch.export.export", r"torch\.jit\.trace"),
        ("torch.onnx.ONNXProgram", r"torch\.save"),
        ("torch.TensorType", "without it"),
    ],
)
def test_what_is_not_here_says_what_to_do_instead(served, name, instead):
    module, _, last = name.rpartition(".")

    with pytest.raises(RuntimeError, match=f"(?s){last}.*{instead}"):
        getattr(importlib.import_module(module), last)()


def test_an_operator_for_triton_is_its_function(served):
    @served.library.triton_op("facula_tests::twice", mutates_args=())
    def twice(x: served.Tensor) -> served.Tensor:
        return served.library.wrap_triton(served.mul)(x, 2)

    assert [2.0] == twice(served.ones(1)).tolist() == served.ops.facula_tests.twice(served.ones(1)).tolist()


def test_an_error_is_recorded_for_the_launcher(served, tmp_path, monkeypatch):
    from torch.distributed.elastic.multiprocessing.errors import record

    @record
    def program(end):
        if isinstance(end, BaseException):
            raise end
        return end

    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "error.json"))
    assert (3, None) == (program(3), program(SystemExit(0)))
    with pytest.raises(SystemExit):
        program(SystemExit(2))
    assert not (tmp_path / "error.json").exists()
    with pytest.raises(ValueError, match="boom"):
        program(ValueError("boom"))
    told = json.loads((tmp_path / "error.json").read_text())["message"]

    assert "ValueError: boom" == told["message"] and "boom" in told["extraInfo"]["py_callstack"] and told["extraInfo"]["timestamp"].isdigit()


def test_no_other_process_is_called(served):
    assert served.distributed.rpc.is_available() is False


class OwnLoader:
    """What a library gives to the loader's iterators: batches made by itself, of no dataset."""

    _IterableDataset_len_called, _auto_collation, drop_last, in_order = None, False, False, True
    _index_sampler, generator, prefetch_factor, worker_init_fn = range(3), None, 2, None
    timeout, persistent_workers, pin_memory, pin_memory_device = 0, False, False, ""
    _dataset_kind = 1

    def __init__(self, num_workers):
        self.dataset, self.num_workers = self, num_workers
        self.multiprocessing_context = multiprocessing if num_workers else None

    def collate_fn(self, batch):
        return batch

    def _get_shared_seed(self):
        return None

    def __iter__(self):
        return iter([1, 2, 3])


def test_a_library_s_own_loader_is_iterated(served):
    from torch.utils.data.dataloader import _DatasetKind, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter

    assert OwnLoader._dataset_kind == _DatasetKind.Iterable
    assert served.utils.data.DataLoader([1])._dataset_kind == _DatasetKind.Map
    assert [1, 2, 3] == list(_SingleProcessDataLoaderIter(OwnLoader(0))) == list(_MultiProcessingDataLoaderIter(OwnLoader(1)))


def test_a_library_that_compiles_beside_itself_finds_no_compiler(served):
    from torch.utils.cpp_extension import CUDA_HOME, load

    assert CUDA_HOME is None
    with pytest.raises(RuntimeError, match="cpp_extension.load"):
        load(name="one", sources=["one.cpp"])


def test_a_future_is_set_once_and_tells_those_who_wait(served):
    future = served.futures.Future()
    doubled = future.then(lambda f: 2 * f.value())
    future.set_result(21)

    assert (42, True) == (doubled.wait(), future.done())
    assert [21, 42] == served.futures.wait_all([future, doubled])
    for once in (future.set_result, lambda _: future.set_exception(KeyError())):
        with pytest.raises(RuntimeError, match="once"):
            once(1)


def test_what_a_callback_of_a_future_raises_is_told_to_those_who_wait(served):
    future = served.futures.Future()
    failed = future.then(lambda f: 1 / f.value())
    rescued = failed.then(lambda f: 5)
    everything = served.futures.collect_all([future, failed])
    future.set_result(0)

    assert 5 == rescued.wait()
    for waiting in (failed.wait, everything.wait, lambda: served.futures.wait_all([failed])):
        with pytest.raises(RuntimeError, match="ZeroDivisionError: division by zero"):
            waiting()
    with pytest.raises(RuntimeError, match="pickle"):
        pickle.dumps(future)
    with pytest.raises(ValueError, match="indices"):
        served.futures.Future(devices=["cpu"])
    with pytest.raises(RuntimeError, match="None"):
        served.jit.wait(None)


def test_a_program_s_own_operator_runs_and_differentiates(served):
    @served.library.custom_op("facula_test::cube", mutates_args=())
    def cube(x):
        return x**3

    cube.register_autograd(lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    x = served.tensor([2.0], requires_grad=True)
    y = served.ops.facula_test.cube(x)
    y.backward()

    assert ([8.0], [12.0]) == (y.tolist(), x.grad.tolist())


def test_a_program_s_own_operator_says_what_it_does_inside_vmap(served):
    seen = []

    @served.library.custom_op("facula_test::sorted", mutates_args=())
    def sorted_(x):
        seen.append(tuple(x.shape))
        return served.from_numpy(x.detach().numpy() * 2)

    @served.library.register_vmap(sorted_)
    def batched(info, in_dims, x):
        return sorted_(x), in_dims[0]

    x = served.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)

    assert [[2.0, 6.0], [4.0, 8.0]] == served.vmap(sorted_, 1)(x.detach()).tolist()
    assert [(2, 2)] == seen
    with pytest.raises(RuntimeError, match="register_autograd"):
        sorted_(x).sum().backward()


def test_an_operator_is_defined_first_and_implemented_then(served):
    served.library.define("facula_test::twice", "(Tensor x, float by) -> Tensor")
    with pytest.raises(NotImplementedError):
        served.ops.facula_test.twice(served.ones(1), 2.0)

    @served.library.impl("facula_test::twice", "cuda")
    def elsewhere(x, by):
        return x * 0

    @served.library.impl("facula_test::twice", "cpu")
    def here(x, by):
        return x * by

    served.library.impl("facula_test::twice", "default", elsewhere)

    assert [2.0] == served.ops.facula_test.twice(served.ones(1), 2.0).tolist() == served.ops.facula_test.twice.default(served.ones(1), by=2.0).tolist()
    with pytest.raises(ValueError, match="schema"):
        served.library.define("facula_test::none", "twice")


def test_an_operator_s_function_may_come_before_its_definition(served):
    served.library.impl("facula_early::one", ["CPU", "CUDA"], lambda x: x * 2)
    served.library.define("facula_early::one", "(Tensor x) -> Tensor")
    served.library.impl("facula_early::one", "default", lambda x: x * 5)
    served.library.impl("facula_early::two", "cpu", lambda x: x * 3)
    served.library.impl("facula_early::two", "default", lambda x: x * 5)
    served.library.Library("facula_early", "IMPL").impl("three", lambda x: x * 4, "CPU")
    definitions = served.library.Library("facula_early", "FRAGMENT")
    definitions.define("two(Tensor x) -> Tensor")
    definitions.define("three(Tensor x) -> Tensor")
    x = served.ones(1)

    assert [2.0, 3.0, 4.0] == [getattr(served.ops.facula_early, name)(x).item() for name in ("one", "two", "three")]
    with pytest.raises(AttributeError, match="four"):
        served.library.impl("facula_early::four", "cpu", lambda x: x)
        served.ops.facula_early.four(x)
    with pytest.raises(ValueError, match="::"):
        served.library.impl("facula_early", "cpu", lambda x: x)


def test_operators_have_names_and_overloads(served):
    x = served.ones(2)

    assert [2.0, 2.0] == served.ops.aten.add(x, x).tolist() == served.ops.aten.add.Tensor(x, x).tolist()
    assert not hasattr(served.ops.somebody, "anything")


def test_a_profile_follows_its_schedule(served):
    from torch.profiler import ProfilerActivity, profile, schedule

    ready = []
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=lambda p: ready.append(p.step_num)) as p:
        for _ in range(6):
            served.ones(3).sin()
            p.step()

    assert [4] == ready
    assert any("sin" in row.key for row in p.key_averages())


def test_the_old_constructors_make_sparse_tensors(served):
    s = served.sparse.FloatTensor(served.tensor([[0, 1], [1, 0]]), served.tensor([2.0, 3.0]), (2, 2))

    assert [[0.0, 2.0], [3.0, 0.0]] == s.to_dense().tolist()


def test_an_image_goes_to_a_file_and_back(served, tmp_path):
    pytest.importorskip("PIL")
    from torchvision.io import read_image, write_png

    image = served.arange(3 * 4 * 5, dtype=served.uint8).reshape(3, 4, 5)
    write_png(image, str(tmp_path / "a.png"))

    assert served.equal(image, read_image(str(tmp_path / "a.png")))


@pytest.mark.parametrize("data", [b"", b"no image", b"BM" + bytes(range(60)), b"\x89PNG\r\n\x1a\n" + bytes(30)], ids=["empty", "text", "bitmap", "png"])
def test_bytes_that_are_no_image_are_refused_by_one_error(served, data):
    pytest.importorskip("PIL")
    from torchvision.io import decode_image

    with pytest.raises(RuntimeError, match="image"):
        decode_image(served.tensor(list(data), dtype=served.uint8))


def test_modules_at_work_are_known_by_name(served):
    from torch.utils.module_tracker import ModuleTracker

    seen, done = [], []

    class Inner(served.nn.Module):
        def forward(self, x):
            x = x.sin()
            seen.append((set(tracker.parents), tracker.is_bw))
            x.register_hook(lambda g: seen.append((set(tracker.parents), tracker.is_bw)))
            x.register_hook(lambda g: served.autograd.Variable._execution_engine.queue_callback(lambda: done.append(leaf.grad is not None)))
            return x.cos()

    leaf = served.ones(2, requires_grad=True)
    net = served.nn.Sequential(Inner())
    with ModuleTracker() as tracker:
        net(leaf.clone()).sum().backward()

    names = {"Global", "Sequential", "Sequential.0"}
    assert [(names, False), (names, True)] == seen
    assert ({"Global"}, False, [True]) == (tracker.parents, tracker.is_bw, done)
    with pytest.raises(RuntimeError, match="during backward"):
        served.autograd.Variable._execution_engine.queue_callback(lambda: None)


def test_products_are_counted(served):
    from torch.utils.flop_counter import FlopCounterMode

    net = served.nn.Sequential(served.nn.Conv2d(3, 8, 3, padding=1), served.nn.Flatten(), served.nn.Linear(8 * 36, 10))
    with FlopCounterMode(display=False) as counter:
        net(served.randn(2, 3, 6, 6))
        served.nn.functional.conv_transpose2d(served.randn(1, 4, 5, 5), served.randn(4, 2, 3, 3))

    assert 2 * (2 * 8 * 36) * 27 + 2 * 20 * 288 + 2 * 100 * 18 == counter.get_total_flops()

    def product(x, y, *rest, out_shape=None, **options):
        return 1000 * len(out_shape) + 100 * len(y) + x[0]

    with FlopCounterMode(display=False, custom_mapping={served.ops.aten.mul: product}) as counter:
        served.ones(2, 3) * served.ones(3)

    assert 2102 == counter.get_total_flops()


def test_a_running_combination(served):
    from torch._higher_order_ops.associative_scan import associative_scan

    x = served.arange(1.0, 5.0)

    assert [1.0, 2.0, 6.0, 24.0] == associative_scan(lambda a, b: a * b, x, 0).tolist()
    assert [10.0, 9.0, 7.0, 4.0] == associative_scan(lambda a, b: a + b, x, 0, reverse=True).tolist()


def test_indices_of_sparse_rows_go_both_ways(served):
    rows = served.tensor([0, 0, 2, 2, 2, 4])
    pointers = served._convert_indices_from_coo_to_csr(rows, 5)
    columns = served.arange(6)

    assert [0, 2, 2, 5, 5, 6] == pointers.tolist()
    assert served.equal(served.stack([rows, columns]), served._convert_indices_from_csr_to_coo(pointers, columns))
    assert served.equal(served.stack([columns, rows]).int(), served._convert_indices_from_csr_to_coo(pointers, columns, transpose=True, out_int32=True))


def test_parts_of_a_tensor_s_text(served):
    from torch._tensor_str import PRINT_OPTS, _add_suffixes, _tensor_str

    assert "[1., 2.]" == _tensor_str(served.tensor([1.0, 2.0]), indent=7)
    assert "Rows([1.], n=3)" == _add_suffixes("Rows([1.]", ["n=3"], 5, force_newline=False)
    assert 4 == PRINT_OPTS.precision


def test_a_file_does_not_hide_the_function_of_its_name(served):
    from torch.nn.utils.weight_norm import WeightNorm

    assert callable(served.nn.utils.weight_norm) and isinstance(WeightNorm, type)

    from torch.autograd.gradcheck import GradcheckError, gradcheck

    assert gradcheck is served.autograd.gradcheck and issubclass(GradcheckError, RuntimeError)


OLDER, NEWER = "1.0 2.2 2.9.1 2.13.0 2.13.0.dev1 2.13.0rc2".split(), "2.13.0.post1 2.14 3".split()


def test_the_version_compares_as_a_version(served):
    version = served.__version__

    assert all(version > other and not version < other and version != other for other in OLDER)
    assert all(version < other and not version >= other for other in NEWER)
    assert version >= (2, 9) and version < (3,) and version == str(version) and version < "parrot"
    with pytest.raises(TypeError):
        version > 2


UTILS = """
(lambda ts: (u._flatten_dense_tensors(ts), u._unflatten_dense_tensors(u._flatten_dense_tensors(ts), ts)))([torch.ones(2, 3), torch.zeros(4)])
[[t.tolist() for t in g] for g in u._take_tensors([torch.ones(2), torch.ones(3), torch.ones(1, dtype=torch.float64), torch.ones(1)], 16)]
[t.dtype for t in u._reorder_tensors_as([torch.ones(1), torch.ones(2, dtype=torch.float64)], [torch.ones(1, dtype=torch.float64), torch.ones(1)])]
[r.get_enum(w) for w in ("none", "mean", "sum")], [r.legacy_get_string(a, b, False) for a in (None, True, False) for b in (None, True, False)]
error(lambda: r.get_enum("all"))
[u._get_device_index(3), u._get_device_index("cuda:1"), u._get_device_index(torch.device("cpu"), allow_cpu=True), u._get_device_index(None, optional=True)]
error(lambda: u._get_device_index("cpu"))
error(lambda: u._get_device_index(None))
u._import_dotted_name("collections.OrderedDict") is __import__("collections").OrderedDict
(lambda P: torch.allclose(mvn._precision_to_scale_tril(P) @ mvn._precision_to_scale_tril(P).mT, torch.inverse(P)))(torch.tensor([[2., .5], [.5, 1.]]))
mvn._batch_mahalanobis(torch.tensor([[2., 0.], [1., 1.]]), torch.tensor([[1., 2.], [3., 4.]])), mvn._batch_mv(torch.ones(2, 3), torch.ones(3))
worker._generate_state(12345678901, 3)
(lambda d, a: (d.__setitem__(a, 1), len(d), a in d, torch.ones(2) in d, [k is a for k in d], d.pop(a), len(d)))(weak.WeakTensorKeyDictionary(), torch.ones(2))
(lambda m, w: (acc.swap_tensor(m, "weight", w) is not w, m.weight is w, error(lambda: acc.swap_tensor(m, "x", w)), error(lambda: acc.swap_tensor(m, "a.b", w))))(torch.nn.Linear(1, 1), torch.ones(1, 1))
functorch.make_functional(torch.nn.Linear(2, 1, bias=False))[0]((torch.ones(1, 2),), torch.ones(3, 2))
error(lambda: functorch.make_functional(torch.nn.BatchNorm1d(2)))
[v(torch.ones(3, 2)) for v in (fexp.chunk_vmap(torch.sin), fexp.chunk_vmap(torch.sin, 1, 1, chunks=3))]
[warned(lambda: f(torch.sin)) for f in (functorch.grad, functorch.vmap, torch.vmap, torch.func.grad)]
[warned(lambda: f(enabled=False)) for f in (torch.cuda.amp.GradScaler, torch.cuda.amp.autocast, torch.cpu.amp.GradScaler, torch.cpu.amp.autocast)]
torch.vmap(lambda x: torch.full((), float(ft.is_batchedtensor(x))) + x)(torch.zeros(2)), ft.is_batchedtensor(torch.ones(1))
[torch._cast_Long(torch.tensor([1.5])).dtype, torch._cast_Half(torch.ones(1), non_blocking=True).dtype]
[torch._C._is_tracing(), torch._C._get_default_device(), torch._C._get_accelerator(), (lambda x: torch._C._is_alias_of(x, x[1:]))(torch.ones(2))]
transforms._clipped_sigmoid(torch.tensor([-200.0, 0.0, 200.0]))
[torch.get_device_module(d).__name__ for d in (None, "cpu", "cuda:0", torch.device("cpu"))], error(lambda: torch.get_device_module("meta")), error(lambda: torch.get_device_module(3))
error(lambda: torch.cuda.nvtx.range("a").__enter__()), callable(torch.cuda.nvtx.range("a")(len)), error(lambda: torch.cuda.nvtx.range_push("a"))
(lambda s: [s.__enter__() is None, s.__exit__(None, None, None)])(torch.cuda.stream(None))
isinstance(torch.ones(2).untyped_storage(), torch.StorageBase), isinstance(torch.ones(2), torch.StorageBase)
torch.vmap(lambda d: d[0] + d[1])(__import__("collections").deque([torch.ones(2), torch.ones(2)]))
af._construct_standard_basis_for((torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(1)), (1, 2, 1))
af._as_tuple(3), af._as_tuple([3]), af._as_tuple((torch.ones(1),), "v", "f"), af._as_tuple(torch.ones(1), "v", "f")
error(lambda: af._as_tuple((torch.ones(1), 3), "v", "f"))
af._tuple_postprocess(((1,), (2,)), (True, False)), af._tuple_postprocess(((1,),), (False, False)), af._tuple_postprocess((1,), False)
[t.requires_grad for made in (True, False) for t in af._grad_postprocess((torch.ones(1, requires_grad=True) * 2,), made)]
old._vmap(lambda a: (a * 2, None), allow_none_pass_through=True)(torch.arange(3.0))
old._vmap(lambda a, b: (None, a * b, a + b), (0, None), (0, 1, 0), allow_none_pass_through=True)(torch.arange(6.0).view(3, 2), torch.ones(2))
old._vmap(lambda a: a * 2, 1, 1)(torch.arange(6.0).view(3, 2))
[lbfgs._cubic_interpolate(0.0, 1.0, torch.tensor(-2.0).double(), 1.0, 0.5, torch.tensor(1.0).double(), *bounds) for bounds in ((), ((0.1, 0.4),))]
[torch.sym_max(1, 2.0), torch.sym_min(1, 2.0), torch.sym_int(2.5), torch.sym_not(True), torch.sym_ite(True, 1, 2), torch.sym_sum([1, 2]), torch.sym_sum(1, 2)]
error(lambda: torch.sym_max("a", 1))
error(lambda: torch.sym_ite(True, 1, 2.0))
(lambda f, x, d: lbfgs._strong_wolfe(lambda x, t, d: ((l := f(z := (x + t * d).requires_grad_())), *torch.autograd.grad(l, z)), x, 1.0, d, f(x), -d, d.dot(-d), c2=0.5))(lambda x: (x**4).sum(), torch.tensor([1.0, 2.0]), torch.tensor([-4.0, -32.0]))
torch.jit.wait(torch.jit.fork(lambda x, y=1: x + y, 2, y=5))
error(lambda: torch._check_tensor_all(torch.tensor([True, False]), lambda: "no"))
error(lambda: torch._check_tensor_all(torch.tensor([1.0, 0.0]), lambda: "no"))
""".strip().split("\n")


def _answer(text: str, torch):
    def error(f):
        try:
            return f()
        except Exception as problem:
            return next(k.__name__ for k in type(problem).__mro__ if k.__module__ == "builtins")

    def warned(f):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            f()
        return [w.category for w in given]

    def plain(x):
        if isinstance(x, torch.Tensor):
            return [tuple(x.shape), x.tolist()]
        return [plain(y) for y in x] if isinstance(x, (tuple, list)) else str(x)

    files = {
        "u": "torch._utils", "r": "torch.nn._reduction", "mvn": "torch.distributions.multivariate_normal", "worker": "torch.utils.data._utils.worker",
        "weak": "torch.utils.weak", "acc": "torch.nn.utils._named_member_accessor", "functorch": "functorch", "fexp": "functorch.experimental", "transforms": "torch.distributions.transforms", "ft": "torch._C._functorch",
        "af": "torch.autograd.functional", "old": "torch._vmap_internals", "lbfgs": "torch.optim.lbfgs",
    }  # fmt: skip
    names = {k: importlib.import_module(v) if k != "ft" else __import__("torch")._C._functorch for k, v in files.items()}
    return plain(eval(text, {**names, "torch": torch, "error": error, "warned": warned}))


@pytest.mark.parametrize("text", UTILS)
def test_internals_answer_as_pytorch_s(text):
    theirs = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected = _answer(text, theirs)
    with facula.torch.enabled(shadow=True) as torch:
        actual = _answer(text, torch)

    assert expected == actual


def test_a_policy_of_selective_checkpointing_names_operators(served):
    from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

    aten, asked = served.ops.aten, []

    def policy(context, op, *args):
        asked.append(op in [aten.mm.default, aten.sin])
        return CheckpointPolicy.MUST_SAVE if asked[-1] else CheckpointPolicy.PREFER_RECOMPUTE

    x = served.ones(2, 2, requires_grad=True)
    for chosen in (policy, [aten.mm.default, aten.sin.default]):
        y = checkpoint(lambda t: (t @ t).sin().exp(), x, use_reentrant=False, context_fn=lambda c=chosen: create_selective_checkpoint_contexts(c))
        y.sum().backward()

    assert [True, True, False] == asked[:3]
    with pytest.raises(ValueError, match="OpOverload"):
        create_selective_checkpoint_contexts([2])


def test_a_programs_own_operators_are_counted_by_their_formulas(served):
    from torch.utils.flop_counter import FlopCounterMode, register_flop_formula

    @served.library.custom_op("counted::product", mutates_args=())
    def product(x: served.Tensor, y: served.Tensor) -> served.Tensor:
        return x @ y

    product.register_autograd(lambda ctx, g: (g, g))
    register_flop_formula(served.ops.counted.product)(lambda x, y, out_shape=None: 100 * x[0] + out_shape[1])
    x, y = served.ones(3, 4, requires_grad=True), served.ones(4, 5)
    with FlopCounterMode(display=False) as counter:
        product(x, y)
        served.ops.counted.product(x, y)

    assert {"Global": {"product": 2 * 305}} == counter.get_flop_counts()
    with pytest.raises(RuntimeError, match="duplicate"):
        register_flop_formula(served.ops.counted.product)(lambda *shapes, out_shape=None: 0)
    with pytest.raises(ValueError, match="OpOverloadPacket"):
        register_flop_formula(product)(lambda *shapes, out_shape=None: 0)


def test_the_bases_of_pytorchs_own_classes_are_asked_and_not_made(served):
    base, memory = served._C.TensorBase, served._C.StorageBase

    assert isinstance(served.ones(1), base) and issubclass(served.Tensor, base) and not isinstance(1, base)
    assert isinstance(served.ones(1).untyped_storage(), memory) and base.add is served.Tensor.add
    for made in (base, memory, served._C._TensorBase, lambda: type("Mine", (base,), {})):
        with pytest.raises(RuntimeError, match="directly|cannot be constructed"):
            made()


def test_storage_is_of_the_default_dtype(served):
    assert "FloatStorage" == served.Storage.__name__
    served.set_default_dtype(served.float64)
    try:
        assert "DoubleStorage" == served.Storage.__name__ and served.float64 is served.Storage(2).dtype
    finally:
        served.set_default_dtype(served.float32)
