"""The libraries below, as torch.backends lists them: which are there, and the switches that programs set.

Facula computes by its own kernels, so most are absent; their switches keep what they are set to and decide nothing, which is
documented at each. This package ships with facula-tensor-core alone.
"""

from facula.backends import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum"]
