"""The CPU's instruction set, as the kernels use it."""

from facula.tensor_core._lib import lib


def get_cpu_capability():
    """The level of instructions in use: DEFAULT (x86-64-v2), AVX2 (v3) or AVX512 (v4).

    >>> facula.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")
    True
    """
    return ("DEFAULT", "AVX2", "AVX512")[max(0, min(lib.fc_isa_level() - 2, 2))]
