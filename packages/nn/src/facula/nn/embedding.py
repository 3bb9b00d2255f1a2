"""Embedding and EmbeddingBag."""

from __future__ import annotations

from typing import Any

import facula
from facula import Tensor

from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A table of vectors, drawn from the normal distribution; the row padding_idx is 0."""

    def _setup(self, rows: int, width: int, padding_idx: int | None, weight: Tensor | None, freeze: bool, device: Any, dtype: Any) -> None:
        self.num_embeddings, self.embedding_dim = rows, width
        if padding_idx is not None:
            if not -rows <= padding_idx < rows:
                raise AssertionError(f"{type(self).__name__}: padding_idx must be within num_embeddings, which is {rows}, got {padding_idx}")
            padding_idx %= rows
        self.padding_idx = padding_idx
        if weight is None:
            self.weight = Parameter(facula.empty((rows, width), device=device, dtype=dtype), requires_grad=not freeze)
            self.reset_parameters()
        else:
            if tuple(weight.shape) != (rows, width):
                raise AssertionError(f"Shape of weight {tuple(weight.shape)} does not match num_embeddings {rows} and embedding_dim {width}")
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the initial values again."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with facula.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _options(self, *names: tuple[str, Any]) -> str:
        """The options that differ from their defaults."""
        return "".join(f", {name}={getattr(self, name)}" for name, usual in names if getattr(self, name) != usual)


class Embedding(_Table):
    """Rows of a table by index: (*) -> (*, embedding_dim).

    >>> import facula
    >>> from facula import nn
    >>> nn.Embedding(10, 3)(facula.tensor([[1, 2], [4, 0]])).shape
    torch.Size([2, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._setup(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        weight = self._parameters.get("weight")  # see Linear
        weight = self.weight if weight is None else weight
        return F.embedding(
            input, weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + self._options(
            ("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False), ("sparse", False)
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """An Embedding over the given (V, D) table; not trained while `freeze`."""
        if embeddings.dim() != 2:
            raise AssertionError(f"Embeddings parameter is expected to be 2-dimensional, got {embeddings.dim()}")
        rows, width = embeddings.shape
        return cls(rows, width, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(_Table):
    """Sum, mean or maximum of each bag's rows: (B, embedding_dim).

    >>> import facula
    >>> from facula import nn
    >>> nn.EmbeddingBag(10, 3)(facula.tensor([[1, 2], [4, 0]])).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset = include_last_offset
        self._setup(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        head = f"{self.num_embeddings}, {self.embedding_dim}"
        head += self._options(("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False))
        return head + f", mode={self.mode!r}" + self._options(("padding_idx", None))

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """An EmbeddingBag over the given (V, D) table; not trained while `freeze`."""
        if embeddings.dim() != 2:
            raise AssertionError(f"Embeddings parameter is expected to be 2-dimensional, got {embeddings.dim()}")
        rows, width = embeddings.shape
        bag = cls(
            rows, width, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        )
        bag.weight.requires_grad = not freeze
        return bag
