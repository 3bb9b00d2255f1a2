"""Settings that programs make, and what is said of devices that are not there."""

import facula
import pytest


@pytest.mark.parametrize("name", ["is_cuda", "is_xla", "is_ipu", "is_mtia", "is_maia", "is_vulkan", "is_sparse_csr", "is_quantized", "is_mkldnn"])
def test_a_tensor_is_of_no_kind_that_is_not_there(name):
    assert getattr(facula.ones(1), name) is False


@pytest.mark.parametrize("name, error", [("xpu", AssertionError), ("mtia", AssertionError), ("cuda", AssertionError), ("ipu", RuntimeError)])
def test_moving_to_a_device_that_is_not_there_is_refused(name, error):
    with pytest.raises(error) as caught:
        getattr(facula.ones(1), name)()

    assert name in str(caught.value).lower()


def test_the_build_says_what_it_has():
    assert (True, False, False, True) == (facula.has_lapack, facula.has_mkl, facula.has_openmp, facula.has_spectral)
    assert facula.init_num_threads() is None and facula.random.thread_safe_generator() is None


def test_memory_that_is_not_there_is_an_error_of_its_own():
    with pytest.raises(facula.OutOfMemoryError) as caught:
        facula.empty(1 << 50, dtype=facula.float64)

    assert isinstance(caught.value, RuntimeError)
    assert issubclass(facula.AcceleratorError, RuntimeError) and facula.cuda.OutOfMemoryError is facula.OutOfMemoryError


def test_module_load_copies_or_takes():
    x, y = facula.zeros(2), facula.ones(2)

    assert [1.0, 1.0] == x.module_load(y).tolist() == x.tolist()
    taken = facula.zeros(2).module_load(y, assign=True)
    assert taken is not y and taken.data_ptr() == y.data_ptr()
    with pytest.raises(TypeError):
        x.module_load([1.0, 1.0])


ANSWERS = {"is_available": False, "device_count": 0, "memory_allocated": 0, "memory_cached": 0, "max_memory_cached": 0, "host_memory_stats": {}, "get_gencode_flags": "", "is_tf32_supported": False, "memory_stats_as_nested_dict": {}}


@pytest.mark.parametrize("name", ANSWERS)
def test_cuda_answers_for_no_device(name):
    assert ANSWERS[name] == getattr(facula.cuda, name)()


@pytest.mark.parametrize("name", ["current_device", "memory_summary", "temperature", "get_sync_debug_mode", "set_per_process_memory_fraction", "list_gpu_processes"])
def test_cuda_refuses_what_needs_a_device(name):
    with pytest.raises(AssertionError):
        getattr(facula.cuda, name)()


def test_the_device_of_a_cpu_tensor_changes_nothing():
    with facula.cuda.device_of(facula.ones(1)) as block, facula.cuda.caching_allocator_disabled():
        assert -1 == block.idx


def test_assert_allclose_leaves_dtypes_out():
    with pytest.warns(FutureWarning):
        facula.testing.assert_allclose([1.0], facula.tensor([1.0], dtype=facula.float64))
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        facula.testing.assert_allclose([1.0], [1.1])
