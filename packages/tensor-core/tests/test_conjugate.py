"""Conjugate and negative views: every row gives for them what it gives for tensors in which all is done, wherever they stand among its operands."""

import itertools

import pytest
from oracles import ORACLES
from oracles.compare import values
from oracles.dtypes import COMPLEX_NAMES, dtypes_of
from oracles.layouts import contiguous, transposed
from oracles.samples import Sample, cases_of

import facula
from facula.tensor_core import extend

CONJ, NEG = 1, 2
# rows that see memory as another dtype, and so refuse: which bits
REFUSED = {"real_view": CONJ, "view_dtype": CONJ | NEG}
UNSET = {"empty_like"}  # nothing to compare
OF_OTHER_DTYPES = ("int64", "float16", "float32")


KERNELS = [
    (name, dtype, bits)
    for name, op in sorted(extend.ops.items())
    if name in ORACLES and not ORACLES[name].by
    for dtype in dtypes_of(op, ORACLES[name])
    if dtype in COMPLEX_NAMES or dtype in OF_OTHER_DTYPES
    for bits in ((CONJ, CONJ | NEG) if dtype == "complex64" else (CONJ,) if dtype == "complex128" else (NEG,))
]


def seen(t, bits):
    return facula._neg_view(facula._conj(t) if bits & CONJ else t) if bits & NEG else facula._conj(t) if bits & CONJ else t


def lazy(t, bits):
    """A tensor of t's values (those whose change and change back is nothing), strides kept, that has the bits which its dtype can have."""
    bits &= (CONJ | NEG) if t.is_complex() else 0 if t.dtype == facula.bool else NEG
    view = seen(seen(t, bits).clone(), bits)

    assert bits == view.is_conj() | view.is_neg() << 1
    return view


def tensors_of(value):
    return value if isinstance(value, (list, tuple)) else [value]


def mapped(value, f):
    if isinstance(value, (list, tuple)) and any(isinstance(v, Sample) for v in value):
        return type(value)(mapped(v, f) for v in value)
    return f(value) if isinstance(value, Sample) else value


def written(op, arguments):
    return [t for p, a in zip(op.params, arguments) if "!" in p.type or op.kind in ("random",) and p.name == "input" for t in tensors_of(a)]


def results(op, arguments, **out):
    """All that a call leaves: its results, and what it wrote."""
    found = extend.call(op, *arguments, **out)
    return [*(found if isinstance(found, (tuple, list)) else [] if found is None else [found]), *written(op, arguments)]


def same(expected, actual, what):
    assert len(expected) == len(actual), what
    for e, a in zip(expected, actual):
        if not isinstance(e, facula.Tensor):
            assert e == a, what
            continue
        assert (e.dtype, e.shape) == (a.dtype, a.shape), what
        (x, _), (y, _) = values(e.resolve_conj().resolve_neg()), values(a.resolve_conj().resolve_neg())
        assert repr(x.tolist() if hasattr(x, "tolist") else x) == repr(y.tolist() if hasattr(y, "tolist") else y), what


def positions(op, arguments):
    """Which of the tensor arguments are lazy: each alone, then all."""
    there = [k for k in op.tensors if any(isinstance(v, Sample) and v.dtype != "bool" for v in tensors_of(arguments[k]))]
    return [*([k] for k in there), there] if len(there) > 1 else [there]


def made(op, arguments, which, bits, layout):
    def place(k, sample):
        t = layout(sample)[1]
        return lazy(t, bits) if k in which else t

    return [mapped(a, lambda s, k=k: place(k, s)) for k, a in enumerate(arguments)]


@pytest.mark.parametrize("name,dtype,bits", KERNELS)
def test_row_of_lazy_operands(name, dtype, bits):
    op = extend.ops[name]
    for case, arguments in itertools.islice(cases_of(op, ORACLES[name], dtype), 6):
        for which in positions(op, arguments):
            for layout in (contiguous, transposed) if ORACLES[name].layouts else (contiguous,):
                what = f"{name}, {dtype}, {case}, {layout.__name__}, arguments {which}"
                # the same values, once more through the bits: NaN's sign bit and such are as there
                plain = made(op, arguments, (), 0, layout)
                twice = [resolved(a) for a in made(op, arguments, which, bits, layout)]
                expected = results(op, twice if which else plain)
                lazies = made(op, arguments, which, bits, layout)
                if bits & REFUSED.get(name, 0):
                    with pytest.raises(RuntimeError, match="resolve_"):
                        results(op, lazies)
                    continue
                same(expected, results(op, lazies), what)


def resolved(value):
    if isinstance(value, (list, tuple)):
        return type(value)(resolved(v) for v in value)
    return value.resolve_conj().resolve_neg() if isinstance(value, facula.Tensor) else value


MAPS = [(n, d, b) for n, d, b in KERNELS if extend.ops[n].kind in ("map1", "map2", "map3")]


@pytest.mark.parametrize("name,dtype,bits", MAPS)
def test_map_written_into_a_lazy_view(name, dtype, bits):
    """out= and in place: the memory behind the view holds the result conjugated or negated."""
    op = extend.ops[name]
    case, arguments = next(iter(cases_of(op, ORACLES[name], dtype)))
    plain = made(op, arguments, (), 0, contiguous)
    result = extend.call(op, *plain)
    if result.dtype == facula.bool:
        return
    out = lazy(facula.zeros_like(result), bits)
    same([result], [extend.call(op, *plain, out=out)], name)
    assert bits & (3 if result.is_complex() else NEG) == out.is_conj() | out.is_neg() << 1
    same([result], [out], name)

    x = plain[op.tensors[0]]
    if isinstance(x, facula.Tensor) and (result.dtype, result.shape) == (x.dtype, x.shape):
        target = lazy(x, bits)
        same([extend.call(op, resolved(target), *plain[1:])], [extend.call(op, target, *plain[1:], out=target)], name)


OUT = [(n, d, b) for n, d, b in KERNELS if extend.ops[n].kind in ("fold", "scan", "dot", "gather") and d in COMPLEX_NAMES]


@pytest.mark.parametrize("name,dtype,bits", OUT)
def test_result_written_into_a_lazy_view(name, dtype, bits):
    op = extend.ops[name]
    case, arguments = next(iter(cases_of(op, ORACLES[name], dtype)))
    plain = made(op, arguments, (), 0, contiguous)
    result = extend.call(op, *plain)
    if isinstance(result, tuple) or result.dtype == facula.bool:
        return
    out = lazy(facula.zeros_like(result), bits)
    extend.call(op, *plain, out=out)

    same([result], [out], name)


RANDOM = [n for n, op in extend.ops.items() if op.kind == "random" and n in facula.Tensor.__dict__]


@pytest.mark.parametrize("name", RANDOM)
def test_random_fill_of_a_negative_view(name):
    numbers = [0.25 if p.type == "float" else k + 1 for k, p in enumerate(extend.ops[name].params[1:]) if p.type in ("float", "int")]
    plain, view = facula.full((3, 4), 0.5), lazy(facula.full((3, 4), 0.5), NEG)
    facula.manual_seed(3)
    getattr(plain, name)(*numbers)
    facula.manual_seed(3)
    getattr(view, name)(*numbers)

    same([plain], [view], name)
    assert view.is_neg()


# --- the views themselves ---------------------------------------------------------------------------------------------


def z():
    return facula.tensor([[1 + 2j, 3 - 4j, 5j], [0.5 - 1j, 2, -1 + 1j]])


VIEWS = {
    "t": lambda x: x.t(), "select": lambda x: x[0], "slice": lambda x: x[:, ::2], "view": lambda x: x.view(6), "expand": lambda x: x.expand(4, 2, 3),
    "permute": lambda x: x.permute(1, 0), "unsqueeze": lambda x: x[None], "squeeze": lambda x: x.squeeze(), "diagonal": lambda x: x.diagonal(), "alias": lambda x: x.view_as(x),
    "unfold": lambda x: x.unfold(1, 2, 1), "as_strided": lambda x: x.as_strided((2,), (1,)), "detach": lambda x: x.detach(), "data": lambda x: x.data,
    "unbind": lambda x: x.unbind()[1], "split": lambda x: x.split(1)[1], "chunk": lambda x: x.chunk(2)[0], "narrow": lambda x: x.narrow(1, 1, 2), "flatten": lambda x: x.flatten(),
    "reshape": lambda x: x.reshape(3, 2), "movedim": lambda x: x.movedim(0, 1), "contiguous": lambda x: x.contiguous(), "to": lambda x: x.to(x.dtype), "index": lambda x: x[..., 1, None],
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_a_conjugate_are_conjugate(name):
    base = z()
    view = VIEWS[name](base.conj())

    assert view.is_conj() and view.untyped_storage().data_ptr() == base.data_ptr()
    same([VIEWS[name](base.conj().resolve_conj())], [view], name)


COPIES = {
    "clone": lambda x: x.clone(), "resolve_conj": lambda x: x.resolve_conj(), "conj_physical": lambda x: x.conj_physical(), "to complex128": lambda x: x.to(facula.complex128),
    "t contiguous": lambda x: x.t().contiguous(), "t reshape": lambda x: x.t().reshape(6), "index": lambda x: x[[0]], "add": lambda x: x + 1, "neg": lambda x: -x, "cat": lambda x: facula.cat([x, x]),
    "to copy": lambda x: x.to(x.dtype, copy=True), "tensor": lambda x: x.new_tensor(x.tolist()), "flip": lambda x: x.flip(0), "repeat": lambda x: x.repeat(2, 1), "sum": lambda x: x.sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", COPIES)
def test_results_are_not_conjugate(name):
    base = z()

    assert not COPIES[name](base.conj()).is_conj()
    same([COPIES[name](base.conj().resolve_conj())], [COPIES[name](base.conj())], name)


WRITES = {
    "mul_": lambda x: x.mul_(2j), "add_ alpha": lambda x: x.add_(z(), alpha=2), "fill_": lambda x: x.fill_(1 + 2j), "fill real": lambda x: x.fill_(3), "zero_": lambda x: x.zero_(), "copy_": lambda x: x.copy_(z()[0]),
    "copy conj": lambda x: x.copy_(z().conj()), "copy real": lambda x: x.copy_(facula.ones(2, 3)), "setitem": lambda x: x.__setitem__(0, 5j), "setitem mask": lambda x: x.__setitem__(x.real > 0, 1 - 1j),
    "setitem tensor": lambda x: x.__setitem__((slice(None), 1), facula.tensor([1j, 2j])), "setitem list": lambda x: x.__setitem__([0], 7j), "index_put_": lambda x: x.index_put_((facula.tensor([0, 0]),), facula.tensor(1 + 1j), accumulate=True),
    "conj_physical_": lambda x: x.conj_physical_(), "neg_": lambda x: x.neg_(), "masked_fill_": lambda x: x.masked_fill_(facula.tensor([True, False, True]), 1j), "index_add_": lambda x: x.index_add_(0, facula.tensor([1]), z()[:1]),
    "index_fill_": lambda x: x.index_fill_(1, facula.tensor([2]), 4j), "index_copy_": lambda x: x.index_copy_(0, facula.tensor([0]), z()[1:]), "scatter_": lambda x: x.scatter_(0, facula.tensor([[1]]), facula.tensor([[9j]])),
    "imag": lambda x: setattr(x, "imag", 7), "real": lambda x: setattr(x, "real", facula.ones(3)), "row": lambda x: x[1].mul_(1j), "imag mul_": lambda x: x.imag.mul_(2), "imag slice": lambda x: x.imag[0].fill_(4), "addmm_": lambda x: x.t().addmm_(z().t(), z() @ z().t()) if False else x.addcmul_(z(), z()),
    "masked_scatter_": lambda x: x.masked_scatter_(facula.tensor([True, False, True]), z()), "put_": lambda x: x.put_(facula.tensor([0, 5]), facula.tensor([1j, 2j])), "itself": lambda x: x.copy_(x.conj()), "add itself": lambda x: x.add_(x.conj()), "fill_diagonal_": lambda x: x.fill_diagonal_(1j),
    "lerp_": lambda x: x.lerp_(z(), 0.5), "pow_": lambda x: x.pow_(2), "cumsum_": lambda x: x.cumsum_(0), "tril_": lambda x: x.tril_(), "sub_": lambda x: x.sub_(1), "isub": lambda x: x.__isub__(z().conj()), "_foreach": lambda x: facula._foreach_mul_([x, x[0]], 2j) if hasattr(facula, "_foreach_mul_") else x.mul_(1),
}  # fmt: skip


@pytest.mark.parametrize("turn", [lambda x: x.conj(), facula._neg_view, lambda x: facula._neg_view(x.conj()), lambda x: x.conj()[:, :3]], ids=["conj", "neg", "both", "slice"])
@pytest.mark.parametrize("name", WRITES)
def test_a_write_through_a_view_reaches_the_memory(name, turn):
    base = z()
    view = turn(base)
    expected = view.clone()
    WRITES[name](expected)
    version = base._version
    WRITES[name](view)

    same([expected], [view], name)
    same([turn(expected)], [base], name)
    assert base._version > version


def test_a_write_to_the_base_is_seen_conjugated():
    base = z()
    view, part = base.conj(), base.conj().imag
    base[0, 0] = 3 + 4j

    assert (3 - 4j, -4.0) == (view[0, 0].item(), part[0, 0].item())


def test_bits_as_pytorch_has_them():
    x, r = z(), facula.ones(2)
    c = x.conj()

    assert [True, False] == [c.is_conj(), c.conj().is_conj()]
    assert [True, True, True] == [x.mH.is_conj(), x.H.is_conj(), x.adjoint().is_conj()]
    assert [True, False] == [c.imag.is_neg(), c.real.is_neg()]
    assert [False, True] == [facula._neg_view(c).imag.is_neg(), facula._neg_view(c).real.is_neg()]
    assert facula.view_as_real(facula._neg_view(x)).is_neg() and facula.view_as_complex(facula._neg_view(facula.ones(2, 2))).is_neg()
    assert r.conj() is r and r.resolve_conj() is r and r.resolve_neg() is r and x.resolve_conj() is x
    assert c.data_ptr() == x.data_ptr() and c._base is x and c._is_view() and c.imag._base is x
    assert facula.is_conj(c) and not facula.is_conj(x) and facula.is_neg(c.imag) and not facula.is_neg(c)
    assert c.is_contiguous() and c.contiguous() is c and c.cpu() is c and c.to(facula.complex64) is c
    assert [False, False] == [facula.empty_like(c).is_conj(), c.new_empty(2).is_conj()]


@pytest.mark.parametrize("how", [lambda c: facula.view_as_real(c), lambda c: c.view(facula.float32), lambda c: c.view(facula.complex64), lambda c: c.imag.view(facula.int32), lambda c: c.numpy(), lambda c: c.imag.numpy()])
def test_memory_that_others_would_misread_is_refused(how):
    with pytest.raises(RuntimeError, match="resolve_|bit set"):
        how(z().conj())


def test_numpy_by_force_is_a_copy_with_all_done():
    x = z()

    assert x.numpy().conj().tolist() == x.conj().numpy(force=True).tolist()
    assert (-x.numpy().imag).tolist() == x.conj().imag.numpy(force=True).tolist()


@pytest.mark.parametrize("part", [lambda c: c, lambda c: c.imag])
def test_dlpack_refuses_both_bits(part):
    with pytest.raises(BufferError, match="bit set"):
        part(z().conj()).__dlpack__()


def test_copies_of_the_object():
    import copy
    import pickle

    c = z().conj()
    part = c.imag

    assert [True, True] == [copy.copy(c).is_conj(), pickle.loads(pickle.dumps(c)).is_conj()]
    assert [False, False] == [copy.deepcopy(c).is_conj(), copy.deepcopy(part).is_neg()]
    for made in (copy.copy(c), pickle.loads(pickle.dumps(c)), copy.deepcopy(c)):
        same([c], [made], "object")
    same([part, part], [copy.deepcopy(part), pickle.loads(pickle.dumps(part))], "part")


def test_files_keep_the_bits(tmp_path):
    from facula import safetensors

    x = z()
    facula.save({"x": x, "c": x.conj(), "i": x.conj().imag.clone(), "n": facula._neg_view(facula.ones(2))}, tmp_path / "a.pt")
    found = facula.load(tmp_path / "a.pt")
    safetensors.save_file({"c": x.conj()}, tmp_path / "a.safetensors")

    assert found["c"].is_conj() and found["n"].is_neg() and found["c"].data_ptr() == found["x"].data_ptr()
    same([x.conj(), -facula.ones(2), x.conj()], [found["c"], found["n"], safetensors.load_file(tmp_path / "a.safetensors")["c"]], "file")


def test_storages_are_bytes_as_they_lie():
    x = z()

    assert x.untyped_storage().tolist() == x.conj().untyped_storage().tolist()
    assert x.reshape(-1).tolist() == x.conj().storage().tolist()


def test_set_and_resize_keep_the_bit():
    x, c = z(), z().conj()

    assert c.set_(x).is_conj() and not z().set_(x.conj()).is_conj()
    assert z().conj().resize_(3).is_conj()


def test_printed_values_are_those_of_the_view():
    assert repr(z().conj().clone()) == repr(z().conj()) and repr(z().conj().imag.clone()) == repr(z().conj().imag)


def test_comparisons_and_reads():
    c = z().conj()

    assert facula.equal(c, c.clone()) and not facula.equal(c, z()) and c[0, 1].item() == 3 + 4j and 3 + 4j == complex(c[0, 1])
    assert facula.nonzero(c.imag).tolist() == facula.nonzero(c.imag.clone()).tolist() and 5 == facula.count_nonzero(c.imag).item()
    assert c.imag[c.imag > 0].tolist() == [4.0, 1.0] and bool(c[0, 0])


def test_a_meta_tensor_has_the_bit_too():
    x = facula.empty(2, 3, dtype=facula.complex64, device="meta")

    assert x.conj().is_conj() and (2, 3) == (x.conj() + 1).shape and (3, 3) == (x.mH @ x).shape and x.conj().imag.is_neg()


def test_a_resized_storage_moves_below_a_conjugate():
    x = z().reshape(-1).clone()
    c = x.conj()
    x.resize_(1000)

    assert [1 - 2j, 3 + 4j] == c[:2].tolist() and 1 - 2j == (c * 1)[0].item()


def test_a_conjugate_among_many_tensors():
    many = [z() for _ in range(20)]
    lazies = [t.conj() if k % 3 else t for k, t in enumerate(many)]

    same([facula.stack([t.resolve_conj() for t in lazies])], [facula.stack(lazies)], "stack")
