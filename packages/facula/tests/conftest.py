"""What several test files here share."""

import pytest


@pytest.fixture
def served():
    """`import torch` is Facula."""
    import facula.torch

    with facula.torch.enabled(shadow=True) as torch:
        yield torch


@pytest.fixture(scope="module")
def one_thread_of_pytorch():
    """Its threads wait for each other longer than small tensors take."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
