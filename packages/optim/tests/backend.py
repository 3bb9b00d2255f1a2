"""`torch`: Facula, or PyTorch itself with FACULA_TEST_BACKEND=torch, which proves that the tests expect the right thing."""

import importlib
import os

BACKEND = os.environ.get("FACULA_TEST_BACKEND", "facula")
torch = importlib.import_module(BACKEND)
