"""The library under test: Facula, or PyTorch with FACULA_TEST_BACKEND=torch, which tells whether a test's expectation is right."""

import importlib
import os

BACKEND = os.environ.get("FACULA_TEST_BACKEND", "facula")
torch = importlib.import_module(BACKEND)
D = importlib.import_module(BACKEND + ".distributions")
