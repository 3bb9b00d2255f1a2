"""torch.utils.collect_env: what a report of a fault should say of the machine and of what is installed on it."""

from __future__ import annotations

import importlib.metadata
import locale
import os
import platform
import sys
from typing import NamedTuple

import facula

from ._names import REFERENCE

PACKAGES = ("cffi", "facula", "facula-tensor-core", "mpi4py", "numpy", "onnx", "torchmetrics", "lightning", "transformers", "pillow")


class SystemEnv(NamedTuple):
    torch_version: str
    facula_version: str
    is_debug_build: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    threads: str
    cpu_info: str
    pip_packages: str


def run(command: str | list[str]) -> tuple[int, str, str]:
    """(status, output, errors) of a command."""
    import subprocess

    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True)
    encoding = locale.getpreferredencoding()
    return done.returncode, done.stdout.decode(encoding).strip(), done.stderr.decode(encoding).strip()


def get_os() -> str:
    """The system's name and machine."""
    return f"{platform.system()} {platform.release()} ({platform.machine()})"


def get_python_platform() -> str:
    return platform.platform()


def get_libc_version() -> str:
    return "-".join(platform.libc_ver()) if sys.platform == "linux" else "N/A"


def get_cpu_info() -> str:
    """The processor's model and the number of its threads."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} threads"


def get_pip_packages() -> str:
    """Versions of what matters here, one a line."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name}=={importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return "\n".join(found)


def get_env_info() -> SystemEnv:
    """All of it."""
    return SystemEnv(
        torch_version=REFERENCE,
        facula_version=facula.__version__,
        is_debug_build="False",
        os=get_os(),
        libc_version=get_libc_version(),
        python_version=f"{sys.version} ({sys.maxsize.bit_length() + 1}-bit runtime)".replace("\n", " "),
        python_platform=get_python_platform(),
        is_cuda_available=str(facula.cuda.is_available()),
        threads=str(facula.get_num_threads()),
        cpu_info=get_cpu_info(),
        pip_packages=get_pip_packages(),
    )


TITLES = {
    "torch_version": "PyTorch version", "facula_version": "Facula version", "is_debug_build": "Is debug build", "os": "OS",
    "libc_version": "Libc version", "python_version": "Python version", "python_platform": "Python platform",
    "is_cuda_available": "Is CUDA available", "threads": "Threads", "cpu_info": "CPU", "pip_packages": "Versions of relevant libraries",
}  # fmt: skip


def pretty_str(envinfo: SystemEnv) -> str:
    """A line for each fact; the packages below one another."""
    return "\n".join(f"{TITLES[k]}:{chr(10) if k == 'pip_packages' else ' '}{v}" for k, v in envinfo._asdict().items())


def get_pretty_env_info() -> str:
    return pretty_str(get_env_info())


def main() -> None:
    print("Collecting environment information...")
    print(get_pretty_env_info())
