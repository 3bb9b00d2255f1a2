"""Masks and keypoints: between a box of fixed resolution and the picture. Source: He et al., Mask R-CNN (2017)."""

from __future__ import annotations

import facula
from facula import Tensor
from facula.nn import functional as F

from ...ops.pooling import roi_align


def maskrcnn_inference(x: Tensor, labels: list[Tensor]) -> tuple[Tensor, ...]:
    """Of the masks of all classes (N, C, H, W), those of the labels, as probabilities, for each picture."""
    chosen = x.sigmoid()[facula.arange(len(x)), facula.cat(labels)][:, None]
    return chosen.split([len(k) for k in labels], dim=0)


def project_masks_on_boxes(gt_masks: Tensor, boxes: Tensor, matched_idxs: Tensor, M: int) -> Tensor:
    """(N, M, M): what each box sees of its true mask."""
    rois = facula.cat([matched_idxs.to(boxes.dtype)[:, None], boxes], dim=1)
    return roi_align(gt_masks[:, None].to(rois.dtype), rois, (M, M), 1.0)[:, 0]


def maskrcnn_loss(mask_logits: Tensor, proposals: list[Tensor], gt_masks: list[Tensor], gt_labels: list[Tensor], mask_matched_idxs: list[Tensor]) -> Tensor:
    side = mask_logits.shape[-1]
    labels = facula.cat([label[at] for label, at in zip(gt_labels, mask_matched_idxs)])
    wanted = facula.cat([project_masks_on_boxes(m, p, at, side) for m, p, at in zip(gt_masks, proposals, mask_matched_idxs)])
    if not wanted.numel():
        return mask_logits.sum() * 0
    return F.binary_cross_entropy_with_logits(mask_logits[facula.arange(len(labels)), labels], wanted)


def keypoints_to_heatmap(keypoints: Tensor, rois: Tensor, heatmap_size: int) -> tuple[Tensor, Tensor]:
    """The cell (row by row) of each keypoint in its box, and whether it can be seen there."""
    scale = heatmap_size / (rois[:, None, 2:] - rois[:, None, :2])
    cell = ((keypoints[..., :2] - rois[:, None, :2]) * scale).floor().long()
    cell = facula.where(keypoints[..., :2] == rois[:, None, 2:], heatmap_size - 1, cell)
    valid = (((cell >= 0) & (cell < heatmap_size)).all(-1) & (keypoints[..., 2] > 0)).long()
    return (cell[..., 1] * heatmap_size + cell[..., 0]) * valid, valid


def keypointrcnn_loss(keypoint_logits: Tensor, proposals: list[Tensor], gt_keypoints: list[Tensor], keypoint_matched_idxs: list[Tensor]) -> Tensor:
    n, k, height, width = keypoint_logits.shape
    if height != width:
        raise ValueError(f"keypoint_logits height and width (last two elements of shape) should be equal. Instead got H = {height} and W = {width}")
    pairs = [keypoints_to_heatmap(true[at], boxes, height) for boxes, true, at in zip(proposals, gt_keypoints, keypoint_matched_idxs)]
    targets = facula.cat([cells.view(-1) for cells, _ in pairs])
    valid = facula.cat([seen.view(-1) for _, seen in pairs]).nonzero()[:, 0]
    if not len(valid):
        return keypoint_logits.sum() * 0
    return F.cross_entropy(keypoint_logits.view(n * k, height * width)[valid], targets[valid])


def heatmaps_to_keypoints(maps: Tensor, rois: Tensor) -> tuple[Tensor, Tensor]:
    """((N, K, 3) of (x, y, 1), (N, K) of scores): where each map is largest, enlarged to the size of its box."""
    points, scores = maps.new_zeros((len(rois), maps.shape[1], 3)), maps.new_zeros((len(rois), maps.shape[1]))
    sizes = (rois[:, 2:] - rois[:, :2]).clamp(min=1)
    for k, (one, size) in enumerate(zip(maps, sizes)):
        width, height = (int(n) for n in size.ceil().tolist())
        large = F.interpolate(one[:, None], size=(height, width), mode="bicubic", align_corners=False)[:, 0]
        score, at = large.reshape(len(one), -1).max(dim=1)
        cell = facula.stack((at % width, at // width), 1).float() + 0.5
        points[k, :, :2] = cell * (size / facula.tensor([width, height])) + rois[k, :2]
        points[k, :, 2] = 1
        scores[k] = score
    return points, scores


def keypointrcnn_inference(x: Tensor, boxes: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    pairs = [heatmaps_to_keypoints(maps, b) for maps, b in zip(x.split([len(b) for b in boxes], dim=0), boxes)]
    return [p for p, _ in pairs], [s for _, s in pairs]


def paste_masks_in_image(masks: Tensor, boxes: Tensor, img_shape: tuple[int, int], padding: int = 1) -> Tensor:
    """(N, 1, H, W): masks (N, 1, M, M) enlarged to their boxes, 0 around."""
    height, width = img_shape
    scale = (masks.shape[-1] + 2 * padding) / masks.shape[-1]
    middle, half = (boxes[:, 2:] + boxes[:, :2]) * 0.5, (boxes[:, 2:] - boxes[:, :2]) * 0.5 * scale
    out = masks.new_zeros((len(masks), 1, height, width))
    for k, (x1, y1, x2, y2) in enumerate(facula.cat((middle - half, middle + half), 1).to(facula.int64).tolist()):
        size = (max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1))
        mask = F.interpolate(F.pad(masks[k : k + 1], (padding,) * 4), size=size, mode="bilinear", align_corners=False)[0, 0]
        left, right, top, bottom = max(x1, 0), min(x2 + 1, width), max(y1, 0), min(y2 + 1, height)
        if left < right and top < bottom:
            out[k, 0, top:bottom, left:right] = mask[top - y1 : bottom - y1, left - x1 : right - x1]
    return out
