"""Boxes, regions of interest, grids and files of pictures."""

import io
import pickle
import zlib

import facula
import numpy as np
import pytest
from facula.vision import datasets, ops, utils

BOXES = facula.tensor([[0.0, 0.0, 4.0, 4.0], [2.0, 2.0, 6.0, 6.0], [0.5, 0.0, 4.0, 4.0], [8.0, 8.0, 9.0, 10.0]])


def near(expected, actual):
    return np.allclose(expected, actual.numpy(), atol=1e-6)


def test_areas_and_overlaps():
    iou = ops.box_iou(BOXES, BOXES)

    assert [16.0, 16.0, 14.0, 2.0] == ops.box_area(BOXES).tolist()
    assert near([1, 4 / 28, 14 / 16, 0], iou[0])
    assert near(4 / 28 - (36 - 28) / 36, ops.generalized_box_iou(BOXES, BOXES)[0, 1])
    assert near(4 / 28 - 8 / 72, ops.distance_box_iou(BOXES, BOXES)[0, 1])
    assert near(2 - (4 / 28 - 8 / 36), ops.generalized_box_iou_loss(BOXES[:1], BOXES[1:2], "sum") + 1)


@pytest.mark.parametrize("a", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("b", ["xyxy", "xywh", "cxcywh"])
def test_box_formats_go_there_and_back(a, b):
    assert near(BOXES, ops.box_convert(ops.box_convert(BOXES, a, b), b, a))
    assert [2.0, 2.0, 4.0, 4.0] == ops.box_convert(BOXES[:1], "xyxy", "cxcywh")[0].tolist()


def test_box_formats_are_checked():
    with pytest.raises(ValueError, match="polar"):
        ops.box_convert(BOXES, "xyxy", "polar")


def test_nms_keeps_the_best_of_what_overlaps():
    scores = facula.tensor([0.5, 0.6, 0.9, 0.1])

    assert [2, 1, 3] == ops.nms(BOXES, scores, 0.5).tolist()
    assert [2, 3] == ops.nms(BOXES, scores, 0.1).tolist()
    assert [2, 1, 0, 3] == ops.batched_nms(BOXES, scores, facula.tensor([0, 0, 1, 0]), 0.5).tolist()
    with pytest.raises(RuntimeError, match="nms"):
        ops.nms(BOXES, scores[:2], 0.5)


def test_boxes_are_clipped_and_small_ones_found():
    assert [[2.0, 2.0, 5.0, 6.0]] == ops.clip_boxes_to_image(BOXES[1:2], (7, 5)).tolist()
    assert [0, 1, 2] == ops.remove_small_boxes(BOXES, 2).tolist()
    assert [[1.0, 0.0, 2.0, 1.0]] == ops.masks_to_boxes(facula.tensor([[[0, 1, 0], [0, 1, 1]]])).tolist()


def test_roi_align_reads_a_plane_exactly():
    plane = (facula.arange(8.0).reshape(8, 1) * 10 + facula.arange(8.0)).reshape(1, 1, 8, 8).requires_grad_()
    out = ops.roi_align(plane, [facula.tensor([[1.0, 1.0, 5.0, 5.0]])], 2, sampling_ratio=2)
    out.sum().backward()

    assert near([[[[22, 24], [42, 44]]]], out.detach())
    assert near(4, plane.grad.sum())
    assert near(
        out.detach() - 5.5,
        ops.roi_align(plane.detach(), facula.tensor([[0, 1.0, 1.0, 5.0, 5.0]]), 2, sampling_ratio=2, aligned=True),
    )


def test_roi_pool_takes_the_largest():
    plane = facula.arange(16.0).reshape(1, 1, 4, 4)

    assert [[5.0, 7.0], [13.0, 15.0]] == ops.roi_pool(plane, facula.tensor([[0.0, 0, 0, 3, 3]]), 2)[0, 0].tolist()


def test_focal_loss_is_cross_entropy_at_gamma_zero():
    x, y = facula.randn(5), facula.tensor([0.0, 1, 1, 0, 1])
    expected = facula.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none")

    assert near(expected, ops.sigmoid_focal_loss(x, y, alpha=-1, gamma=0))


def test_stochastic_depth_drops_rows():
    out = ops.stochastic_depth(facula.ones(50, 2), 0.5, "row")

    assert {0.0, 2.0} == set(out.reshape(-1).tolist())
    assert facula.equal(out[:, 0], out[:, 1])


def test_grid_sets_pictures_side_by_side():
    grid = utils.make_grid(facula.arange(3.0).reshape(3, 1, 1, 1), nrow=2, padding=1, pad_value=9)

    assert (3, 5, 5) == tuple(grid.shape)
    assert [[9, 0, 9, 1, 9], [9, 9, 9, 9, 9], [9, 2, 9, 9, 9]] == grid[0, 1:4].tolist()


def test_png_holds_the_pixels():
    file = io.BytesIO()
    utils.save_image(facula.tensor([[[0.0, 1.0]], [[0.5, 0.0]], [[1.0, 0.25]]]), file)
    data = file.getvalue()
    start = data.index(b"IDAT") + 4

    assert b"\0" + bytes([0, 128, 255, 255, 0, 64]) == zlib.decompress(data[start : data.index(b"IEND") - 8])


def test_fake_data_is_the_same_at_every_visit():
    data = datasets.FakeData(3, (1, 4, 4), 5)
    facula.manual_seed(1)
    state = facula.get_rng_state()

    assert 3 == len(data)
    assert np.array_equal(np.asarray(data[1][0]), np.asarray(data[1][0]))
    assert facula.equal(state, facula.get_rng_state())
    with pytest.raises(IndexError):
        data[3]


class Small(datasets.CIFAR10):
    train_list = [["data_batch_1", None]]


def test_cifar_reads_its_own_files_and_nothing_that_runs(tmp_path):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    pixels = np.arange(2 * 3072, dtype=np.uint16).astype(np.uint8).reshape(2, 3072)
    (folder / "data_batch_1").write_bytes(pickle.dumps({"data": pixels, "labels": [3, 1]}, protocol=2))
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": ["a", "b"]}, protocol=2))
    data = Small(tmp_path)

    assert (2, 32, 32, 3) == tuple(data.data.shape)
    assert np.array_equal(pixels[1].reshape(3, 32, 32).transpose(1, 2, 0), data[1][0])
    assert 1 == data[1][1]
    (folder / "batches.meta").write_bytes(pickle.dumps(print))
    with pytest.raises(RuntimeError, match="print"):
        Small(tmp_path)
    # an array of objects over bytes would be an array of pointers of the file's choice
    for bad in (np.zeros((2, 3072)), np.zeros((2, 3072), object), pixels.T, [1]):
        (folder / "data_batch_1").write_bytes(pickle.dumps({"data": bad, "labels": [3, 1]}, protocol=2))
        with pytest.raises(RuntimeError, match="uint8|no data"):
            Small(tmp_path)
    with pytest.raises(RuntimeError, match="data_batch_2"):
        datasets.CIFAR10(tmp_path)
