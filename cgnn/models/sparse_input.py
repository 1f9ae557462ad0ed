"""The first layer on sparse features: y = dropout(X) W + b, with X kept sparse in both directions.

Dropping entries of X is dropping its nonzeros. The gradient dW = dropout(X)^T ḡ uses the transposed
pattern, sorted once, with the dropped values carried over by a permutation.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from cgnn.dynamics.sparse import csr_tensor, sparse_product, with_values
from cgnn.errors import UserError
from cgnn.models.graph_cache import GraphCache
from cgnn.models.random_streams import Generators, dropout, keep_mask, uniform_linear_


@dataclass(frozen=True)
class SparseInput:
    """X as CSR, its transpose, and where each value of the transpose comes from."""

    matrix: Tensor
    transposed: Tensor
    permutation: Tensor

    @classmethod
    def build(cls, x: Tensor) -> "SparseInput":
        """From any sparse torch matrix (CSR, CSC or COO)."""
        coo = x.detach().to_sparse_coo().coalesce()
        # A copy, because values() is a view that would keep the 64-bit indices alive, 16 bytes per nonzero.
        (row, col), values = coo.indices(), coo.values().clone()
        n, m = coo.shape
        permutation = torch.argsort(col * n + row)

        def compressed(index: Tensor, count: int) -> Tensor:
            crow = torch.zeros(count + 1, dtype=torch.int64, device=index.device)
            crow[1:] = torch.bincount(index, minlength=count).cumsum(0)
            return crow

        matrix = csr_tensor(compressed(row, n), col, values, (n, m))
        transposed = csr_tensor(compressed(col, m), row[permutation], values[permutation], (m, n))
        return cls(matrix, transposed, permutation)


class _SparseTimesDense(torch.autograd.Function):
    """X W for constant X; ``values`` replaces X's values, after dropout."""

    @staticmethod
    def forward(ctx: Any, x: SparseInput, values: Tensor | None, weight: Tensor) -> Tensor:  # type: ignore[override]
        ctx.x = x
        ctx.save_for_backward(values)
        return sparse_product(x.matrix if values is None else with_values(x.matrix, values), weight.contiguous())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor]:  # type: ignore[override]
        (values,), x = ctx.saved_tensors, ctx.x
        transposed = x.transposed
        if values is not None:
            transposed = with_values(transposed, torch.index_select(values, 0, x.permutation))
        return None, None, sparse_product(transposed, gradient.contiguous())


def sparse_times_dense(
    x: SparseInput, weight: Tensor, p: float = 0.0, generator: torch.Generator | None = None
) -> Tensor:
    """dropout_p(X) W, differentiable in W."""
    if p <= 0:
        return _SparseTimesDense.apply(x, None, weight)
    values = x.matrix.values()
    keep, factor = keep_mask(values.numel(), p, values.device, generator)
    return _SparseTimesDense.apply(x, (values * keep).mul_(factor), weight)


class SparseLinear(nn.Module):
    r"""Linear layer for a sparse or dense input, with input dropout: :math:`y = \mathrm{dropout}_p(X)\,W + b`.

    The weight is stored as (in, out), the layout of the sparse product, and starts like ``nn.Linear``.
    With ``replicas`` the parameters are stacked, (R, in, out), and the output is (n, R, out).

    Args:
        in_features, out_features: sizes.
        bias: whether to add b.
        dropout: p, active in training mode only; on a sparse input it acts on the nonzeros.
        replicas: None for one layer, R for R independent ones on the same input.

    ``generators`` (one a replica) makes the dropout's random streams explicit; None is torch's own.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dropout: float = 0.0, replicas: int | None = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features, self.dropout, self.replicas = in_features, out_features, dropout, replicas
        stacked = () if replicas is None else (replicas,)
        self.weight = nn.Parameter(torch.empty(*stacked, in_features, out_features))
        self.bias = nn.Parameter(torch.empty(*stacked, out_features)) if bias else None
        self.generators: Generators | None = None
        self._prepared: GraphCache[SparseInput] = GraphCache()
        self.reset_parameters()

    def reset_parameters(self, generators: Generators | None = None) -> None:
        uniform_linear_(self.weight, self.bias, self.in_features, generators)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] != self.in_features:
            raise UserError(f"features: found {x.shape[-1]} columns, expected {self.in_features}")
        streams = self.generators or [None] * (self.replicas or 1)
        if self.replicas is None:
            return self._one(x, self.weight, self.bias, streams[0])
        biases = [None] * self.replicas if self.bias is None else self.bias.unbind(0)
        parts = zip(self.weight.unbind(0), biases, streams, strict=True)
        return torch.stack([self._one(x, weight, bias, stream) for weight, bias, stream in parts], dim=1)

    def _one(self, x: Tensor, weight: Tensor, bias: Tensor | None, generator: torch.Generator | None) -> Tensor:
        p = self.dropout if self.training else 0.0
        if x.layout == torch.strided:
            dropped = dropout(x, p, self.training, [generator])
            return dropped @ weight if bias is None else torch.addmm(bias, dropped, weight)
        y = sparse_times_dense(self._prepare(x, weight.dtype), weight, p, generator)
        return y if bias is None else y + bias

    def _prepare(self, x: Tensor, dtype: torch.dtype) -> SparseInput:
        return self._prepared.get((x,), dtype, lambda: SparseInput.build(x.to(dtype)))

    def extra_repr(self) -> str:
        sizes = f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"
        return f"{sizes}, dropout={self.dropout}, replicas={self.replicas}"
