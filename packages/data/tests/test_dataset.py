import pytest
from backend import data, torch


class Letters(data.Dataset):
    def __init__(self, text):
        self.text = text

    def __getitem__(self, i):
        return self.text[i]

    def __len__(self):
        return len(self.text)


class Stream(data.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


def test_tensor_dataset_gives_rows_of_every_tensor():
    ds = data.TensorDataset(torch.arange(6).reshape(3, 2), torch.arange(3))

    x, y = ds[1]

    assert ([2, 3], 1, 3) == (x.tolist(), y.item(), len(ds))


def test_tensor_dataset_refuses_unequal_lengths():
    with pytest.raises(AssertionError, match="Size mismatch"):
        data.TensorDataset(torch.zeros(3), torch.zeros(4))


def test_plus_concatenates_datasets_and_negative_indices_count_from_the_end():
    both = Letters("abc") + Letters("de")

    assert ["a", "c", "d", "e", "e", "a"] == [both[i] for i in (0, 2, 3, 4, -1, -5)]
    assert [3, 5] == both.cumulative_sizes
    with pytest.raises(ValueError, match="absolute value of index"):
        both[-6]


def test_plus_chains_streams():
    both = Stream(2) + Stream(3)

    assert [0, 1, 0, 1, 2] == list(both)
    assert 5 == len(both)


@pytest.mark.parametrize("parts", [[], [Stream(2)]])
def test_concat_refuses_nothing_and_streams(parts):
    with pytest.raises(AssertionError):
        data.ConcatDataset(parts)


def test_stack_gives_tuples_or_dicts():
    assert ("b", "y") == data.StackDataset(Letters("abc"), Letters("xyz"))[1]
    assert {"p": "b", "q": "y"} == data.StackDataset(p=Letters("abc"), q=Letters("xyz"))[1]
    assert [("a", "x"), ("c", "z")] == data.StackDataset(Letters("abc"), Letters("xyz")).__getitems__([0, 2])


@pytest.mark.parametrize(
    "args,kwargs", [((), {}), ((Letters("ab"),), {"p": Letters("ab")}), ((Letters("ab"), Letters("abc")), {})]
)
def test_stack_refuses_none_both_ways_and_unequal_lengths(args, kwargs):
    with pytest.raises(ValueError):
        data.StackDataset(*args, **kwargs)


def test_subset_of_a_subset_maps_indices_through():
    inner = data.Subset(Letters("abcdef"), [5, 3, 1])

    assert ["b", "f"] == data.Subset(inner, [2, 0]).__getitems__([0, 1])


def test_subset_refuses_getitem_overridden_alone():
    class Upper(data.Subset):
        def __getitem__(self, i):
            return super().__getitem__(i).upper()

    with pytest.raises(NotImplementedError, match="__getitems__"):
        Upper(Letters("ab"), [0])


# PyTorch 2.13's results for these seeds.
SPLITS = [
    ((range(10), [3, 7]), 42, [[2, 6, 1], [8, 4, 5, 0, 9, 3, 7]]),
    ((range(8), [0.3, 0.3, 0.4]), 42, [[6, 3, 0], [7, 2], [1, 4, 5]]),
]


@pytest.mark.parametrize("args,seed,expected", SPLITS)
def test_random_split_draws_pytorchs_permutation(args, seed, expected):
    generator = torch.Generator().manual_seed(seed)

    assert expected == [list(part.indices) for part in data.random_split(*args, generator=generator)]


@pytest.mark.parametrize("lengths,error", [([3, 3], "does not equal"), ([1.5, -0.5], "not between 0 and 1")])
def test_random_split_refuses_lengths_that_do_not_fit(lengths, error):
    with pytest.raises(ValueError, match=error):
        data.random_split(range(7), lengths)


def test_random_split_warns_of_an_empty_part():
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        data.random_split(range(1), [0.5, 0.5])
