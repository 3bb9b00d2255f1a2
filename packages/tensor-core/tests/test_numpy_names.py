"""NumPy's names of arguments, where PyTorch takes them: axis for dim, keepdims for keepdim."""

import facula
import pytest

x = facula.arange(12.0).reshape(3, 4)
FOLDS = "sum mean prod all any amax amin argmax argmin nansum nanmean std var logsumexp median mode max min aminmax".split()


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", FOLDS)
def test_a_fold_takes_axis_and_keepdims(name):
    fold = getattr(facula, name)

    assert [t.tolist() for t in parts(fold(x, dim=1))] == [t.tolist() for t in parts(fold(x, axis=1))]
    assert [(3, 1)] == list({tuple(t.shape) for t in parts(fold(x, dim=1, keepdims=True))})


@pytest.mark.parametrize("name", "cat stack concatenate".split())
def test_joining_takes_axis(name):
    join = getattr(facula, name)

    assert facula.equal(join([x, x], dim=1), join([x, x], axis=1))


@pytest.mark.parametrize("name", "softmax log_softmax sort argsort unbind squeeze unsqueeze diff".split())
def test_others_take_axis(name):
    f = getattr(facula, name)

    assert [t.tolist() for t in parts(f(x, dim=0))] == [t.tolist() for t in parts(f(x, axis=0))]


INDEXED = {
    "index_select": {"index": facula.tensor([1])}, "index_add": {"index": facula.tensor([1]), "source": x[:1]}, "scatter": {"index": facula.zeros(1, 4, dtype=facula.int64), "value": 7.0},
    "gather": {"index": facula.zeros(1, 4, dtype=facula.int64)}, "select": {"index": 1}, "narrow": {"start": 1, "length": 2}, "renorm": {"p": 2, "maxnorm": 1.0},
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXED)
def test_what_follows_dim_goes_by_its_name(name):
    f, rest = getattr(facula, name), INDEXED[name]

    assert facula.equal(f(x, dim=0, **rest), f(x, axis=0, **rest))
    with pytest.raises(TypeError, match="dim"):
        f(x, **rest)


def test_a_dim_is_still_required():
    with pytest.raises(TypeError, match="dim"):
        facula.softmax(x)
