import pytest
from backend import BACKEND, torch


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)
    assert torch.is_grad_enabled()
    yield
    assert torch.is_grad_enabled()


def pytest_report_header(config):
    return f"autograd tests on {BACKEND} {torch.__version__}"


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="concerns Facula's own form, not PyTorch's behaviour")
    if BACKEND == "torch":
        for item in items:
            if item.get_closest_marker("facula_only"):
                item.add_marker(skip)


def pytest_configure(config):
    config.addinivalue_line("markers", "facula_only: about Facula's own form; skipped when the backend is PyTorch")
