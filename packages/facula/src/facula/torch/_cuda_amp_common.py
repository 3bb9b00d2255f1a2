"""torch.cuda.amp.common: whether there is something to cast for."""

from facula import cuda


def amp_definitely_not_available() -> bool:
    return not cuda.is_available()
