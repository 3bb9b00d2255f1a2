"""Storages, the old constructors, copies and pickles of tensors: memory that is shared stays shared."""

import copy
import gc
import pickle

import facula
import pytest

SHARED = {
    "deepcopy": lambda pair: copy.deepcopy(pair),
    "pickle": lambda pair: pickle.loads(pickle.dumps(pair)),
    "pickle of protocol 2": lambda pair: pickle.loads(pickle.dumps(pair, 2)),
}

# the same in Facula (X = facula) and PyTorch
SAME = (
    "X.FloatStorage([1, 2]).tolist()", "X.FloatStorage(3).size()", "X.UntypedStorage([1, 2, 255]).tolist()", "X.UntypedStorage([257])[0]",
    "str(X.FloatStorage([1, 2]))", "str(X.UntypedStorage([1, 2]))", "X.FloatStorage.dtype", "x.storage().type()", "isinstance(x.storage(), X.FloatStorage)",
    "isinstance(x.storage(), X.LongStorage)", "len(x.untyped_storage())", "x.storage()[1]", "x.untyped_storage()[3:8].tolist()", "x[1].storage().tolist()",
    "x.storage().double().tolist()", "x.storage().long().dtype", "X.UntypedStorage([1, 2]).float().tolist()", "x.storage().nbytes()", "x.storage().element_size()",
    "X.ByteStorage.from_buffer(b'abcdef', count=3, offset=2).tolist()", "X.ShortStorage.from_buffer(b'abcdef', 'big').tolist()",
    "X.FloatStorage.from_buffer(bytes(8), 'native').tolist()", "X.UntypedStorage.from_buffer(b'ab', dtype=X.uint8).tolist()",
    "x.storage_type() is X.FloatStorage", "X.TypedStorage([1, 2], dtype=X.int64).tolist()", "X.TypedStorage(wrap_storage=x.untyped_storage(), dtype=X.int32).tolist()",
    "X.Tensor().set_(X.FloatStorage([1, 2, 3, 4]), 1, (2,), (2,))", "X.Tensor().set_(X.FloatStorage([1, 2, 3, 4]))", "X.tensor([1.0]).set_(X.FloatStorage([1, 2, 3, 4]), 0, (2, 2))",
    "X.FloatTensor(x.storage())", "X.FloatTensor(2, 3).shape", "X.FloatTensor(X.Size([2, 3])).shape", "X.FloatTensor((2, 3))", "X.LongTensor([1.5, 2])", "X.BoolTensor([1, 0])",
    "X.LongTensor([[1, 2], [3, 4]])", "X.HalfTensor().dtype", "isinstance(x, X.FloatTensor)", "isinstance(x, X.DoubleTensor)", "x.type(X.LongTensor)", "x.type('torch.DoubleTensor').dtype",
    "x.new([1, 2])", "x.new(2, 3).shape", "x.new(x)", "X.Tensor(x.storage())", "X.is_storage(x.storage())", "X.FloatTensor.dtype", "x.untyped_storage() == x[0].untyped_storage()",
    "x.storage().fill_(2).tolist()", "x.storage().copy_(X.FloatStorage([5, 4, 3, 2, 1, 0])).tolist()",
    *(f"X.{kind}info(X.{name}).{field}" for kind, names, fields in (
        ("f", ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"), ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")),
        ("i", ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"), ("bits", "max", "min", "dtype")),
    ) for name in names for field in fields),
    "str(X.finfo(X.float16))", "str(X.iinfo(X.int8))", "X.finfo() == X.finfo(X.float32)",
)  # fmt: skip

REFUSED = (
    "x.storage()[1:3]", "X.FloatStorage(2)[5]", "X.FloatStorage('a')", "X.FloatStorage(X.tensor([1.0]))", "X.FloatStorage.from_buffer(bytes(7), 'little')",
    "X.FloatStorage.from_buffer(bytes(8), 'middle')", "X.FloatStorage.from_buffer(bytes(8))", "X.ByteStorage.from_buffer(b'abc', offset=4)", "X.ByteStorage.from_buffer(b'abc', count=4)",
    "X.LongTensor(x)", "X.LongTensor(x.storage())", "X.FloatTensor(X.tensor(3))", "X.LongTensor().set_(X.FloatStorage([1, 2]))", "X.LongTensor(2, dtype=X.int64)",
    "X.iinfo(X.float32)", "X.finfo(X.int8)", "X.iinfo(X.bool)", "X.set_default_tensor_type(X.LongTensor)", "X.set_default_tensor_type(3)",
)  # fmt: skip


def described(X, value):
    return (value.tolist(), str(value.dtype), tuple(value.shape), value.stride()) if isinstance(value, X.Tensor) else value if isinstance(value, (bool, int, float, str, list)) else str(value)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", SAME)
def test_it_answers_what_pytorch_answers(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    expected, actual = (described(X, eval(text, {"X": X, "x": X.arange(6.0).reshape(2, 3)})) for X in (torch, facula))

    assert expected == actual


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("text", REFUSED)
def test_it_refuses_what_pytorch_refuses(text):
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    errors = []
    for X in (torch, facula):
        with pytest.raises(Exception) as caught:
            eval(text, {"X": X, "x": X.arange(6.0).reshape(2, 3)})
        errors.append(caught.value)

    assert isinstance(errors[1], type(errors[0])), errors


@pytest.mark.parametrize("way", SHARED)
def test_views_of_one_storage_stay_so(way):
    x = facula.zeros(3, 4)
    whole, row, column = SHARED[way]([x, x[1], x.t()[2]])
    row.fill_(5)

    assert whole[1].tolist() == [5.0] * 4 and column.tolist() == [0.0, 5.0, 0.0]
    assert 0.0 == x.sum().item()
    assert column.stride() == (4,)


@pytest.mark.parametrize("way", SHARED)
@pytest.mark.parametrize("name", ["bool", "uint8", "int64", "bfloat16", "float64", "complex64"])
def test_every_layout_comes_back(way, name):
    x = facula.arange(24).reshape(2, 3, 4).to(getattr(facula, name))
    for made in (x, x.transpose(0, 2), x[:, ::2], x[0, 0, 0], x[:0], x[:, :1].expand(2, 5, 4)):
        again = SHARED[way](made)

        assert (made.tolist(), made.stride(), made.storage_offset(), made.dtype) == (again.tolist(), again.stride(), again.storage_offset(), again.dtype)


def test_attributes_and_meta_tensors_travel():
    x = facula.zeros(2)
    x.note = ["kept"]

    for way in SHARED.values():
        assert ["kept"] == way(x).note
        assert (True, (2, 3)) == (way(facula.empty(2, 3, device="meta")).is_meta, way(facula.empty(2, 3, device="meta")).shape)
    assert copy.deepcopy(x).note is not x.note
    assert copy.copy(x).data_ptr() == x.data_ptr()


def test_a_storage_is_one_object_while_it_is_held():
    x = facula.zeros(4)
    storage = x.untyped_storage()

    assert storage is x[2:].untyped_storage() is x.view(facula.int64).untyped_storage()
    assert storage != facula.zeros(4).untyped_storage()


def test_writes_show_in_the_tensors():
    x = facula.zeros(4)
    storage = x.storage()
    storage[1], storage[-1] = 2, 3.5
    x.untyped_storage()[0:4] = 255

    assert [2.0, 0.0, 3.5] == x[1:].tolist()
    assert x[0].isnan().item()


def test_views_follow_a_storage_that_moves():
    x = facula.arange(4.0)
    view = x[1:3]
    x.resize_(100_000)
    x.fill_(7.0)
    gc.collect()

    assert [7.0, 7.0] == view.tolist()
    view.zero_()
    assert [7.0, 0.0, 0.0, 7.0] == x[:4].tolist()
    assert 7.0 == x[3].item()


def test_a_view_that_a_resize_left_without_memory_says_so():
    x = facula.ones(100)
    view = x[50:]
    x.untyped_storage().resize_(40)
    for use in (lambda: view + 1, lambda: view.sum(), lambda: view.fill_(1), lambda: view.clone(), lambda: view @ view, lambda: view[facula.tensor([1])]):
        with pytest.raises(RuntimeError, match="40 bytes"):
            use()
    x.untyped_storage().resize_(400)

    assert [1.0] * 10 == x[:10].tolist()
    assert 50 == len(view.tolist())


@pytest.mark.parametrize("lend", ["numpy", "__array__", "__dlpack__"])
def test_lent_memory_stays_where_it_is(lend):
    t = facula.arange(2.0).resize_(3)
    t[2] = 2.0
    kept = getattr(t, lend)()
    assert not t.untyped_storage().resizable()
    with pytest.raises(RuntimeError, match="not resizable"):
        t.resize_(100_000)
    with pytest.raises(RuntimeError, match="not resizable"):
        t.untyped_storage().resize_(400_000)
    assert facula.from_dlpack(t).tolist() == [0.0, 1.0, 2.0] and kept is not None
    assert t.resize_(2).tolist() == [0.0, 1.0]


def test_borrowed_memory_is_not_resized():
    numpy = pytest.importorskip("numpy")
    storage = facula.from_numpy(numpy.zeros(3)).untyped_storage()

    assert not storage.resizable()
    with pytest.raises(RuntimeError, match="24 to 80"):
        storage.resize_(80)


def test_files_are_mapped(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(8))
    own = facula.from_file(str(path), size=2)
    own.fill_(1.0)
    assert bytes(8) == path.read_bytes()
    shared = facula.from_file(str(path), shared=True, size=4, dtype=facula.int32)
    shared.fill_(1)

    assert b"\1\0\0\0" * 4 == path.read_bytes()
    assert 4 == facula.IntStorage.from_file(str(path), size=4).size()
    with pytest.raises(RuntimeError, match="16 bytes"):
        facula.from_file(str(path), size=5)
    with pytest.raises(RuntimeError, match="No such file"):
        facula.from_file(str(tmp_path / "none"), size=1)


def test_the_default_type_is_set_by_name():
    try:
        facula.set_default_tensor_type("torch.DoubleTensor")
        assert facula.float64 is facula.Tensor([1]).dtype is facula.zeros(1).dtype
    finally:
        facula.set_default_tensor_type(facula.FloatTensor)
    assert facula.float32 is facula.zeros(1).dtype
