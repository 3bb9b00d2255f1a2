"""Sequences of different lengths: packed (all first elements, all second, ...) and padded."""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple

import facula
from facula import Tensor
from facula.tensor_core import extend

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence", "unpad_sequence",
    "pack_sequence", "unpack_sequence",
]  # fmt: skip


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """data: all first elements, then all second ones, ...; batch_sizes[t]: how many sequences reach step t, on the CPU.

    sorted_indices: the sequences in falling length; unsorted_indices: its inverse. None where they were sorted.

    >>> packed = facula.nn.utils.rnn.pack_sequence([facula.tensor([1, 2, 3]), facula.tensor([4])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:  # (data, batch_sizes) as one argument
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("PackedSequence: give data and batch_sizes")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually.")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def __getnewargs__(self) -> tuple:
        return tuple(self)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """data converted by Tensor.to, the indices on its device."""
        if "copy" in kwargs:
            raise RuntimeError("PackedSequence.to: .to() does not accept copy argument. Copy it with copy.deepcopy.")
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = (None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices))
        return type(self)(data, self.batch_sizes, *moved)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On the CPU; a dtype may be given too, as to `to`."""
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On a GPU."""
        return self.to("cuda", *args, **kwargs)

    def double(self) -> PackedSequence:
        """As float64."""
        return self.to(facula.float64)

    def float(self) -> PackedSequence:
        """As float32."""
        return self.to(facula.float32)

    def half(self) -> PackedSequence:
        """As float16."""
        return self.to(facula.float16)

    def long(self) -> PackedSequence:
        """As int64."""
        return self.to(facula.int64)

    def int(self) -> PackedSequence:
        """As int32."""
        return self.to(facula.int32)

    def short(self) -> PackedSequence:
        """As int16."""
        return self.to(facula.int16)

    def char(self) -> PackedSequence:
        """As int8."""
        return self.to(facula.int8)

    def byte(self) -> PackedSequence:
        """As uint8."""
        return self.to(facula.uint8)

    def pin_memory(self) -> PackedSequence:
        """With data in pinned memory."""
        return type(self)(self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def is_pinned(self) -> bool:
        """Whether data is in pinned memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Whether data is on a GPU."""
        return self.data.device.type == "cuda"


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one.

    >>> facula.nn.utils.rnn.invert_permutation(facula.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    extend.want_tensor("invert_permutation", "permutation", 0, permutation)
    places = facula.arange(permutation.numel(), device=permutation.device)
    return facula.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """input (T, N, *), or (N, T, *) with batch_first, without what lies beyond each length.

    enforce_sorted: lengths must not rise; else sequences are sorted and the order kept.

    >>> packed = facula.nn.utils.rnn.pack_padded_sequence(facula.tensor([[1, 2, 3], [4, 0, 0]]), [3, 1], batch_first=True)
    >>> packed.data
    tensor([1, 4, 2, 3])
    """
    lengths = facula.as_tensor(lengths, dtype=facula.int64, device="cpu")
    extend.want_tensor("pack_padded_sequence", "input", 0, input)
    extend.check("pack_padded_sequence", "batch_first", 2, "bool", batch_first)
    batch = 0 if batch_first else 1
    if not input.numel():
        raise RuntimeError(f"pack_padded_sequence: Cannot pack empty tensors, got input {tuple(input.shape)}.")
    if lengths.dim() != 1 or lengths.numel() != input.size(batch):
        raise RuntimeError(f"pack_padded_sequence: Expected `len(lengths)` to be equal to batch_size, but got {lengths.numel()} (batch_size={input.size(batch)})")
    order = None
    if not enforce_sorted:
        lengths, order = facula.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(batch, order)
    if batch_first:
        input = input.transpose(0, 1)
    each = lengths.tolist()
    if not each or each[-1] <= 0:
        raise RuntimeError(f"Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0: {each}")
    if any(a < b for a, b in zip(each, each[1:])):
        raise RuntimeError(
            f"`lengths` array must be sorted in decreasing order when `enforce_sorted` is True, got {each}. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence."
        )
    if each[0] > input.size(0):
        raise RuntimeError(f"pack_padded_sequence: Expected lengths of at most {input.size(0)}, but got {each[0]}")
    sizes = [sum(n > t for n in each) for t in range(each[0])]
    data = facula.cat([input[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, facula.tensor(sizes, dtype=facula.int64, device="cpu"), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """(padded (T, N, *) or (N, T, *), lengths) of a packed sequence; total_length makes T larger.

    >>> packed = facula.nn.utils.rnn.pack_sequence([facula.tensor([1, 2, 3]), facula.tensor([4])])
    >>> facula.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    extend.check("pad_packed_sequence", "batch_first", 1, "bool", batch_first)
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got total_length={total_length} and max sequence length being {steps}")
        steps = total_length
    data, widest = sequence.data, sizes[0]
    rest = tuple(data.shape[1:])
    rows = []
    for part in data.split(sizes):
        missing = widest - part.size(0)
        if missing:
            part = facula.cat([part, facula.full((missing, *rest), padding_value, dtype=data.dtype, device=data.device)])
        rows.append(part)
    rows += [facula.full((widest, *rest), padding_value, dtype=data.dtype, device=data.device)] * (steps - len(sizes))
    padded = facula.stack(rows, 0)
    lengths = facula.tensor([sum(n > k for n in sizes) for k in range(widest)], dtype=facula.int64, device="cpu")
    padded = padded.transpose(0, 1) if batch_first else padded
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (L_i, *) side by side: (max L, N, *), or (N, max L, *) with batch_first.

    >>> facula.nn.utils.rnn.pad_sequence([facula.tensor([1, 2, 3]), facula.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: Expected padding_side to be one of left or right, but got {padding_side}.")
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    extend.want_tensors("pad_sequence", sequences)
    extend.check("pad_sequence", "batch_first", 1, "bool", batch_first)
    if any(s.dim() == 0 for s in sequences):
        raise RuntimeError("pad_sequence: expected sequences of one or more dimensions (L, *), but got a 0-dimensional one. Give it a length with unsqueeze(0).")
    longest, first = max(s.size(0) for s in sequences), sequences[0]
    size = (len(sequences), longest) if batch_first else (longest, len(sequences))
    padded = facula.full((*size, *first.shape[1:]), padding_value, dtype=first.dtype, device=first.device)
    for k, s in enumerate(sequences):  # copied into their places: a gradient is a sequence's own, no view of the whole batch's
        padded.select(0 if batch_first else 1, k).narrow(0, longest - s.size(0) if padding_side == "left" else 0, s.size(0)).copy_(s)
    return padded


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of their lengths out of a padded tensor.

    >>> facula.nn.utils.rnn.unpad_sequence(facula.tensor([[1, 2, 3], [4, 0, 0]]), facula.tensor([3, 1]), batch_first=True)
    [tensor([1, 2, 3]), tensor([4])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[: max(n, 0)].clone(memory_format=facula.contiguous_format) for row, n in zip(padded_sequences, lengths.tolist(), strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (L_i, *) packed.

    >>> facula.nn.utils.rnn.pack_sequence([facula.tensor([1, 2, 3]), facula.tensor([4])]).batch_sizes
    tensor([2, 1, 1])
    """
    lengths = facula.tensor([s.size(0) for s in sequences], dtype=facula.int64, device="cpu")
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one.

    >>> facula.nn.utils.rnn.unpack_sequence(facula.nn.utils.rnn.pack_sequence([facula.tensor([1, 2, 3]), facula.tensor([4])]))
    [tensor([1, 2, 3]), tensor([4])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
