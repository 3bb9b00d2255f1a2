"""What libraries written for PyTorch look up, beside its documented interface."""

import importlib
import importlib.metadata

import facula
import facula.torch
import pytest


@pytest.fixture
def served():
    with facula.torch.enabled(shadow=True) as torch:
        yield torch


def test_the_metadata_tells_the_version(served):
    assert served.__version__ == importlib.metadata.version("torch")
    assert importlib.metadata.version("torchvision").endswith("+facula")


def test_tensors_say_that_they_are_torch_s():
    home = facula.Tensor.__module__
    with facula.torch.enabled(shadow=True) as torch:
        assert {"torch"} == {kind.__module__ for kind in (torch.Tensor, torch.Size, torch.dtype, torch.device)}

    assert home == facula.Tensor.__module__ != "torch"


def test_a_namespace_holds_its_classes_at_once(served):
    assert served.distributions.__dict__["Normal"] is facula.distributions.Normal


NAMES = """
torch.distributions.utils._standard_normal torch.distributions.transforms._InverseTransform torch.serialization.MAP_LOCATION
torch.nn.modules.module._IncompatibleKeys torch.nn.parallel.scatter_gather.scatter torch.nn.utils.stateless._reparametrize_module
torch.optim.optimizer.ParamsT torch.optim.optimizer._use_grad_for_differentiable torch.utils.data.dataloader._BaseDataLoaderIter
torch.distributed.tensor.DTensor torch.distributed.fsdp.FullyShardedDataParallel torch.distributed.optim.ZeroRedundancyOptimizer
torch.distributed.algorithms.join.Join torch.distributed.constants.default_pg_timeout torch.fx.GraphModule torch.storage.TypedStorage
torch._C._TensorMeta torch.Future torch.ScriptModule torch.utils.flop_counter.FlopCounterMode torchvision.io.read_image
torch.utils._pytree._dict_flatten_with_keys torch.nn.attention.flex_attention.BlockMask
torch.fx.passes.shape_prop.ShapeProp torch.fx.subgraph_rewriter.replace_pattern torch.quasirandom.SobolEngine torch.jit._overload
torch.utils.data._utils.collate.np_str_obj_array_pattern torch.serialization.DEFAULT_PROTOCOL torchvision.models.densenet.DenseNet
torchvision.models.vgg.make_layers torch.ops.aten torch.ao.quantization.ObserverBase
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_there(served, name):
    module, _, last = name.rpartition(".")

    assert getattr(importlib.import_module(module), last) is not None


def test_nothing_is_what_several_processes_would_make(served):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel as again

    assert FullyShardedDataParallel is again
    assert not isinstance(served.nn.Linear(1, 1), FullyShardedDataParallel)
    with pytest.raises(RuntimeError, match="FullyShardedDataParallel"):
        FullyShardedDataParallel(served.nn.Linear(1, 1))


def test_a_future_is_set_once_and_tells_those_who_wait(served):
    future = served.futures.Future()
    doubled = future.then(lambda f: 2 * f.value())
    future.set_result(21)

    assert (42, True) == (doubled.wait(), future.done())
    assert [21, 42] == served.futures.wait_all([future, doubled])
    with pytest.raises(RuntimeError):
        future.set_result(1)


def test_a_program_s_own_operator_runs_and_differentiates(served):
    @served.library.custom_op("facula_test::cube", mutates_args=())
    def cube(x):
        return x**3

    cube.register_autograd(lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    x = served.tensor([2.0], requires_grad=True)
    y = served.ops.facula_test.cube(x)
    y.backward()

    assert ([8.0], [12.0]) == (y.tolist(), x.grad.tolist())


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


def test_products_are_counted(served):
    from torch.utils.flop_counter import FlopCounterMode

    net = served.nn.Sequential(served.nn.Conv2d(3, 8, 3, padding=1), served.nn.Flatten(), served.nn.Linear(8 * 36, 10))
    with FlopCounterMode(display=False) as counter:
        net(served.randn(2, 3, 6, 6))
        served.nn.functional.conv_transpose2d(served.randn(1, 4, 5, 5), served.randn(4, 2, 3, 3))

    assert 2 * (2 * 8 * 36) * 27 + 2 * 20 * 288 + 2 * 100 * 18 == counter.get_total_flops()


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
