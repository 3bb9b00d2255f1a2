"""Networks that give a class to a clip (N, 3, T, H, W): residual networks, S3D, Swin.

Sources: Tran et al., arXiv:1711.11248; Xie et al., arXiv:1712.04851; Liu et al., arXiv:2106.13230.
"""

from __future__ import annotations

from functools import partial

import facula
from facula import Tensor, nn
from facula.nn import functional as F

from ..ops.misc import Conv3dNormActivation
from ._build import build
from ._weights import KINDS
from .swin_transformer import PatchMerging, ShiftedWindowAttention, SwinTransformerBlock, narrow_linear, relative_position_index, stages, windowed_attention

__all__ = ["S3D", "SwinTransformer3d", "VideoResNet", "mc3_18", "r2plus1d_18", "r3d_18", "s3d", "swin3d_b", "swin3d_s", "swin3d_t"]
globals().update(KINDS["video"])
__all__ += KINDS["video"]


class Conv3DSimple(nn.Conv3d):
    """3x3x3."""

    def __init__(self, in_planes: int, out_planes: int, midplanes: int | None = None, stride: int = 1, padding: int = 1) -> None:
        super().__init__(in_planes, out_planes, (3, 3, 3), stride=stride, padding=padding, bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> tuple[int, int, int]:
        return stride, stride, stride


class Conv2Plus1D(nn.Sequential):
    """1x3x3 to midplanes, then 3x1x1."""

    def __init__(self, in_planes: int, out_planes: int, midplanes: int, stride: int = 1, padding: int = 1) -> None:
        super().__init__(
            nn.Conv3d(in_planes, midplanes, (1, 3, 3), stride=(1, stride, stride), padding=(0, padding, padding), bias=False),
            nn.BatchNorm3d(midplanes),
            nn.ReLU(inplace=True),
            nn.Conv3d(midplanes, out_planes, (3, 1, 1), stride=(stride, 1, 1), padding=(padding, 0, 0), bias=False),
        )

    get_downsample_stride = staticmethod(Conv3DSimple.get_downsample_stride)


class Conv3DNoTemporal(nn.Conv3d):
    """1x3x3: each picture by itself."""

    def __init__(self, in_planes: int, out_planes: int, midplanes: int | None = None, stride: int = 1, padding: int = 1) -> None:
        super().__init__(in_planes, out_planes, (1, 3, 3), stride=(1, stride, stride), padding=(0, padding, padding), bias=False)

    @staticmethod
    def get_downsample_stride(stride: int) -> tuple[int, int, int]:
        return 1, stride, stride


def _between(inplanes: int, planes: int) -> int:
    """The planes between that give (2+1)D as many weights as 3D has."""
    return (inplanes * planes * 3 * 3 * 3) // (inplanes * 3 * 3 + 3 * planes)


class BasicBlock(nn.Module):
    """relu(x + two convolutions of x)."""

    expansion = 1

    def __init__(self, inplanes: int, planes: int, conv_builder, stride: int = 1, downsample: nn.Module | None = None) -> None:
        super().__init__()
        mid = _between(inplanes, planes)
        self.conv1 = nn.Sequential(conv_builder(inplanes, planes, mid, stride), nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        self.conv2 = nn.Sequential(conv_builder(planes, planes, mid), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x) -> Tensor:
        return self.relu(self.conv2(self.conv1(x)) + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """1x1x1 down, a convolution, 1x1x1 up to four times the planes, plus x."""

    expansion = 4

    def __init__(self, inplanes: int, planes: int, conv_builder, stride: int = 1, downsample: nn.Module | None = None) -> None:
        super().__init__()
        last = planes * self.expansion
        self.conv1 = nn.Sequential(nn.Conv3d(inplanes, planes, 1, bias=False), nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        middle = conv_builder(planes, planes, _between(inplanes, planes), stride)
        self.conv2 = nn.Sequential(middle, nn.BatchNorm3d(planes), nn.ReLU(inplace=True))
        self.conv3 = nn.Sequential(nn.Conv3d(planes, last, 1, bias=False), nn.BatchNorm3d(last))
        self.relu = nn.ReLU(inplace=True)
        self.downsample, self.stride = downsample, stride

    def forward(self, x) -> Tensor:
        out = self.conv3(self.conv2(self.conv1(x)))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


def _stem(*convs: tuple) -> list[nn.Module]:
    """Convolutions (planes in, out, kernel, stride, padding) with their norms."""
    return [part for a, b, k, s, p in convs for part in (nn.Conv3d(a, b, k, stride=s, padding=p, bias=False), nn.BatchNorm3d(b), nn.ReLU(inplace=True))]


class BasicStem(nn.Sequential):
    """3x7x7."""

    def __init__(self) -> None:
        super().__init__(*_stem((3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3))))


class R2Plus1dStem(nn.Sequential):
    """1x7x7, then 3x1x1."""

    def __init__(self) -> None:
        super().__init__(*_stem((3, 45, (1, 7, 7), (1, 2, 2), (0, 3, 3)), (45, 64, (3, 1, 1), (1, 1, 1), (1, 0, 0))))


class VideoResNet(nn.Module):
    """input: (N, 3, T, H, W). conv_makers: the convolution of each of four stages; layers: how many blocks they have.

    >>> from facula.vision.models.video import BasicBlock, BasicStem, Conv3DSimple
    >>> net = facula.vision.models.video.VideoResNet(BasicBlock, [Conv3DSimple] * 4, [1] * 4, BasicStem, num_classes=10)
    >>> net.eval()(facula.zeros(1, 3, 4, 16, 16)).shape
    torch.Size([1, 10])
    """

    def __init__(self, block, conv_makers, layers: list[int], stem, num_classes: int = 400, zero_init_residual: bool = False) -> None:
        super().__init__()
        self.inplanes = 64
        self.stem = stem()
        for k, (conv, blocks) in enumerate(zip(conv_makers, layers)):
            self.add_module(f"layer{k + 1}", self._make_layer(block, conv, 64 << k, blocks, stride=2 if k else 1))
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv3d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm3d):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.zeros_(module.bias)
        if zero_init_residual:
            for module in self.modules():
                if isinstance(module, Bottleneck):
                    nn.init.zeros_(module.conv3[1].weight)

    def _make_layer(self, block, conv, planes: int, blocks: int, stride: int) -> nn.Sequential:
        last, downsample = planes * block.expansion, None
        if stride != 1 or self.inplanes != last:
            wanted = conv.get_downsample_stride(stride)
            downsample = nn.Sequential(nn.Conv3d(self.inplanes, last, 1, stride=wanted, bias=False), nn.BatchNorm3d(last))
        first = block(self.inplanes, planes, conv, stride, downsample)
        self.inplanes = last
        return nn.Sequential(first, *(block(last, planes, conv) for _ in range(1, blocks)))

    def forward(self, x) -> Tensor:
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        return self.fc(self.avgpool(x).flatten(1))


class TemporalSeparableConv(nn.Sequential):
    """A convolution of each picture, then one along time."""

    def __init__(self, in_planes: int, out_planes: int, kernel_size: int, stride: int, padding: int, norm_layer) -> None:
        k, s, p = kernel_size, stride, padding
        normed = partial(Conv3dNormActivation, bias=False, norm_layer=norm_layer)
        super().__init__(
            normed(in_planes, out_planes, (1, k, k), (1, s, s), (0, p, p)), normed(out_planes, out_planes, (k, 1, 1), (s, 1, 1), (p, 0, 0))
        )


class SepInceptionBlock3D(nn.Module):
    """1x1, two separable 3x3 and pooling, side by side."""

    def __init__(self, in_planes: int, b0_out: int, b1_mid: int, b1_out: int, b2_mid: int, b2_out: int, b3_out: int, norm_layer) -> None:
        super().__init__()
        one = partial(Conv3dNormActivation, in_planes, kernel_size=1, norm_layer=norm_layer)
        self.branch0 = one(b0_out)
        self.branch1 = nn.Sequential(one(b1_mid), TemporalSeparableConv(b1_mid, b1_out, 3, 1, 1, norm_layer))
        self.branch2 = nn.Sequential(one(b2_mid), TemporalSeparableConv(b2_mid, b2_out, 3, 1, 1, norm_layer))
        self.branch3 = nn.Sequential(nn.MaxPool3d((3, 3, 3), stride=1, padding=1), one(b3_out))

    def forward(self, x) -> Tensor:
        return facula.cat([self.branch0(x), self.branch1(x), self.branch2(x), self.branch3(x)], 1)


class S3D(nn.Module):
    """input: (N, 3, T, H, W), T at least 13, H and W at least 209.

    >>> with facula.device("meta"):
    ...     facula.vision.models.video.S3D(num_classes=10).eval()(facula.zeros(1, 3, 16, 224, 224)).shape
    torch.Size([1, 10])
    """

    def __init__(self, num_classes: int = 400, dropout: float = 0.2, norm_layer=None) -> None:
        super().__init__()
        norm = norm_layer or partial(nn.BatchNorm3d, eps=0.001, momentum=0.001)
        still = lambda: nn.MaxPool3d((1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1))
        inception = partial(SepInceptionBlock3D, norm_layer=norm)
        self.features = nn.Sequential(
            TemporalSeparableConv(3, 64, 7, 2, 3, norm), still(), Conv3dNormActivation(64, 64, kernel_size=1, norm_layer=norm),
            TemporalSeparableConv(64, 192, 3, 1, 1, norm), still(),
            inception(192, 64, 96, 128, 16, 32, 32), inception(256, 128, 128, 192, 32, 96, 64), nn.MaxPool3d(3, stride=2, padding=1),
            inception(480, 192, 96, 208, 16, 48, 64), inception(512, 160, 112, 224, 24, 64, 64), inception(512, 128, 128, 256, 24, 64, 64),
            inception(512, 112, 144, 288, 32, 64, 64), inception(528, 256, 160, 320, 32, 128, 128), nn.MaxPool3d(2, stride=2),
            inception(832, 256, 160, 320, 32, 128, 128), inception(832, 384, 192, 384, 48, 128, 128),
        )  # fmt: skip
        self.avgpool = nn.AvgPool3d((2, 7, 7), stride=1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Conv3d(1024, num_classes, kernel_size=1))

    def forward(self, x) -> Tensor:
        return self.classifier(self.avgpool(self.features(x))).mean((2, 3, 4))


class ShiftedWindowAttention3d(ShiftedWindowAttention):
    """ShiftedWindowAttention of clips (N, T, H, W, C)."""

    dims = 3

    def define_relative_position_index(self) -> None:
        self.register_buffer("relative_position_index", relative_position_index(*self.window_size))

    def forward(self, x) -> Tensor:
        sizes = x.shape[1:-1]
        window = [min(w, n) for w, n in zip(self.window_size, sizes)]
        shift = [0 if n <= w else s for w, n, s in zip(self.window_size, sizes, self.shift_size)]
        return windowed_attention(
            x, self.qkv.weight, self.proj.weight, self._of_table(self.relative_position_bias_table, window), window, self.num_heads, shift,
            self.attention_dropout, self.dropout, self.qkv.bias, self.proj.bias, training=self.training,
        )  # fmt: skip


class PatchEmbed3d(nn.Module):
    """A clip (N, 3, T, H, W) as patches (N, T', H', W', C), sizes filled up with 0."""

    def __init__(self, patch_size: list[int], in_channels: int = 3, embed_dim: int = 96, norm_layer=None) -> None:
        super().__init__()
        self.tuple_patch_size = tuple(patch_size)
        self.proj = nn.Conv3d(in_channels, embed_dim, self.tuple_patch_size, stride=self.tuple_patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x) -> Tensor:
        t, h, w = (-size % p for size, p in zip(x.shape[2:], self.tuple_patch_size))
        return self.norm(self.proj(F.pad(x, (0, w, 0, h, 0, t))).permute(0, 2, 3, 4, 1))


class SwinTransformer3d(nn.Module):
    """input: (N, 3, T, H, W). patch_size, window_size: along time, height and width.

    >>> net = facula.vision.models.video.SwinTransformer3d([2, 4, 4], 8, [1, 1], [1, 2], [2, 3, 3], num_classes=10)
    >>> net.eval()(facula.zeros(1, 3, 4, 16, 16)).shape
    torch.Size([1, 10])
    """

    def __init__(
        self, patch_size: list[int], embed_dim: int, depths: list[int], num_heads: list[int], window_size: list[int], mlp_ratio: float = 4.0,
        dropout: float = 0.0, attention_dropout: float = 0.0, stochastic_depth_prob: float = 0.1, num_classes: int = 400, norm_layer=None,
        block=None, downsample_layer=PatchMerging, patch_embed=None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_classes = num_classes
        norm = norm_layer or partial(nn.LayerNorm, eps=1e-5)
        self.patch_embed = (patch_embed or PatchEmbed3d)(patch_size=patch_size, embed_dim=embed_dim, norm_layer=norm)
        self.pos_drop = nn.Dropout(p=dropout)
        options = {"mlp_ratio": mlp_ratio, "dropout": dropout, "attention_dropout": attention_dropout, "attn_layer": ShiftedWindowAttention3d}
        body = stages(
            block or SwinTransformerBlock, downsample_layer, embed_dim, depths, num_heads, window_size, stochastic_depth_prob, norm, **options
        )
        self.features = nn.Sequential(*body)
        self.num_features = embed_dim * 2 ** (len(depths) - 1)
        self.norm = norm(self.num_features)
        self.avgpool = nn.AdaptiveAvgPool3d(1)
        self.head = nn.Linear(self.num_features, num_classes)
        narrow_linear(self)

    def forward(self, x) -> Tensor:
        x = self.norm(self.features(self.pos_drop(self.patch_embed(x))))
        return self.head(self.avgpool(x.permute(0, 4, 1, 2, 3)).flatten(1))


def _of(name: str, make, defaults: dict, clip: tuple[int, ...] = (8, 32, 32)):
    return build(make, name, defaults, f"{name}, untrained; arguments go to {make.__name__}.", clip, home="video.")


def _resnet(name: str, makers: list, stem):
    return _of(name, VideoResNet, {"block": BasicBlock, "conv_makers": makers, "layers": [2, 2, 2, 2], "stem": stem})


def _swin(name: str, planes: int, third: int, heads: int):
    options = {"embed_dim": planes, "depths": [2, 2, third, 2], "num_heads": [heads << k for k in range(4)]}
    return _of(name, SwinTransformer3d, {**options, "patch_size": [2, 4, 4], "window_size": [8, 7, 7], "stochastic_depth_prob": 0.1})


r3d_18 = _resnet("r3d_18", [Conv3DSimple] * 4, BasicStem)
mc3_18 = _resnet("mc3_18", [Conv3DSimple] + [Conv3DNoTemporal] * 3, BasicStem)
r2plus1d_18 = _resnet("r2plus1d_18", [Conv2Plus1D] * 4, R2Plus1dStem)
s3d = _of("s3d", S3D, {}, (16, 224, 224))
swin3d_t = _swin("swin3d_t", 96, 6, 3)
swin3d_s = _swin("swin3d_s", 96, 18, 3)
swin3d_b = _swin("swin3d_b", 128, 18, 4)
