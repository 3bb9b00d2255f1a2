import pytest
from backend import data, torch

RANGE = range(10)


def seeded(seed=3):
    return torch.Generator().manual_seed(seed)


# Sampler, the indices PyTorch 2.13 gives after manual_seed(7), and the uniform that it draws next.
ORDERS = {
    "sequential": lambda: data.SequentialSampler(RANGE),
    "random": lambda: data.RandomSampler(RANGE),
    "random, generator": lambda: data.RandomSampler(RANGE, generator=seeded()),
    "random, twice round": lambda: data.RandomSampler(RANGE, num_samples=23),
    "random, exactly once, shared generator": lambda: data.RandomSampler(RANGE, generator=torch.default_generator),
    "replacement": lambda: data.RandomSampler(RANGE, replacement=True, num_samples=40),
    "subset": lambda: data.SubsetRandomSampler([10, 20, 30, 40]),
    "weighted": lambda: data.WeightedRandomSampler([0.1, 0.9, 0.4, 3.0], 6),
    "weighted, once each": lambda: data.WeightedRandomSampler([0.1, 0.9, 0.4, 3.0], 3, replacement=False),
    "batch": lambda: data.BatchSampler(data.RandomSampler(RANGE), 4, False),
    "batch, full only": lambda: data.BatchSampler(data.SequentialSampler(RANGE), 4, True),
    "distributed": lambda: data.DistributedSampler(RANGE, 3, 1, seed=5),
    "distributed, in order": lambda: data.DistributedSampler(RANGE, 4, 3, shuffle=False),
    "distributed, equal parts": lambda: data.DistributedSampler(RANGE, 3, 2, drop_last=True),
    "distributed, more ranks than samples": lambda: data.DistributedSampler(range(2), 5, 4),
}
EXPECTED = {
    "sequential": ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 0.5349225401878357),
    "random": ([3, 0, 1, 9, 4, 7, 2, 5, 6, 8], 0.6592116951942444),
    "random, generator": ([6, 0, 3, 7, 8, 5, 1, 9, 2, 4], 0.5349225401878357),
    "random, twice round": ([3, 0, 1, 9, 4, 7, 2, 5, 6, 8, 1, 6, 4, 3, 2, 5, 9, 0, 8, 7, 6, 2, 0], 0.6592116951942444),
    "random, exactly once, shared generator": ([5, 0, 3, 4, 1, 7, 9, 6, 8, 2], 0.9699196219444275),
    "replacement": (
        [
            3,
            5,
            7,
            1,
            0,
            2,
            3,
            6,
            1,
            1,
            6,
            6,
            0,
            6,
            0,
            7,
            4,
            8,
            6,
            8,
            0,
            2,
            4,
            9,
            6,
            0,
            4,
            4,
            1,
            2,
            7,
            8,
            8,
            8,
            1,
            5,
            8,
            1,
            9,
            3,
        ],
        0.6592116951942444,
    ),
    "subset": ([40, 30, 10, 20], 0.6568902730941772),
    "weighted": ([2, 2, 3, 3, 3, 3], 0.28683900833129883),
    "weighted, once each": ([1, 3, 0], 0.36531615257263184),
    "batch": ([[3, 0, 1, 9], [4, 7, 2, 5], [6, 8]], 0.6592116951942444),
    "batch, full only": ([[0, 1, 2, 3], [4, 5, 6, 7]], 0.5349225401878357),
    "distributed": ([4, 3, 2, 1], 0.5349225401878357),
    "distributed, in order": ([3, 7, 1], 0.5349225401878357),
    "distributed, equal parts": ([7, 9, 6], 0.5349225401878357),
    "distributed, more ranks than samples": ([0], 0.5349225401878357),
}


@pytest.mark.parametrize("name", ORDERS)
def test_sampler_draws_pytorchs_order_and_leaves_the_stream_where_it_does(name):
    sampler = ORDERS[name]()

    order = list(sampler)

    expected, following = EXPECTED[name]
    assert expected == order
    assert len(expected) == len(sampler)
    assert following == torch.rand(()).item()


def test_distributed_sampler_changes_with_the_epoch_and_covers_everything():
    samplers = [data.DistributedSampler(RANGE, 2, rank) for rank in (0, 1)]
    first = [list(s) for s in samplers]
    for s in samplers:
        s.set_epoch(1)

    assert list(RANGE) == sorted(first[0] + first[1])
    assert first != [list(s) for s in samplers]


@pytest.mark.parametrize(
    "make,error",
    [
        (lambda: data.RandomSampler(RANGE, num_samples=0), ValueError),
        (lambda: data.RandomSampler([]), ValueError),
        (lambda: data.RandomSampler(RANGE, replacement=1), TypeError),
        (lambda: data.WeightedRandomSampler([1.0], True), ValueError),
        (lambda: data.WeightedRandomSampler([[1.0]], 1), ValueError),
        (lambda: data.BatchSampler(RANGE, 0, False), ValueError),
        (lambda: data.BatchSampler(RANGE, 2, 1), ValueError),
        (lambda: data.DistributedSampler(RANGE, 2, 2), ValueError),
    ],
)
def test_sampler_refuses_bad_arguments(make, error):
    with pytest.raises(error):
        make()
