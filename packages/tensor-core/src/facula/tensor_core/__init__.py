"""The tensor library: C99 kernels behind CFFI, and the Tensor class. Other parts import `facula.tensor_core.extend`."""
