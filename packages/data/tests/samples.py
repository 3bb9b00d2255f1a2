"""What the tests of the loader and of its workers share: a dataset, and batches as lists."""

from backend import data, torch


class Numbers(data.Dataset):
    def __init__(self, n=10):
        self.n = n

    def __getitem__(self, i):
        return i

    def __len__(self):
        return self.n


def lists(loader):
    return [b.tolist() if isinstance(b, torch.Tensor) else b for b in loader]
