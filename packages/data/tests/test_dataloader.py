import os
import pickle

import pytest
from backend import data, torch
from samples import Numbers, lists


class Stream(data.IterableDataset):
    def __init__(self, n=10):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


# PyTorch 2.13's, after manual_seed(7)
FIRST = [[3, 2, 7, 8], [6, 1, 5, 9], [0, 4]]
SECOND = [[1, 3, 5, 2], [8, 9, 6, 7], [4, 0]]
FOLLOWING = 0.36531615257263184
WITH_GENERATOR = [[7, 4, 2, 9, 1], [5, 0, 8, 6, 3]]  # of seed 3


@pytest.mark.parametrize("workers", [0, 2])
def test_two_shuffled_passes_draw_pytorchs_order_and_leave_the_stream_where_it_does(workers):
    loader = data.DataLoader(Numbers(), batch_size=4, shuffle=True, num_workers=workers)

    first, second = lists(loader), lists(loader)

    assert FIRST == first
    assert SECOND == second
    assert FOLLOWING == torch.rand(()).item()


def test_generator_replaces_the_global_stream():
    generator = torch.Generator().manual_seed(3)
    loader = data.DataLoader(Numbers(), 5, shuffle=True, generator=generator)

    assert WITH_GENERATOR == lists(loader)
    assert 0.5349225401878357 == torch.rand(()).item()


PLAIN = [
    (dict(batch_size=4), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
    (dict(batch_size=4, drop_last=True), [[0, 1, 2, 3], [4, 5, 6, 7]]),
    (dict(batch_size=None), list(range(10))),
    (dict(sampler=[3, 1, 2], batch_size=2), [[3, 1], [2]]),
    (dict(batch_sampler=[[0], [5, 4]]), [[0], [5, 4]]),
    (dict(batch_size=4, collate_fn=sum), [6, 22, 17]),
    (dict(batch_size=None, collate_fn=str, sampler=[1, 2]), ["1", "2"]),
]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("options,expected", PLAIN, ids=lambda v: str(v)[:40])
def test_batches_of_a_map_dataset(options, expected, workers):
    loader = data.DataLoader(Numbers(), num_workers=workers, **options)

    assert expected == lists(loader)
    assert len(expected) == len(loader)


@pytest.mark.parametrize(
    "options,expected",
    [
        (dict(batch_size=4), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        (dict(batch_size=5), [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]),
        (dict(batch_size=4, drop_last=True), [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (dict(batch_size=None), list(range(10))),
    ],
)
def test_batches_of_a_stream(options, expected):
    loader = data.DataLoader(Stream(), **options)

    assert expected == lists(loader)
    assert len(expected) == len(loader)


REFUSED = [
    (dict(num_workers=-1), ValueError),
    (dict(timeout=-1), ValueError),
    (dict(prefetch_factor=2), ValueError),
    (dict(num_workers=1, prefetch_factor=-1), ValueError),
    (dict(persistent_workers=True), ValueError),
    (dict(shuffle=True, sampler=[0]), ValueError),
    (dict(batch_sampler=[[0]], batch_size=2), ValueError),
    (dict(batch_size=None, drop_last=True), ValueError),
    (dict(batch_size=0), ValueError),
    (dict(multiprocessing_context="fork"), ValueError),
    (dict(num_workers=1, multiprocessing_context="thread"), ValueError),
    (dict(num_workers=1, multiprocessing_context=7), TypeError),
]


@pytest.mark.parametrize("options,error", REFUSED, ids=lambda v: str(v)[:50])
def test_loader_refuses_options_that_contradict_each_other(options, error):
    with pytest.raises(error):
        data.DataLoader(Numbers(), **options)


@pytest.mark.parametrize("options", [dict(shuffle=True), dict(sampler=[0]), dict(batch_sampler=[[0]])])
def test_a_stream_takes_no_order(options):
    with pytest.raises(ValueError, match="IterableDataset"):
        data.DataLoader(Stream(), **options)


def test_what_an_order_was_built_from_cannot_be_set_later():
    loader = data.DataLoader(Numbers())

    with pytest.raises(ValueError, match="batch_size"):
        loader.batch_size = 3


def test_timeout_needs_workers():
    with pytest.raises(AssertionError):
        iter(data.DataLoader(Numbers(), timeout=1))


def test_pinning_without_an_accelerator_says_that_it_does_nothing():
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has an accelerator")
    with pytest.warns(UserWarning, match="pin_memory"):
        assert [[0, 1]] == lists(data.DataLoader(Numbers(2), 2, pin_memory=True))


def test_a_stream_longer_than_it_says_is_warned_of():
    class Liar(Stream):
        def __len__(self):
            return 2

    loader = data.DataLoader(Liar(3), batch_size=None)
    assert 2 == len(loader)

    with pytest.warns(UserWarning, match="was reported to be 2"):
        list(loader)


@pytest.mark.facula_only
def test_a_loader_can_be_pickled_and_its_pass_cannot():
    loader = pickle.loads(pickle.dumps(data.DataLoader(Numbers(), 5)))

    assert [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]] == lists(loader)
    with pytest.raises(NotImplementedError, match="pickled"):
        pickle.dumps(iter(loader))
    assert not hasattr(loader, "__setstate__")  # which accelerate's loaders, that pass on what they have not, would be unpickled by


def test_programs_that_turn_the_flag_off_change_a_loader():
    loader = data.DataLoader(list(range(4)), batch_size=2)
    with pytest.raises(ValueError, match="sampler"):
        loader.sampler = [0]

    loader._DataLoader__initialized = False
    loader.batch_sampler = [[3], [1, 0]]
    loader._DataLoader__initialized = True

    assert [[3], [1, 0]] == [batch.tolist() for batch in loader]
