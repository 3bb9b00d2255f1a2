"""Every module as a line: constructor, inputs. The facts of a case are what any backend must agree on with PyTorch.

Inputs: f(shape) normal floats, i(shape, n) integers below n, u(shape) floats in (0, 1), s(shape) of -1 and 1, t(list) a tensor.
"""

from __future__ import annotations

import numpy as np

CASES = """
Identity(3) | f(2,3)
Linear(3,4) | f(2,3)
Linear(3,4) | f(3)
Linear(3,4,bias=False) | f(2,5,3)
Bilinear(3,4,2) | f(5,3), f(5,4)
Bilinear(3,4,2,bias=False) | f(2,5,3), f(2,5,4)
ReLU() | f(3,4)
ReLU6() | f(3,4)*4
RReLU() | f(3,4)
RReLU(0.1,0.2).eval() | f(3,4)
Hardtanh() | f(3,4)*2
Hardtanh(-2,0.5) | f(3,4)*2
Threshold(0.1,20) | f(3,4)
Sigmoid() | f(3,4)
Tanh() | f(3,4)
Hardsigmoid() | f(3,4)*4
SiLU() | f(3,4)
Mish() | f(3,4)*9
Hardswish() | f(3,4)*4
ELU() | f(3,4)
ELU(0.5) | f(3,4)*300
CELU(0.5) | f(3,4)
SELU() | f(3,4)
GLU() | f(3,4)
GLU(0) | f(4,3)
GELU() | f(3,4)
GELU('tanh') | f(3,4)
Hardshrink() | f(3,4)
LeakyReLU() | f(3,4)
LeakyReLU(0.3) | f(3,4)
LogSigmoid() | f(3,4)*100
Softplus() | f(3,4)*10
Softplus(2,3) | f(3,4)*5
Softshrink() | f(3,4)
PReLU() | f(3,4)
PReLU(4) | f(3,4,2)
Softsign() | f(3,4)
Tanhshrink() | f(3,4)
Softmin(1) | f(3,4)
Softmax(0) | f(3,4)
Softmax2d() | f(2,3,4,2)
LogSoftmax(-1) | f(3,4)
Dropout() | f(8,9)
Dropout(0.2) | f(8,9)
Dropout(1.0) | f(2,3)
Dropout().eval() | f(2,3)
Dropout1d() | f(4,5,3)
Dropout1d() | f(5,3)
Dropout2d() | f(4,5,3,2)
Dropout3d() | f(4,5,3,2,2)
AlphaDropout() | f(8,9)
FeatureAlphaDropout() | f(4,5,3,2)
Flatten() | f(2,3,4)
Unflatten(1,(2,3)) | f(2,6,2)
CosineSimilarity() | f(3,4), f(3,4)
PairwiseDistance() | f(3,4), f(3,4)
PairwiseDistance(1.0,keepdim=True) | f(3,4), f(3,4)
PairwiseDistance(float('inf')) | f(3,4), f(4)
BatchNorm1d(4) | f(5,4)
BatchNorm1d(4) | f(5,4,3)
BatchNorm1d(4,momentum=None) | f(5,4)
BatchNorm1d(4).eval() | f(5,4)
BatchNorm2d(3) | f(2,3,4,5)
BatchNorm2d(3,affine=False,track_running_stats=False) | f(2,3,4,5)
BatchNorm2d(3,bias=False).eval() | f(2,3,4,5)
BatchNorm3d(3) | f(2,3,2,2,2)
InstanceNorm1d(3) | f(2,3,5)
InstanceNorm1d(3) | f(3,5)
InstanceNorm2d(3,affine=True,track_running_stats=True) | f(2,3,4,5)
InstanceNorm2d(3,track_running_stats=True).eval() | f(2,3,4,5)
InstanceNorm3d(3,affine=True) | f(2,3,2,3,2)
LayerNorm(4) | f(2,3,4)
LayerNorm((3,4),bias=False) | f(2,3,4)
LayerNorm((3,4),elementwise_affine=False) | f(2,3,4)
GroupNorm(2,4) | f(3,4,5)
GroupNorm(4,4,affine=False) | f(3,4,5,2)
RMSNorm(4) | f(2,3,4)
RMSNorm((3,4),eps=0.1) | f(2,3,4)
LocalResponseNorm(2) | f(2,5,4,3)
LocalResponseNorm(3,0.1,0.5,2.0) | f(2,5,4)
CrossMapLRN2d(3,0.1) | f(2,5,4,3).detach()
CrossMapLRN2d(2,0.1) | f(2,5,4,3).detach()
Conv1d(4,6,3) | f(2,4,9)
Conv1d(4,6,3,stride=2,padding=1,dilation=2,groups=2) | f(2,4,9)
Conv1d(4,6,3,padding='same') | f(4,9)
Conv1d(2,3,4,padding='same',dilation=1) | f(1,2,9)
Conv2d(3,5,3) | f(2,3,7,6)
Conv2d(4,6,(3,2),stride=(2,1),padding=(1,0),groups=2,bias=False) | f(2,4,7,6)
Conv2d(4,8,3,groups=4,dilation=2) | f(2,4,7,8)
Conv2d(3,5,3,padding=1,padding_mode='reflect') | f(2,3,5,6)
Conv2d(3,5,3,padding=(1,2),padding_mode='circular') | f(2,3,5,6)
Conv2d(3,5,1,padding_mode='replicate') | f(3,5,6)
Conv2d(2,3,(2,3),padding='same',padding_mode='replicate') | f(1,2,5,6)
Conv3d(2,4,(1,2,3),stride=(1,2,1)) | f(2,2,3,5,4)
Conv3d(2,4,2,padding='valid') | f(2,3,4,4)
ConvTranspose1d(4,6,3) | f(2,4,5)
ConvTranspose1d(4,6,3,stride=3,padding=2,output_padding=1,groups=2) | f(2,4,5)
ConvTranspose2d(3,5,3,stride=2,padding=1,output_padding=1) | f(2,3,4,5)
ConvTranspose2d(4,6,(2,3),stride=(1,2),groups=2,dilation=2,bias=False) | f(2,4,4,5)
ConvTranspose2d(2,3,2,stride=1,padding=2) | f(1,2,6,6)
ConvTranspose3d(2,3,2,stride=2) | f(1,2,3,2,2)
MaxPool1d(2) | f(2,3,7)
MaxPool1d(3,2,1) | f(3,8)
MaxPool2d(2) | f(2,3,5,6)
MaxPool2d((2,3),(2,1),padding=1,ceil_mode=True) | f(2,3,5,6)
MaxPool2d(3,2,dilation=2,ceil_mode=True) | f(3,8,9)
MaxPool2d(2,return_indices=True) | f(2,3,5,6)
MaxPool2d(3,2,1,return_indices=True) | f(2,3,5,6)
MaxPool3d(2,return_indices=True) | f(2,3,4,4,5)
MaxUnpool1d(2) | f(1,1,2), t([[[1,2]]])
MaxUnpool2d(2) | f(1,1,2,2), t([[[[1,2],[8,15]]]])
MaxUnpool3d(2) | f(1,1,1,1,2), t([[[[[1,6]]]]])
AvgPool1d(3,2,1) | f(2,3,7)
AvgPool2d(2) | f(2,3,5,6)
AvgPool2d(3,2,1,ceil_mode=True) | f(2,3,6,6)
AvgPool2d(3,2,1,ceil_mode=True,count_include_pad=False) | f(3,6,6)
AvgPool2d((2,3),divisor_override=2) | f(2,3,5,6)
AvgPool3d(2,padding=1) | f(2,3,4,4,5)
LPPool1d(2,3) | u(2,3,8)
LPPool2d(3,2,stride=1,ceil_mode=True) | u(2,3,4,5)
LPPool3d(2,2) | u(2,3,4,4,4)
AdaptiveAvgPool1d(3) | f(2,3,7)
AdaptiveAvgPool2d((2,None)) | f(2,3,5,6)
AdaptiveAvgPool2d(1) | f(3,5,6)
AdaptiveAvgPool3d((1,2,3)) | f(2,3,4,4,5)
AdaptiveMaxPool1d(3,return_indices=True) | f(2,3,7)
AdaptiveMaxPool2d((2,3),return_indices=True) | f(2,3,5,7)
AdaptiveMaxPool3d(2) | f(3,4,4,5)
FractionalMaxPool2d(2,output_size=3,return_indices=True) | f(2,3,7,8)
FractionalMaxPool2d((2,3),output_ratio=0.6) | f(3,7,8)
FractionalMaxPool3d(2,output_size=2) | f(2,2,5,6,7)
ZeroPad1d(2) | f(2,3,4)
ZeroPad2d((1,-1,2,0)) | f(2,3,4,5)
ZeroPad3d(1) | f(1,2,2,2,2)
ConstantPad1d((1,2),3.5) | f(3,4)
ConstantPad2d(1,0.5) | f(2,3,4)
ConstantPad3d((0,1,0,2,1,0),-1) | f(1,2,2,2,2)
ReflectionPad1d((1,3)) | f(2,3,4)
ReflectionPad2d((1,0,2,1)) | f(2,3,4,5)
ReflectionPad3d(1) | f(1,2,2,3,2)
ReplicationPad1d((1,3)) | f(3,4)
ReplicationPad2d(2) | f(2,3,4,5)
ReplicationPad3d(1) | f(1,2,2,3,2)
CircularPad1d((1,3)) | f(2,3,4)
CircularPad2d((1,2,0,3)) | f(2,3,4,5)
CircularPad3d(1) | f(1,2,2,3,2)
Embedding(7,4) | i((2,3),7)
Embedding(7,4,padding_idx=-2) | t([[0,5,2],[5,5,1]])
Embedding(7,4,max_norm=1.0,norm_type=1.0) | i((2,3),7)
Embedding(7,4,scale_grad_by_freq=True) | t([[0,5,2],[5,5,1]])
EmbeddingBag(7,4) | i((2,3),7)
EmbeddingBag(7,4,mode='sum',padding_idx=2) | t([1,2,2,3,6]), t([0,2,2])
EmbeddingBag(7,4,mode='max') | t([1,2,2,3,6]), t([0,2,2])
EmbeddingBag(7,4,mode='mean',include_last_offset=True) | t([1,2,2,3,6]), t([0,2,3,5])
EmbeddingBag(7,4,mode='sum') | t([[1,2],[3,6]]), None, f(2,2)
RNN(3,4) | f(5,2,3)
RNN(3,4,2,nonlinearity='relu',bias=False,batch_first=True,bidirectional=True) | f(2,5,3)
RNN(3,4) | f(5,3)
RNN(3,4,2) | f(5,2,3), f(2,2,4)
LSTM(3,4) | f(5,2,3)
LSTM(3,4,2,proj_size=2,bidirectional=True) | f(5,2,3)
LSTM(3,4,2,dropout=0.5) | f(5,2,3), (f(2,2,4), f(2,2,4))
LSTM(3,4,batch_first=True) | f(5,3), (f(1,4), f(1,4))
GRU(3,4,2,bidirectional=True) | f(5,2,3)
GRU(3,4,batch_first=True) | f(2,5,3), f(1,2,4)
RNNCell(3,4) | f(2,3)
RNNCell(3,4,nonlinearity='relu',bias=False) | f(3), f(4)
LSTMCell(3,4) | f(2,3), (f(2,4), f(2,4))
LSTMCell(3,4,bias=False) | f(3)
GRUCell(3,4) | f(2,3), f(2,4)
MultiheadAttention(6,2) | f(3,2,6), f(5,2,6), f(5,2,6)
MultiheadAttention(6,2,batch_first=True,add_bias_kv=True,add_zero_attn=True) | f(2,3,6), f(2,5,6), f(2,5,6)
MultiheadAttention(6,3,bias=False,kdim=4,vdim=5) | f(3,6), f(5,4), f(5,5)
MultiheadAttention(6,2) | f(3,2,6), f(5,2,6), f(5,2,6), t([[False,True,False,False,True],[False]*5]), True, t([[False,True,False,False,False]]*3), False
MultiheadAttention(6,2) | f(3,2,6), f(5,2,6), f(5,2,6), None, False
TransformerEncoderLayer(6,2,7,dropout=0.0) | f(3,2,6)
TransformerEncoderLayer(6,2,7,dropout=0.3) | f(3,2,6)
TransformerEncoderLayer(6,2,7,activation='gelu',norm_first=True,batch_first=True,bias=False).eval() | f(2,3,6)
TransformerDecoderLayer(6,2,7,dropout=0.2) | f(3,2,6), f(4,2,6)
TransformerDecoderLayer(6,2,7,norm_first=True,dropout=0.0) | f(3,6), f(4,6)
TransformerEncoder(N.TransformerEncoderLayer(6,2,7,dropout=0.1),2,N.LayerNorm(6)) | f(3,2,6)
TransformerDecoder(N.TransformerDecoderLayer(6,2,7,dropout=0.0),2) | f(3,2,6), f(4,2,6), N.Transformer.generate_square_subsequent_mask(3,dtype=T.float64)
Transformer(6,2,1,2,7,dropout=0.1) | f(3,2,6), f(4,2,6)
AdaptiveLogSoftmaxWithLoss(8,10,[3,6],div_value=2.0) | f(5,8), t([0,4,9,2,6])
AdaptiveLogSoftmaxWithLoss(8,10,[3],div_value=2.0,head_bias=True) | f(8), t(7)
PixelShuffle(2) | f(2,8,3,2)
PixelUnshuffle(2) | f(2,4,6)
ChannelShuffle(2) | f(2,6,3)
Fold((4,5),(2,3)) | f(2,12,9)
Fold((4,5),2,dilation=2,padding=1,stride=(2,1)) | f(8,10)
Unfold((2,3)) | f(2,3,4,5)
Unfold(2,dilation=2,padding=1,stride=(2,1)) | f(3,4,5)
Upsample(scale_factor=2) | f(2,3,4)
Upsample(size=(7,3)) | f(2,3,4,5)
Upsample(scale_factor=(1.7,0.6),mode='nearest-exact') | f(2,3,4,5)
Upsample(scale_factor=1.7,mode='linear') | f(2,3,4)
Upsample(size=7,mode='linear',align_corners=True) | f(2,3,4)
Upsample(scale_factor=(1.7,2.4),mode='bilinear') | f(2,3,4,5)
Upsample(scale_factor=(1.7,2.4),mode='bilinear',recompute_scale_factor=True) | f(2,3,4,5)
Upsample(size=(3,9),mode='bicubic') | f(2,3,5,5)
Upsample(size=(3,9),mode='bicubic',align_corners=True) | f(2,3,5,5)
Upsample(scale_factor=2,mode='trilinear') | f(1,2,2,3,2)
Upsample(size=(3,2),mode='area') | f(2,3,5,5)
UpsamplingNearest2d(scale_factor=3) | f(1,2,2,2)
UpsamplingBilinear2d(size=(5,3)) | f(1,2,2,4)
L1Loss() | f(3,4), f(3,4)
MSELoss() | f(3,4), f(3,4)
MSELoss(reduction='sum') | f(3,4), f(3,4)
MSELoss(reduction='none') | f(3,4), f(3,4)
SmoothL1Loss(beta=0.4) | f(3,4), f(3,4)
SmoothL1Loss(beta=0.0) | f(3,4), f(3,4)
HuberLoss(delta=0.7) | f(3,4), f(3,4)
PoissonNLLLoss() | f(3,4), u(3,4)*3
PoissonNLLLoss(False,full=True) | u(3,4), u(3,4)*3
GaussianNLLLoss(full=True) | f(3,4), f(3,4), u(3,4)
GaussianNLLLoss() | f(3,4), f(3,4), u(3)
KLDivLoss(reduction='batchmean') | f(3,4), u(3,4)
KLDivLoss(reduction='sum',log_target=True) | f(3,4), f(3,4)
BCELoss() | u(3,4), u(3,4)
BCELoss(weight=T.tensor([1.,2.,3.,4.]),reduction='none') | u(3,4), u(3,4)
BCEWithLogitsLoss() | f(3,4), u(3,4)
BCEWithLogitsLoss(pos_weight=T.tensor([1.,2.,3.,4.]),weight=T.tensor(2.)) | f(3,4)*50, u(3,4)
HingeEmbeddingLoss() | f(3,4), s(3,4)
MultiLabelMarginLoss() | f(3,4), t([[0,1,-1,2],[3,-1,-1,-1],[-1,0,1,2]])
MultiLabelMarginLoss(reduction='none') | f(4), t([3,1,-1,0])
SoftMarginLoss() | f(3,4), s(3,4)
MultiLabelSoftMarginLoss(T.tensor([1.,2.,3.,4.])) | f(3,4), u(3,4)
CosineEmbeddingLoss(0.1) | f(3,4), f(3,4), s(3)
CosineEmbeddingLoss() | f(4), f(4), t(-1)
MarginRankingLoss(0.3) | f(4), f(4), s(4)
MultiMarginLoss() | f(3,4), t([0,3,1])
MultiMarginLoss(2,0.5,T.tensor([1.,2.,3.,4.])) | f(4), t(2)
TripletMarginLoss() | f(3,4), f(3,4), f(3,4)
TripletMarginLoss(0.5,1.0,swap=True,reduction='none') | f(3,4), f(3,4), f(3,4)
TripletMarginWithDistanceLoss(margin=2.0,swap=True) | f(3,4), f(3,4), f(3,4)
NLLLoss() | f(3,4), t([0,3,1])
NLLLoss(T.tensor([1.,2.,3.,4.]),ignore_index=3) | f(2,4,3), t([[0,3,1],[1,1,3]])
NLLLoss(reduction='none') | f(4), t(2)
CrossEntropyLoss() | f(3,4), t([0,3,1])
CrossEntropyLoss(T.tensor([1.,2.,3.,4.]),ignore_index=1,label_smoothing=0.3) | f(3,4), t([0,3,1])
CrossEntropyLoss(label_smoothing=0.3,reduction='none') | f(2,4,3), t([[0,-100,1],[1,1,3]])
CrossEntropyLoss(T.tensor([1.,2.,3.,4.]),label_smoothing=0.2) | f(2,4,3), u(2,4,3)
CrossEntropyLoss(reduction='sum') | f(4), u(4)
CTCLoss() | N.functional.log_softmax(f(7,2,4),2), t([[1,2,2],[3,1,0]]), t([7,6]), t([3,2])
CTCLoss(blank=1,reduction='none') | N.functional.log_softmax(f(7,2,4),2), t([0,2,2,3]), (7,5), (3,1)
CTCLoss(zero_infinity=True) | N.functional.log_softmax(f(3,2,4),2), t([[1,1,1],[2,3,1]]), (3,3), (3,2)
CTCLoss(reduction='sum') | N.functional.log_softmax(f(7,4),1), t([1,2,2]), t(7), t(3)
LazyLinear(4) | f(2,3)
LazyConv1d(4,3) | f(2,3,5)
LazyConv2d(4,3,groups=2) | f(2,4,5,5)
LazyConv3d(2,2) | f(2,3,3,3,3)
LazyConvTranspose2d(4,3,stride=2) | f(2,3,4,4)
LazyConvTranspose3d(2,2) | f(1,3,2,2,2)
LazyConvTranspose1d(4,3) | f(2,3,5)
LazyBatchNorm1d() | f(5,3)
LazyBatchNorm2d(eps=0.1) | f(5,3,2,2)
LazyBatchNorm3d(affine=False) | f(5,3,2,2,2)
LazyInstanceNorm1d(affine=True) | f(2,3,4)
LazyInstanceNorm3d() | f(2,3,2,2,2)
LazyInstanceNorm2d(affine=True) | f(2,3,4,4)
LinearCrossEntropyLoss(3,5) | f(4,3), i((4,),5)
LinearCrossEntropyLoss(3,5,out_features=(2,),bias=True,reduction='sum',label_smoothing=0.1) | f(4,3), i((4,2),5)
LinearCrossEntropyLoss(3,5,bias=True,ignore_index=1,weight=T.arange(1.0,6.0,dtype=T.float64),options=N.LinearCrossEntropyOptions(batch_chunk_size=2,chunking_method=None)) | f(5,3), i((5,),5)
SyncBatchNorm(3) | f(2,3,4)
SyncBatchNorm(3,affine=False).eval() | f(2,3)
DataParallel(N.Linear(3,2)) | f(4,3)
Sequential(N.Linear(3,4),N.ReLU(),N.Dropout(0.2),N.Linear(4,2)) | f(5,3)
"""


def cases() -> list[tuple[str, str]]:
    return [tuple(part.strip() for part in line.split(" | ")) for line in CASES.strip().splitlines()]


def _leaves(value, T):
    """The tensors in nested tuples."""
    if isinstance(value, T.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [leaf for v in value for leaf in _leaves(v, T)]
    return []


def _fingerprint(t) -> dict:
    """Shape, up to six values and a weighted sum: enough to tell any two tensors of these tests apart."""
    a = np.asarray(t.detach().numpy(), dtype=np.float64)
    flat = a.reshape(-1)
    picked = flat[np.linspace(0, flat.size - 1, 6).astype(int)] if flat.size else flat
    weights = np.cos(np.arange(flat.size))
    return {"shape": list(a.shape), "values": [float(f"{v:.12g}") for v in picked], "sum": float(f"{float(flat @ weights):.12g}")}


def _inputs(source: str, T):
    rng = np.random.RandomState(7)

    def tensor(a):
        return T.tensor(a.tolist(), dtype=T.float64).requires_grad_()

    scope = {
        "T": T,
        "N": T.nn,
        "f": lambda *shape: tensor(rng.randn(*shape)),
        "u": lambda *shape: tensor(rng.rand(*shape) * 0.9 + 0.05),
        "s": lambda *shape: T.tensor(np.sign(rng.randn(*shape)).tolist(), dtype=T.float64),
        "i": lambda shape, n: T.tensor(rng.randint(0, n, shape).tolist()),
        "t": lambda values: T.tensor(values),
    }
    return eval(f"({source},)", scope)


def facts(case: tuple[str, str], T) -> dict:
    """What backend T makes of a case: repr, state names, first values in float32; then outputs and gradients in float64."""
    constructor, source = case
    inputs = _inputs(source, T)
    T.manual_seed(3)
    module = eval("N." + constructor, {"N": T.nn, "T": T, "float": float})
    found = {"repr": repr(module)}
    lazy = any(T.nn.parameter.is_lazy(t) for t in [*module.parameters(), *module.buffers()])
    if not lazy:
        found["state"] = {k: _fingerprint(v) for k, v in module.state_dict().items()}
    module.double()
    T.manual_seed(4)
    outputs = _leaves(module(*inputs), T)
    found["out"] = [_fingerprint(t) for t in outputs]
    if lazy:
        found["state"] = {k: list(v.shape) for k, v in module.state_dict().items()}
    smooth = [t for t in outputs if t.requires_grad]
    if smooth:
        rng = np.random.RandomState(8)
        total = sum((t * T.tensor(rng.randn(*t.shape).tolist() if t.dim() else float(rng.randn()), dtype=T.float64)).sum() for t in smooth)
        total.backward()
        asked = [t for t in _leaves(inputs, T) if t.requires_grad and t.is_leaf]
        found["grad"] = [None if t.grad is None else _fingerprint(t.grad) for t in [*asked, *module.parameters()]]
    found["buffers"] = {k: _fingerprint(v) for k, v in module.named_buffers()}
    return found
