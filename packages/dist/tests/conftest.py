import pytest
from backend import BACKEND, dist, torch


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


@pytest.fixture
def world(tmp_path):
    """A group of this process alone."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/shared", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def pytest_report_header(config):
    return f"dist tests on {BACKEND} {torch.__version__}"


def pytest_configure(config):
    config.addinivalue_line("markers", "facula_only: about Facula's own form; skipped when the backend is PyTorch")


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="concerns Facula's own form, not PyTorch's behaviour")
    for item in items:
        if BACKEND == "torch" and item.get_closest_marker("facula_only"):
            item.add_marker(skip)
