"""A LeNet learns digits end to end: it gets there, as PyTorch does, and to the same bits on any threads and either ISA level."""

import hashlib
import importlib.util

import facula
import numpy as np
import pytest
from facula import nn
from facula.nn import functional as F
from facula.tensor_core import extend

FONT = """
.###. ..#.. .###. ####. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... #.... ....# #...# #...#
#...# ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#...# ..#.. ...#. .###. #..#. ....# ####. ..#.. .###. .####
#...# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... ....# ...#. #...# #...# ..#.. #...# ....#
.###. .###. ##### ####. ...#. .###. .###. ..#.. .###. .###.
"""
LEVEL = extend.lib.fc_isa_level()


def drawn_digits(n, rng):
    """(pictures (n, 1, 12, 12), labels): printed digits, moved about, under noise."""
    glyphs = np.array([[[c == "#" for c in word] for word in line.split()] for line in FONT.split("\n") if line]).transpose(1, 0, 2)
    labels = rng.integers(0, 10, n)
    pictures = rng.normal(0, 0.15, (n, 1, 12, 12)).astype(np.float32)
    for picture, label in zip(pictures, labels):
        y, x = rng.integers(1, 5), rng.integers(2, 6)
        picture[0, y : y + 7, x : x + 5] += glyphs[label]
    return pictures, labels


def written_digits(n, rng):
    """The same from scikit-learn's 1797 digits of 8 x 8."""
    data = importlib.import_module("sklearn.datasets").load_digits()
    some = rng.permutation(len(data.target))[:n]
    return np.pad(data.images[some, None] / 16, ((0, 0), (0, 0), (2, 2), (2, 2))).astype(np.float32), data.target[some]


def lenet(library):
    nn = library.nn
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(144, 32), nn.Tanh(), nn.Linear(32, 10),
    )  # fmt: skip


def train(library, net, pictures, labels, steps, batch=32):
    optimizer = library.optim.Adam(net.parameters(), lr=3e-3)
    losses = []
    for k in range(steps):
        at = [(k * batch + j) % len(labels) for j in range(batch)]
        loss = library.nn.functional.cross_entropy(net(pictures[at]), labels[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def tensors(library, pictures, labels):
    return library.from_numpy(pictures.copy()), library.from_numpy(np.asarray(labels, np.int64).copy())


@pytest.mark.parametrize("digits", [drawn_digits, written_digits])
def test_lenet_learns_digits(digits):
    if digits is written_digits and not importlib.util.find_spec("sklearn"):
        pytest.skip("scikit-learn, whose digits these are, is not installed")
    pictures, labels = tensors(facula, *digits(1500, np.random.default_rng(0)))
    facula.manual_seed(1)
    net = lenet(facula)
    train(facula, net, pictures[:1200], labels[:1200], 150)

    net.eval()
    with facula.no_grad():
        right = (net(pictures[1200:]).argmax(1) == labels[1200:]).float().mean().item()
    assert right > 0.93


def digest(net):
    return hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in net.state_dict().values())).hexdigest()


@pytest.fixture(scope="module")
def reference():
    """What the first run gave; the others must give it too."""
    return []


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("level", [level for level in (3, 4) if level <= LEVEL])
def test_every_bit_of_a_trained_net_is_the_same(threads, level, reference):
    before = facula.get_num_threads()
    pictures, labels = tensors(facula, *drawn_digits(256, np.random.default_rng(3)))
    try:
        facula.set_num_threads(threads)
        extend.lib.fc_set_isa_level(level)
        facula.manual_seed(1)
        net = lenet(facula)
        losses = train(facula, net, pictures, labels, 12)
    finally:
        facula.set_num_threads(before)
        extend.lib.fc_set_isa_level(LEVEL)
    reference.append((digest(net), losses))

    assert reference[0] == (digest(net), losses)


def test_losses_are_pytorchs():
    torch = pytest.importorskip("torch")
    data = drawn_digits(640, np.random.default_rng(5))
    torch.manual_seed(2)
    theirs = lenet(torch)
    ours = lenet(facula)
    ours.load_state_dict({k: facula.from_numpy(v.numpy().copy()) for k, v in theirs.state_dict().items()})

    expected = train(torch, theirs, *tensors(torch, *data), 20)
    actual = train(facula, ours, *tensors(facula, *data), 20)
    assert expected == pytest.approx(actual, rel=2e-5)


def test_a_pictures_result_does_not_depend_on_its_batch():
    pictures, _ = tensors(facula, *drawn_digits(40, np.random.default_rng(7)))
    facula.manual_seed(1)
    net = nn.Sequential(*list(lenet(facula))[:4], nn.Flatten(), nn.Linear(576, 10))
    with facula.no_grad():
        whole = F.softmax(net(pictures), 1)
        for low, high in ((0, 1), (3, 5), (7, 40)):
            assert bytes(whole[low:high].numpy().tobytes()) == bytes(F.softmax(net(pictures[low:high]), 1).numpy().tobytes())
