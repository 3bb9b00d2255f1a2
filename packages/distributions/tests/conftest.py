import pytest
from backend import BACKEND, torch


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


def pytest_report_header(config):
    return f"distributions tests on {BACKEND} {torch.__version__}"


def pytest_configure(config):
    config.addinivalue_line("markers", "facula_only: about Facula's own form; skipped when the backend is PyTorch")


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="concerns Facula's own form, not PyTorch's behaviour")
    for item in items:
        if BACKEND == "torch" and item.get_closest_marker("facula_only"):
            item.add_marker(skip)
