"""The first layer on sparse features: y = dropout(X) W + b, with X kept sparse in both directions.

Dropout only affects the nonzero entries of X. The gradient dW = dropout(X)^T ḡ uses the transposed
pattern, which is sorted once; a permutation maps the values after dropout to it.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.modules.lazy import LazyModuleMixin

from cgnn.dynamics.sparse import (
    csr_tensor,
    sparse_product,
    with_values,
    without_autocast,
)
from cgnn.errors import UserError
from cgnn.models.eager import check_device, check_is_tensor, outside_compiled_graphs, working_dtype
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
    r"""A linear layer for sparse or dense features, with dropout on its input.

    .. math::
        \mathbf{Y} = \mathrm{dropout}_p(\mathbf{X})\,\mathbf{W} + \mathbf{b}

    A sparse X stays sparse in both directions, and its transpose is sorted once. The weight is stored as (in, out), the
    layout of the sparse product, and starts like that of ``nn.Linear``.

    Args:
        in_features (int): columns of X.
        out_features (int): columns of Y.
        bias (bool): whether to add b.
        dropout (float): p, applied in training mode only; on a sparse X it acts on the nonzero entries.
        replicas (int, optional): R independent layers on the same X; the parameters are then stacked, (R, in, out).

    ``generators`` (one per replica) makes the random streams of dropout explicit; None is torch's global stream.

    Shapes:
        - **input:** (n, in_features), dense or sparse (CSR, COO, CSC)
        - **output:** (n, out_features), with replicas (n, R, out_features)
    """

    weight: nn.Parameter
    bias: nn.Parameter | None

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
        """Initialise like ``nn.Linear``; replica r uses stream r, or all use torch's global stream."""
        uniform_linear_(self.weight, self.bias, self.in_features, generators)

    def forward(self, x: Tensor) -> Tensor:
        """Y; with sparse features it is computed in float32 if the weight is float16 or bfloat16, or under autocast."""
        check_is_tensor(x)
        if x.dim() != 2 or x.shape[-1] != self.in_features:
            found = f"{x.shape[-1]} columns" if x.dim() == 2 else f"shape {tuple(x.shape)}"
            raise UserError(f"features: found {found}, expected {self.in_features} columns")
        check_device("x", x, self.weight)
        streams = self.generators or [None] * (self.replicas or 1)
        if self.replicas is None:
            return self._one(x, self.weight, self.bias, streams[0])
        biases = [None] * self.replicas if self.bias is None else self.bias.unbind(0)
        parts = zip(self.weight.unbind(0), biases, streams, strict=True)
        return torch.stack([self._one(x, weight, bias, stream) for weight, bias, stream in parts], dim=1)

    def _one(self, x: Tensor, weight: Tensor, bias: Tensor | None, generator: torch.Generator | None) -> Tensor:
        p = self.dropout if self.training else 0.0
        if x.layout != torch.strided:
            return self._sparse(x, weight, bias, p, generator)
        dropped = dropout(x, p, self.training, [generator])
        return dropped @ weight if bias is None else torch.addmm(bias, dropped, weight)

    @outside_compiled_graphs
    def _sparse(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, p: float, generator: torch.Generator | None
    ) -> Tensor:
        if x.requires_grad:
            raise UserError("x: found sparse features that require a gradient, which is not computed; use dense ones")
        dtype = working_dtype(weight.dtype)
        with without_autocast(x.device):
            prepared = self._prepared.get((x,), dtype, lambda: SparseInput.build(x.to(dtype)))
            y = sparse_times_dense(prepared, weight.to(dtype), p, generator).to(weight.dtype)
        return y if bias is None else y + bias

    def extra_repr(self) -> str:
        sizes = f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"
        return f"{sizes}, dropout={self.dropout}, replicas={self.replicas}"


class LazySparseLinear(LazyModuleMixin, SparseLinear):  # type: ignore[misc]
    """A :class:`SparseLinear` that takes ``in_features`` from its first input, like ``nn.LazyLinear``."""

    cls_to_become = SparseLinear  # type: ignore[assignment]

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dropout: float = 0.0, replicas: int | None = None
    ) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Lazy modules are a new feature")
            super().__init__(0, out_features, bias, dropout, replicas)
        self.in_features, self.weight = in_features, nn.UninitializedParameter()  # type: ignore[assignment]

    def reset_parameters(self, generators: Generators | None = None) -> None:
        """Nothing to do before the size is known."""
        if not self.has_uninitialized_params() and self.in_features > 0:  # type: ignore[misc]
            super().reset_parameters(generators)

    def initialize_parameters(self, x: Tensor) -> None:
        """Called by torch before the first forward pass."""
        if not self.has_uninitialized_params():  # type: ignore[misc]
            self.in_features = self.weight.shape[-2]  # known from a state_dict
            return
        self.in_features = x.shape[-1]
        stacked = () if self.replicas is None else (self.replicas,)
        with torch.no_grad():
            self.weight.materialize((*stacked, self.in_features, self.out_features))  # type: ignore[attr-defined]
            self.reset_parameters()
