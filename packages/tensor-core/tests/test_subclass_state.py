"""What a tensor's class keeps in slots or by __getstate__ goes where the tensor is copied to, pickled and saved."""

import copy
import io
import pickle

import pytest

import facula
from facula.tensor_core.files.checkpoint import CheckpointError


class Slotted(facula.Tensor):
    __slots__ = ["elem", "other"]


class Stated(facula.Tensor):
    __slots__ = ["elem"]

    def __getstate__(self):
        return "mark", self.elem, self.__dict__

    def __setstate__(self, state):
        self.mark, self.elem, self.__dict__ = state
        self.mark = state[0]


def through_a_file(x, classes=(Slotted, Stated)):
    file = io.BytesIO()
    facula.save(x, file)
    file.seek(0)
    with facula.serialization.safe_globals(list(classes)):
        return facula.load(file)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), through_a_file], ids=["copy", "deepcopy", "pickle", "file"])
@pytest.mark.parametrize("cls", [Slotted, Stated])
def test_slots_and_states_are_kept(cls, how):
    x = facula.tensor([1.0, 2.0]).as_subclass(cls)
    x.elem, x.word = [1, 2], "n"

    y = how(x)

    assert (type(y), y.tolist(), y.elem, y.word, getattr(y, "mark", None), hasattr(y, "other")) == (cls, [1.0, 2.0], [1, 2], "n", "mark" if cls is Stated else None, False)


def test_slots_that_a_class_has_not_are_refused():
    x = facula.tensor([1.0]).as_subclass(Slotted)
    x.elem = 1
    file = io.BytesIO()
    facula.save(x, file)
    Slotted.__slotnames__, kept = [], Slotted.__slotnames__  # where copyreg keeps a class's slots
    try:
        file.seek(0)

        with facula.serialization.safe_globals([Slotted]), pytest.raises(CheckpointError, match="elem"):
            facula.load(file)
    finally:
        Slotted.__slotnames__ = kept
