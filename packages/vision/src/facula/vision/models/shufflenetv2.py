"""ShuffleNet V2. Source: Ma et al., ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design (2018)."""

from __future__ import annotations

import facula
from facula import Tensor, nn

from ._build import build

__all__ = ["ShuffleNetV2", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0"]


def _normed(planes: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1, active: bool = True) -> list[nn.Module]:
    conv = nn.Conv2d(planes, out, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(out), *([nn.ReLU(inplace=True)] if active else [])]


class InvertedResidual(nn.Module):
    """Half of the planes through three convolutions, the other half as it is (with stride 1) or through two; then they are mixed.

    Raises ValueError for a stride that is not 1 to 3, and for one of 1 where the planes before and after differ.
    """

    def __init__(self, inp: int, oup: int, stride: int) -> None:
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError(f"illegal stride value: {stride}, 1 to 3 expected")
        half = oup // 2
        if stride == 1 and inp != 2 * half:
            raise ValueError(f"Invalid combination of stride {stride}, inp {inp} and oup {oup} values. With stride 1, give inp = oup, even.")
        self.stride = stride
        self.branch1 = nn.Sequential(*([*_normed(inp, inp, 3, stride, inp, active=False), *_normed(inp, half)] if stride > 1 else []))
        self.branch2 = nn.Sequential(
            *_normed(inp if stride > 1 else half, half), *_normed(half, half, 3, stride, half, active=False), *_normed(half, half)
        )

    def forward(self, x) -> Tensor:
        kept, changed = x.chunk(2, dim=1) if self.stride == 1 else (self.branch1(x), x)
        return nn.functional.channel_shuffle(facula.cat((kept, self.branch2(changed)), dim=1), 2)


class ShuffleNetV2(nn.Module):
    """input: (N, 3, H, W). stages_repeats: blocks of the three stages; stages_out_channels: planes of the first layer, the stages and the last.

    Raises ValueError for lists of other lengths.

    >>> facula.vision.models.shufflenet_v2_x0_5(num_classes=10).eval()(facula.zeros(1, 3, 32, 32)).shape
    torch.Size([1, 10])
    """

    def __init__(self, stages_repeats: list[int], stages_out_channels: list[int], num_classes: int = 1000, inverted_residual=InvertedResidual) -> None:
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError(f"ShuffleNetV2: expected stages_repeats as list of 3 positive ints, got {stages_repeats}.")
        if len(stages_out_channels) != 5:
            raise ValueError(f"ShuffleNetV2: expected stages_out_channels as list of 5 positive ints, got {stages_out_channels}.")
        first, *stages, last = stages_out_channels
        self.conv1 = nn.Sequential(*_normed(3, first, 3, stride=2))
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        planes = first
        for k, (blocks, out) in enumerate(zip(stages_repeats, stages), 2):
            others = (inverted_residual(out, out, 1) for _ in range(blocks - 1))
            setattr(self, f"stage{k}", nn.Sequential(inverted_residual(planes, out, 2), *others))
            planes = out
        self.conv5 = nn.Sequential(*_normed(planes, last))
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x) -> Tensor:
        x = self.maxpool(self.conv1(x))
        x = self.stage4(self.stage3(self.stage2(x)))
        return self.fc(self.conv5(x).mean([2, 3]))


def _of(size: str, *planes: int):
    name = f"shufflenet_v2_x{size}"
    return build(ShuffleNetV2, name, {"stages_repeats": [4, 8, 4], "stages_out_channels": [24, *planes]}, f"{name}, untrained; arguments go to ShuffleNetV2.")


# Table 5 of the paper
shufflenet_v2_x0_5 = _of("0_5", 48, 96, 192, 1024)
shufflenet_v2_x1_0 = _of("1_0", 116, 232, 464, 1024)
shufflenet_v2_x1_5 = _of("1_5", 176, 352, 704, 1024)
shufflenet_v2_x2_0 = _of("2_0", 244, 488, 976, 2048)
