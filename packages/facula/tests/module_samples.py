"""PyTorch's own samples of its modules (ModuleInfo), and lines for the classes that it has none of: constructors, inputs, both carried over.

A value crosses as in operator_samples.py; here modules, packed sequences and functions by name do too.
"""

import dataclasses
import itertools

import facula
import facula.nn.utils.rnn
import torch
from operator_samples import at, mirrored
from torch.testing._internal.common_modules import module_db

# constructor | inputs; f: normal floats of a shape, u: of (0, 1), i: integers below n
LINES = """
Identity(3) | f(2,3)
RReLU() | f(3,4)
Hardsigmoid() | f(3,4)*4
Dropout() | f(8,9)
Dropout(0.2,inplace=True) | f(8,9).detach()
Dropout1d() | f(4,5,3)
Dropout2d() | f(4,5,3,2)
Dropout3d(0.3) | f(4,5,3,2,2)
AlphaDropout() | f(8,9)
FeatureAlphaDropout() | f(4,5,3,2)
Flatten() | f(2,3,4,2)
Unflatten(1,(2,3)) | f(2,6,2)
CosineSimilarity() | f(3,4), f(3,4)
PairwiseDistance() | f(3,4), f(3,4)
PairwiseDistance(1.0,keepdim=True) | f(3,4), f(3,4)
CrossMapLRN2d(3,0.1) | f(2,5,4,3)
MaxUnpool1d(2) | f(1,1,2), t([[[1,2]]])
MaxUnpool2d(2) | f(1,1,2,2), t([[[[1,2],[8,15]]]])
MaxUnpool3d(2) | f(1,1,1,1,2), t([[[[[1,6]]]]])
EmbeddingBag(7,4) | i((2,3),7)
EmbeddingBag(7,4,mode='sum',padding_idx=2) | t([1,2,2,3,6]), t([0,2,2])
EmbeddingBag(7,4,mode='max') | t([1,2,2,3,6]), t([0,2,2])
EmbeddingBag(7,4,mode='mean',include_last_offset=True) | t([1,2,2,3,6]), t([0,2,3,5])
EmbeddingBag(7,4,mode='sum') | t([[1,2],[3,6]]), None, f(2,2)
Embedding(7,4,padding_idx=-2) | t([[0,5,2],[5,5,1]])
Embedding(7,4,max_norm=1.0,norm_type=1.0) | i((2,3),7)
Embedding(7,4,scale_grad_by_freq=True) | t([[0,5,2],[5,5,1]])
TransformerDecoder(nn.TransformerDecoderLayer(6,2,7,dropout=0.1),2) | f(3,2,6), f(4,2,6)
AdaptiveLogSoftmaxWithLoss(8,10,[3,6],div_value=2.0) | f(5,8), t([0,4,9,2,6])
PixelShuffle(2) | f(2,8,3,2)
PixelUnshuffle(2) | f(2,4,6)
ChannelShuffle(2) | f(2,6,3,2)
Fold((4,5),(2,3)) | f(2,12,9)
Unfold((2,3)) | f(2,3,4,5)
Upsample(scale_factor=2) | f(2,3,4,5)
Upsample(scale_factor=(1.7,0.6),mode='nearest-exact') | f(2,3,4,5)
Upsample(size=7,mode='linear',align_corners=True) | f(2,3,4)
Upsample(scale_factor=(1.7,2.4),mode='bilinear') | f(2,3,4,5)
Upsample(size=(7,3),mode='bicubic') | f(2,3,4,5)
Upsample(size=(7,3,2),mode='trilinear') | f(2,3,4,5,3)
UpsamplingNearest2d(scale_factor=2) | f(2,3,4,5)
UpsamplingBilinear2d(size=(3,7)) | f(2,3,4,5)
CosineEmbeddingLoss(0.2) | f(3,4), f(3,4), t([1.,-1.,1.])
TripletMarginLoss(swap=True) | f(3,4), f(3,4), f(3,4)
TripletMarginWithDistanceLoss() | f(3,4), f(3,4), f(3,4)
SyncBatchNorm(4) | f(5,4,3)
LazyLinear(4) | f(2,3)
LazyBatchNorm1d() | f(5,4)
LazyBatchNorm2d() | f(2,3,4,5)
LazyBatchNorm3d() | f(2,3,2,2,2)
LazyInstanceNorm1d(affine=True) | f(2,3,5)
LazyInstanceNorm2d(affine=True,track_running_stats=True) | f(2,3,4,5)
LazyInstanceNorm3d() | f(2,3,2,3,2)
Sequential(nn.Conv2d(3,4,3),nn.BatchNorm2d(4),nn.ReLU(True),nn.MaxPool2d(2),nn.Flatten(),nn.Linear(8,2)) | f(2,3,6,5)
Conv2d(3,5,3,padding=1,padding_mode='reflect') | f(2,3,5,6)
Conv2d(4,8,3,groups=4,dilation=2) | f(2,4,7,8)
Conv3d(2,3,(1,2,3),padding=1,padding_mode='circular') | f(2,2,3,5,4)
LSTM(3,4,2,proj_size=2,bidirectional=True) | f(5,2,3)
GRU(3,4,2,dropout=0.4) | f(5,2,3)
MultiheadAttention(6,2,dropout=0.3,batch_first=True) | f(2,3,6), f(2,5,6), f(2,5,6)
MultiheadAttention(6,3,bias=False,kdim=4,vdim=5) | f(3,6), f(5,4), f(5,5)
MultiheadAttention(6,2,add_bias_kv=True,add_zero_attn=True) | f(3,2,6), f(5,2,6), f(5,2,6)
"""


@dataclasses.dataclass
class Sample:
    """A constructor with its arguments, and those of forward, as PyTorch's."""

    cls: type
    made: tuple  # args, options
    called: tuple
    text: str

    def construct(self):
        args, options = self.made
        return self.cls(*args, **options)

    def construct_ours(self):
        args, options = mirrored(self.made)
        return counterpart(self.cls)(*args, **options)


def counterpart(cls):
    return at("nn." + cls.__name__)


@dataclasses.dataclass
class Entry:
    info: object  # a ModuleInfo, or the text of a line
    twice: bool = True  # whether gradients of gradients are there

    def samples(self, dtype, training, most=10**6):
        torch.manual_seed(0)
        if isinstance(self.info, str):
            return [_of_line(self.info, dtype)]
        options = {"device": "cpu", "dtype": dtype, "requires_grad": True, "training": training}
        made = list(itertools.islice(self.info.module_inputs_func(self.info, **options), 900))
        return [_of_input(self.info, m) for m in made[:: max(1, -(-len(made) // most))]]

    def errors(self, dtype):
        """Samples that PyTorch refuses, in the constructor or in forward."""
        make = None if isinstance(self.info, str) else self.info.module_error_inputs_func
        for e in make(self.info, device="cpu", dtype=dtype, requires_grad=True, training=True) if make else ():
            yield _of_input(self.info, e.module_error_input)

    def dtypes(self):
        return (torch.float32, torch.float64) if isinstance(self.info, str) else self.info.dtypes

    def modes(self):
        return (True, False) if isinstance(self.info, str) or self.info.train_and_eval_differ else (True,)


def entries():
    """Every module, by its name or by its line."""
    found = {info.name.removeprefix("nn."): Entry(info, info.supports_gradgrad) for info in module_db if info.module_cls.__module__.startswith("torch.nn.")}
    return found | {line: Entry(line) for line in LINES.strip().splitlines()}


def _of_input(info, m):
    made, called = ((i.args, i.kwargs) if i else ((), {}) for i in (m.constructor_input, m.forward_input))
    return Sample(info.module_cls, made, called, f"{m.desc}")


def _of_line(line, dtype):
    def floats(*shape):
        return torch.randn(shape, dtype=dtype).requires_grad_()

    made, called = line.split(" | ")
    names = {"nn": torch.nn, "t": lambda v: torch.tensor(v, dtype=dtype if isinstance(v[0], float) else None) if isinstance(v, list) else torch.tensor(v)}
    names |= {"f": floats, "i": lambda shape, n: torch.randint(n, shape), "made": lambda *args, **options: (args, options)}
    name, arguments = made.split("(", 1)
    return Sample(getattr(torch.nn, name), eval("made(" + arguments, names), (eval(f"({called},)", names), {}), "")


# --- values that only modules have ------------------------------------------------------------------------------------


@mirrored.register
def _(value: torch.nn.utils.rnn.PackedSequence):
    return facula.nn.utils.rnn.PackedSequence(*map(mirrored, value))


@mirrored.register
def _(value: torch.nn.Module):
    """Our module of that class with the same attributes, whatever it holds."""
    cls = at(type(value).__module__.removeprefix("torch.") + "." + type(value).__name__)
    made = cls.__new__(cls)
    for name, held in vars(value).items():
        made.__dict__[name] = type(held)((k, mirrored(v)) for k, v in held.items()) if isinstance(held, dict) else held if isinstance(held, set) else mirrored(held)
    return made


@mirrored.register
def _(value: torch.nn.Parameter):
    return facula.nn.Parameter(mirrored(value.detach()), requires_grad=value.requires_grad)
