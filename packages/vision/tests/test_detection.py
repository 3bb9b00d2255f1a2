"""Detectors, tiny ones, beside what torchvision 0.28 gave for the same seeds (detection.json): losses, gradients, what is found."""

import json
import pathlib

import facula
import pytest
from facula import nn
from facula.vision import models, ops
from facula.vision.models import detection as D
from facula.vision.models.detection import AnchorGenerator, DefaultBoxGenerator, rcnn, ssd

STORED = json.loads((pathlib.Path(__file__).parent / "detection.json").read_text())


class TwoMaps(nn.Module):
    def __init__(self, planes):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, planes, 3, 4, 1), nn.Conv2d(planes, planes, 3, 2, 1)
        self.out_channels = planes

    def forward(self, x):
        x = self.a(x)
        return {"0": x, "1": self.b(x.relu())}


def anchors():
    return AnchorGenerator(((16,), (32,)), ((0.5, 1.0, 2.0),) * 2)


def pool(n):
    return ops.MultiScaleRoIAlign(["0", "1"], n, 2)


def stages():
    return {
        "min_size": 64, "max_size": 80, "rpn_anchor_generator": anchors(), "box_roi_pool": pool(3), "box_head": rcnn.TwoMLPHead(72, 16),
        "box_predictor": rcnn.FastRCNNPredictor(16, 4), "box_score_thresh": 0.0,
    }  # fmt: skip


def masks():
    return {"mask_roi_pool": pool(4), "mask_head": rcnn.MaskRCNNHeads(8, (6,), 1), "mask_predictor": rcnn.MaskRCNNPredictor(6, 5, 4)}


def points():
    return {"keypoint_roi_pool": pool(4), "keypoint_head": rcnn.KeypointRCNNHeads(8, (6,)), "keypoint_predictor": rcnn.KeypointRCNNPredictor(6, 5)}


CASES = {
    "faster": lambda: D.FasterRCNN(TwoMaps(8), **stages()),
    "mask": lambda: D.MaskRCNN(TwoMaps(8), **masks(), **stages()),
    "keypoint": lambda: D.KeypointRCNN(TwoMaps(8), **points(), **stages()),
    "retina": lambda: D.RetinaNet(TwoMaps(8), 4, 64, 80, anchor_generator=anchors(), score_thresh=0.0),
    "fcos": lambda: D.FCOS(TwoMaps(32), 4, 64, 80, anchor_generator=AnchorGenerator(((4,), (8,)), ((1.0,),) * 2), score_thresh=0.0),
    "ssd": lambda: ssd.SSD(TwoMaps(8), DefaultBoxGenerator([[2], [2, 3]]), (48, 64), 4, head=ssd.SSDHead([8, 8], [4, 6], 4)),
}


def picture(h, w):
    return (facula.linspace(-1, 1, 3 * h * w).sin().reshape(3, h, w) * 37 % 1).contiguous()


def true(boxes, labels, height, width):
    boxes = facula.tensor(boxes)
    y, x = facula.arange(height)[:, None], facula.arange(width)[None]
    along = facula.linspace(0, 1, 5)[None, :, None]
    places = boxes[:, None, :2] + along * (boxes[:, None, 2:] - boxes[:, None, :2])
    return {
        "boxes": boxes, "labels": facula.tensor(labels), "keypoints": facula.cat([places, facula.ones(len(boxes), 5, 1)], 2),
        "masks": facula.stack([((y > y1) & (x < x2)).to(facula.uint8) for _, y1, x2, _ in boxes.tolist()]),
    }  # fmt: skip


def total(tensors):
    return sum(t.double().abs().sum().item() for t in tensors)


@pytest.mark.parametrize("name", CASES)
def test_a_detector_learns_and_finds_as_torchvisions(name):
    stored = STORED[name]
    facula.manual_seed(3)
    net = CASES[name]()
    state = net.state_dict()
    images = [picture(50, 60), picture(45, 64)]
    targets = [true([[5.0, 5, 30, 35], [15, 2, 55, 45]], [1, 2], 50, 60), true([[2.0, 10, 50, 40]], [3], 45, 64)]
    before = total(state.values())
    facula.manual_seed(4)
    losses = net(images, targets)
    sum(losses.values()).backward()

    assert stored["keys"] == list(state)
    assert stored["sum"] == pytest.approx(before, rel=1e-6)
    assert stored["losses"] == pytest.approx({k: v.item() for k, v in losses.items()}, rel=2e-4)
    assert stored["grads"] == pytest.approx(total(p.grad for p in net.parameters() if p.grad is not None), rel=3e-3)
    with facula.no_grad():
        found = net.eval()(images)
    for theirs, ours in zip(stored["found"], found):
        assert {k: shape for k, (shape, _) in theirs.items()} == {k: list(v.shape) for k, v in ours.items()}
        assert theirs["scores"][1] == pytest.approx(total([ours["scores"]]), rel=1e-4)
        if name != "retina":  # whose scores are all but equal at first
            assert theirs["boxes"][1] == pytest.approx(total([ours["boxes"]]), rel=1e-4)


def test_pictures_without_true_boxes_cost_something():
    none = {"boxes": facula.zeros(0, 4), "labels": facula.zeros(0, dtype=facula.int64)}
    for name in ("faster", "retina", "fcos"):
        losses = CASES[name]()([picture(50, 60)], [none])

        assert all(v.isfinite() for v in losses.values())


def test_nothing_may_be_found():
    for name, threshold in (("mask", "roi_heads"), ("keypoint", "roi_heads"), ("retina", None), ("ssd", None)):
        net = CASES[name]().eval()
        setattr(net.roi_heads if threshold else net, "score_thresh", 2.0)

        assert all(len(v) == 0 for v in net([picture(50, 60)])[0].values())


def test_targets_are_checked():
    net = CASES["faster"]()
    with pytest.raises(AssertionError, match="training"):
        net([picture(50, 60)])
    with pytest.raises(AssertionError, match="positive height and width.*index 0"):
        net([picture(50, 60)], [{"boxes": facula.tensor([[5.0, 5, 5, 9]]), "labels": facula.tensor([1])}])
    with pytest.raises(AssertionError, match=r"\[N, 4\]"):
        net([picture(50, 60)], [{"boxes": facula.zeros(4), "labels": facula.tensor([1])}])
    with pytest.raises(TypeError, match="int64"):
        net([picture(50, 60)], [{"boxes": facula.tensor([[5.0, 5, 15, 9]]), "labels": facula.tensor([1.0])}])
    with pytest.raises(ValueError, match="3d"):
        net.eval()([facula.zeros(1, 3, 8, 8)])
    with pytest.raises(TypeError, match="floating"):
        net.eval()([facula.zeros(3, 8, 8, dtype=facula.uint8)])


def test_trained_layers_are_chosen_for_trained_networks_alone():
    with facula.device("meta"), pytest.warns(UserWarning, match="no effect"):
        D.fasterrcnn_mobilenet_v3_large_fpn(weights_backbone=None, trainable_backbone_layers=2)
    backbone = D._backbones.resnet_fpn_extractor(models.resnet18(), 2)

    assert {"layer3", "layer4"} == {n.split(".")[1] for n, p in backbone.named_parameters() if p.requires_grad and n.startswith("body.")}
    with pytest.raises(ValueError, match=r"\[0,5\], got 6"):
        D._backbones.resnet_fpn_extractor(models.resnet18(), 6)


def test_samples_of_a_cell_are_as_many_as_it_has_pixels():
    """Numbers of torchvision's own roi_align."""
    x = (facula.arange(2 * 3 * 12 * 14.0).sin()).reshape(2, 3, 12, 14).requires_grad_()
    rois = facula.tensor([[0, 3.0, 2.0, 40.0, 30.0], [1, -5.0, 10.0, 9.0, 60.0]])
    out = ops.roi_align(x, rois, (2, 3), 0.4, -1, True)
    out.cos().sum().backward()

    assert STORED["roi_align"] == pytest.approx([out.sum().item(), out[1, 2].flatten()[2].item(), x.grad.abs().sum().item()], rel=1e-4)


@pytest.mark.parametrize("loss", ["complete_box_iou_loss", "distance_box_iou_loss", "generalized_box_iou_loss"])
def test_losses_of_boxes(loss):
    a = facula.tensor([[0.0, 0, 4, 6], [1, 1, 3, 2]], requires_grad=True)
    value = getattr(ops, loss)(a, facula.tensor([[1.0, 2, 5, 5], [7, 7, 9, 12]]), reduction="sum")
    value.backward()

    assert STORED[loss] == pytest.approx([value.item(), a.grad.abs().sum().item()], rel=1e-5)


def test_nms_of_many_goes_by_classes():
    boxes = (facula.arange(1200 * 4.0).sin().abs() * 50).reshape(1200, 4)
    boxes = facula.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:] / 3 + 1], 1)
    kept = ops.batched_nms(boxes, facula.arange(1200.0).cos(), facula.arange(1200) % 3, 0.3)

    assert STORED["batched_nms"] == [len(kept), kept[:50].tolist()]
