"""The linear maps of GCN and GAT layers, for dense and sparse features, with the initialisation of PyTorch Geometric.

PyG is imported only if its layers are requested, because this takes three seconds, longer than many trainings.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgnn.models.random_streams import Generators
from cgnn.models.sparse_input import SparseLinear


def glorot(weight: Tensor) -> None:
    """Uniform within ± √(6 / (rows + columns)) of the last two dimensions, as PyG initialises its layers."""
    bound = math.sqrt(6.0 / (weight.size(-2) + weight.size(-1)))
    with torch.no_grad():
        weight.uniform_(-bound, bound)


class GlorotLinear(nn.Module):
    """A linear map without bias: PyG's ``Linear(..., bias=False, weight_initializer="glorot")``."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        glorot(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight)


class GlorotSparseLinear(SparseLinear):
    """Our sparse linear map with the initialisation of PyG's layers."""

    def reset_parameters(self, generators: Generators | None = None) -> None:
        glorot(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


def with_sparse_input(conv: nn.Module, dropout: float) -> None:
    """Make ``conv`` (GCNConv, GATConv, or any layer that starts with ``self.lin(x)``) accept sparse x, with dropout.

    The layer's linear map is replaced by ours; its propagation does not change.
    """
    dense = conv.lin
    conv.lin = GlorotSparseLinear(
        dense.in_channels,  # type: ignore[union-attr, arg-type]
        dense.out_channels,  # type: ignore[union-attr, arg-type]
        bias=False,
        dropout=dropout,
    )
