"""Sizes, strides and lists whose arithmetic leaves 64 bits, or that are not there: each is refused, and no memory is read or written."""

import pytest

import facula
from facula import ones, tensor  # noqa: F401 - the words of the table
from facula.tensor_core import _ops  # noqa: F401 - one more

FAR, HALF = 2**63 - 1, 2**62
ONE = (1, 1, 1)
IMAGE, KERNEL = facula.ones(1, 1, 5, 5), facula.ones(1, 1, 3, 3)
NO_PLACES = facula.zeros(2, 0, dtype=facula.int64)
WRAPS = 0x6DB6DB6DB6DB6DB7  # times 7 is 1 in 64 bits

REFUSED = [
    "ones(2, 3).t()[None].expand(2**40, 3, 2).reshape(-1)", "ones(2, 3).t()[None].expand(2**40, 3, 2).flatten()", "ones(2, 3).t()[None].expand(2**40, 3, 2).contiguous()",
    "ones(5).as_strided((2,), (FAR,))", "ones(5).as_strided((3,), (HALF,))", "ones(5).as_strided((HALF, HALF), (0, 0))", "ones(5).as_strided((2,), (1,), FAR)",
    "ones(5).view(facula.int8).as_strided((2,), (FAR,))", "ones(1).expand(FAR, FAR)", "ones(1).expand(HALF, 4)", "ones(1).view(7, WRAPS)", "ones(0).view(HALF, 4)",
    "_ops.slice(ones(5), 0, 0, HALF + 1, 4)", "ones((1,) * 64).unfold(0, 1, 1)", "facula.cat([ones(1).expand(HALF)] * 4)", "facula.cat([ones(1).expand(HALF)] * 4 + [ones(3)])",
    "_ops.constant_pad_nd(ones(5), (FAR, FAR), 1.0)", "_ops.constant_pad_nd(ones(5, 5), (-FAR, -FAR), 1.0)",
    "_ops.constant_pad_nd(ones(5), (-FAR - 1, FAR), 1.0)", "_ops.constant_pad_nd(ones(5), (-FAR - 1, -FAR - 1), 1.0)",
    "_ops.max_pool(IMAGE, (1, 3, 3), (1, FAR, FAR), (0, 1, 1), ONE, True)", "_ops.max_pool(IMAGE, (1, 3, 3), ONE, (0, 1, 1), (1, HALF, HALF), False)",
    "_ops.avg_pool(IMAGE, (1, FAR, FAR), ONE, (0, HALF, HALF), False, True, 0)", "_ops.avg_pool(IMAGE, (1, 2**40, 2**40), (1, 2**40, 2**40), (0, 2**39, 2**39), True, True, 0)",
    *(f"_ops.convolution(IMAGE, KERNEL, None, {how}, {transposed}, (0, 0, 0), 1)" for transposed in (False, True)
      for how in ("ONE, (0, FAR, FAR), ONE", "ONE, (0, HALF, HALF), ONE", "ONE, (0, 1, 1), (1, FAR, FAR)", "(1, FAR, FAR), (0, 1, 1), ONE", "(1, HALF, HALF), (0, 1, 1), ONE")),
    "_ops.convolution(IMAGE, KERNEL, None, ONE, (0, 1, 1), ONE, True, (0, FAR, FAR), 1)", "_ops.convolution_grad_input(IMAGE, KERNEL, (1, HALF, 4), ONE, (0, 1, 1), ONE, False, 1)",
    "_ops.convolution_grad_weight(IMAGE, IMAGE, (1, 3, 3), ONE, (0, FAR, FAR), ONE, False, 1)",
    "_ops.stack([], 0)", "_ops.cat([], 0)", "_ops.index(ones(4, 5), [tensor([1])], 0b101)", "_ops.index_put_rows_(ones(4, 5), [], ones(1), -1, True)",
    "_ops._adadelta_([ones(3)], [ones(3)], [], [ones(3)], [ones(())], 0.1, 0.1, 0.1, 0.1, True, False)", "_ops._sgd_([ones(3)], [ones(3)], [], 0.1, 0.9, 0.0, 0.0, False, False, True)",
    "_ops._rmsprop_([ones(3)], [ones(3)], [], [], [], [ones(())], 0.1, 0.0, 0.9, 0.1, 0.9, True, False)", "_ops._muon_([ones(3, 3)], [ones(3, 3)], [], 0.1, 0.0, 0.9, 3.0, -4.0, 2.0, 1e-7, 3, True, True)",
    "_ops._muon_([ones(3, 3)], [ones(3, 3)], [ones(3, 3)], 0.1, 0.0, 0.9, 3.0, -4.0, 2.0, 1e-7, FAR, True, True)", "_ops.as_strided(ones(12), [3, 4], [4], 7)",
    "facula.as_strided_scatter(ones(12), ones(3, 4), (3, 4), (4,))",
    *(f"_ops._layer_norm_backward(ones(4, 3, 5), ones(4, 3, 5), ones(4), ones(4), ones(3, 5), {dims})" for dims in (2**31 - 1, -(2**31))),
    # a gradient of narrower elements is read past its end
    *(f"_ops.{row}(ones(4, 5, 8, dtype=facula.int32), ones(4, 5, 8, dtype=facula.float64), {rest})" for row, rest in (
        ("_layer_norm_backward", "*[ones(4, 5, dtype=facula.float64)] * 2, None, 1"), ("_rms_norm_backward", "ones(4, 5, dtype=facula.float64), None, 1"),
        ("_group_norm_backward", "*[ones(4, 1, dtype=facula.float64)] * 2, None, 1"), ("_batch_norm_backward", "*[ones(5, dtype=facula.float64)] * 2, None, True"))),
    "_ops._triangle_indices(4, FAR, 4, True, facula.uint8)", "_ops._triangle_indices(FAR, FAR, 0, False, facula.int64)", "_ops.linspace_of(3, None, 0.0, 1.0)",
    "_ops._layer_norm(ones(4, 7), None, None, 3, 1e-5)", "_ops._rms_norm(ones(4, 7), None, 100, 1e-5)", "_ops._rms_norm_backward(*[ones(4, 7)] * 2, ones(4), None, 63)",
    "_ops._layer_norm_backward(*[ones(4, 7)] * 2, ones(4), ones(4), None, 5)",
    *(f"ones(2).set_(ones(8).untyped_storage(), {where})" for where in (f"{2**64}, [5], [1]", f"0, [{2**64}]", f"0, [2], [{2**64}]", "0, [FAR, HALF]", "FAR, [2]", "0, [2], [HALF]")),
    "ones(2).untyped_storage().resize_(FAR + 1)", "ones(2).untyped_storage().resize_(-1)", "ones(2).untyped_storage().__setitem__(8, 1)", "ones(2).untyped_storage().__setitem__(-1, 1)",
    *(f"facula.sparse_coo_tensor({given})" for given in ("(-5,)", "(HALF, 4)", "NO_PLACES, ones(0), (HALF, -4)", "NO_PLACES, ones(0), (HALF, 4)", f"NO_PLACES, ones(0), ({2**64}, 0)")),
    *(f"facula.sparse_{kind}_tensor(tensor([0, 0]), NO_PLACES[0], ones(0{block}), {size})" for kind, block, size in (
        ("csr", "", (1, -4)), ("csc", "", (-4, 1)), ("csr", "", (1, 2**64)), ("bsr", ", 2, 2", (2, -4)), ("bsc", ", 2, 2", (-4, 2)))),
    "_ops._rnn_backward(ones(9, 4), None, None, ones(9, 4), ones(9, 20), ones(3, 4), None, ones(16, 4), None, tensor([3, 3, 2, 1]), 2, False)",
]  # fmt: skip


@pytest.mark.parametrize("program", REFUSED)
def test_what_leaves_64_bits_or_is_missing_is_refused(program):
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        eval(program)


FULL = [
    "facula.empty(LOTS)", "facula.zeros(LOTS)", "facula.full((LOTS,), 2)", "facula.rand(LOTS)", "facula.arange(LOTS)", "facula.eye(2**23)", "facula.empty_like(WIDE)", "facula.zeros_like(WIDE)",
    "facula.full_like(WIDE, 3)", "facula.empty_like(WIDE, dtype=facula.int64)", "WIDE.new_zeros(LOTS)", "WIDE.clone()", "WIDE.contiguous()", "WIDE.double()", "WIDE.sort()", "WIDE + 1", "WIDE.nonzero()",
    "WIDE.view(2**23, 2**23).t().contiguous()", "facula.quantile(WIDE.view(2**23, 2**23), 0.5, 0)", "facula.cdist(ones(2**23, 1), ones(2**23, 1))", "ones(3).repeat(LOTS)", "facula.tril_indices(2**23, 2**23)",
    "facula.bincount(tensor([LOTS]))", "facula.empty_permuted((2**23, 2**23), (1, 0))", "WIDE.softmax(0)", "ones(2).resize_(LOTS)", "ones(2).untyped_storage().resize_(4 * LOTS)", "ones(2).set_(ones(8).untyped_storage(), LOTS, [2])",
    "ones(4).tensor_split(HALF)", "ones(2, 0).chunk(HALF, 1)", "ones(2, 0).unsafe_chunk(HALF, 1)", "ones(2**23, 1) @ ones(1, 2**23)",
]  # fmt: skip
LOTS = 2**46  # a system that promises all memory that it is asked for maps no more than 2**47 bytes
WIDE = ones(1).expand(LOTS)


@pytest.mark.parametrize("program", FULL)
def test_more_memory_than_there_is_is_refused_in_words(program):
    with pytest.raises(facula.OutOfMemoryError, match="memory"):
        eval(program)


@pytest.mark.parametrize("program,shape", [("ones(5).as_strided((0,), (FAR,))", (0,)), ("ones(5).as_strided((HALF,), (0,))", (HALF,)), ("ones(1).expand(2**40, 2**40, 0)", (2**40, 2**40, 0)),
                                           ("ones(0).view(HALF, 4, 0)", (HALF, 4, 0)), ("facula.zeros(2, FAR, 0)", (2, FAR, 0)), ("ones(5).as_strided((0,), (0,), HALF)", (0,)),
                                           ("ones(2).set_(ones(8).untyped_storage(), 0, [4, 2], [])", (4, 2)), ("ones(4, 4)[::FAR]", (1, 4)), ("_ops.slice(ones(5), 0, 0, 1, FAR)", (1,))])  # fmt: skip
def test_large_sizes_of_nothing_are_sizes(program, shape):
    assert shape == tuple(eval(program).shape)


def test_strides_of_no_elements_may_be_any():
    assert [] == facula.ones(1).as_strided((0, HALF), (9, 9)).tolist()
