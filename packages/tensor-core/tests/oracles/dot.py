"""Products. Errors are measured at the sum of the terms' sizes."""

from . import O


def linear(x, y, z):
    out = x @ y.swapaxes(-1, -2) if y.ndim == 2 else x @ y
    return out if z is None else out + z


def linear_size(x, y, z):
    return linear(abs(x), abs(y), None if z is None else abs(z))


DOT = dict(ulp=8, culp=16, specials=False)

O("matmul", lambda x, y: x @ y, scale=lambda x, y: abs(x) @ abs(y), cases=lambda t: [
    (t(3, 4), t(4, 5)),
    (t(5), t(5)),
    (t(4), t(4, 3)),
    (t(3, 4), t(4)),
    (t(2, 3, 4), t(4, 5)),
    (t(2, 1, 3, 4), t(5, 4, 2)),
    (t(3, 0), t(0, 4)),
    (t(0, 3), t(3, 4)),
    (t(17, 70), t(70, 35)),
    (t(2, 600), t(600, 3)),
], **DOT)  # fmt: skip
O("linear", linear, scale=linear_size, cases=lambda t: [
    (t(3, 4), t(5, 4), t(5)),
    (t(3, 4), t(5, 4)),
    (t(4), t(5, 4), t(5)),
    (t(2, 3, 4), t(5, 4), t(5)),
    (t(0, 4), t(5, 4), t(5)),
    (t(33, 70), t(19, 70), t(19)),
], **DOT)  # fmt: skip


def plus_product(x, y, z, beta, alpha, over):
    product = y @ z
    return beta * x + alpha * (product.sum(0) if over else product) if beta else alpha * (product.sum(0) if over else product) + 0 * x


O("_plus_product", plus_product, scale=lambda x, y, z, beta, alpha, over: plus_product(abs(x), abs(y), abs(z), abs(beta), abs(alpha), over), cases=lambda t: [
    (t(3, 5), t(3, 4), t(4, 5), 1.0, 1.0, False), (t(5), t(3, 4), t(4, 5), -0.5, 2.0, False), (t(), t(3, 4), t(4, 5), 1.0, 1.0, False),
    (t(3), t(3, 4), t(4), 2.0, 0.5, False), (t(1), t(3, 4), t(4), 0.0, 0.5, False), (t(2, 3, 5), t(2, 3, 4), t(2, 4, 5), 1.0, -3.0, False),
    (t(3, 1), t(70, 3, 4), t(70, 4, 2), 1.0, 0.5, False), (t(3, 5), t(6, 3, 4), t(6, 4, 5), 0.5, 0.5, True), (t(3, 5), t(0, 3, 4), t(0, 4, 5), 0.5, 0.5, True),
    (t(3, 5), t(3, 0), t(0, 5), 2.0, 0.5, False), (t(17, 35), t(17, 70), t(70, 35), 1.0, 1.0, False), (t(2, 3), t(2, 600), t(600, 3), 2.0, 1.0, False),
], **DOT)  # fmt: skip
