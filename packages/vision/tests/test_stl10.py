"""STL-10 from files of its layout."""

import numpy as np
import pytest
from facula.vision.datasets import STL10


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "stl10_binary"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name, count in (("train", 4), ("test", 2), ("unlabeled", 3)):
        rng.integers(0, 256, (count, 3, 96, 96), dtype=np.uint8).tofile(folder / f"{name}_X.bin")
        if name != "unlabeled":
            np.arange(1, count + 1, dtype=np.uint8).tofile(folder / f"{name}_y.bin")
    (folder / "fold_indices.txt").write_text("\n".join(f"{k % 4} {(k + 1) % 4}" for k in range(10)))
    (folder / "class_names.txt").write_text("airplane\nbird\n")
    return tmp_path


def test_pictures_lie_column_by_column(root):
    data = STL10(root, "test")
    raw = np.fromfile(root / "stl10_binary" / "test_X.bin", np.uint8).reshape(2, 3, 96, 96)
    picture, label = data[1]

    assert (2, 1, ["airplane", "bird"]) == (len(data), label, data.classes)
    assert "Split: test" in repr(data)
    assert np.array_equal(raw[1].transpose(2, 1, 0), np.asarray(picture))


@pytest.mark.parametrize(
    "options, labels",
    [
        ({}, [0, 1, 2, 3]), ({"folds": 3}, [3, 0]), ({"split": "unlabeled"}, [-1] * 3), ({"split": "train+unlabeled", "folds": 1}, [1, 2, -1, -1, -1]),
    ],
)  # fmt: skip
def test_splits_and_folds(root, options, labels):
    assert labels == [label for _, label in STL10(root, **options)]


def test_what_is_wrong_is_named(root):
    (root / "stl10_binary" / "train_X.bin").write_bytes(b"123")
    (root / "stl10_binary" / "test_y.bin").write_bytes(b"1")
    for options, error, told in (
        ({}, RuntimeError, "3 bytes"), ({"split": "test"}, RuntimeError, "1 labels for 2"), ({"split": "all"}, ValueError, "all"), ({"folds": 10}, ValueError, "10"),
    ):  # fmt: skip
        with pytest.raises(error, match=told):
            STL10(root, **options)
    with pytest.raises(RuntimeError, match="train_X.bin not in"):
        STL10(root / "elsewhere", download=True)
