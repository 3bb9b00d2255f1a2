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


@pytest.mark.parametrize("name", "softmax log_softmax sort argsort unbind".split())
def test_others_take_axis(name):
    f = getattr(facula, name)

    assert [t.tolist() for t in parts(f(x, dim=0))] == [t.tolist() for t in parts(f(x, axis=0))]


def test_a_dim_is_still_required():
    with pytest.raises(TypeError, match="dim"):
        facula.softmax(x)
