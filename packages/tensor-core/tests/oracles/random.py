"""Random fills: their numbers are a stream's, not a formula's."""

from . import elsewhere

elsewhere(
    "test_random.py",
    "uniform_", "normal_", "bernoulli_scalar_", "random_range_", "random_full_", "randperm_",
    "exponential_", "geometric_", "cauchy_", "log_normal_",
    "draw_bernoulli_", "draw_poisson_", "draw_gamma_", "draw_binomial_",
)  # fmt: skip
