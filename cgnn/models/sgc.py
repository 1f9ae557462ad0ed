"""SGC (Wu et al., ICML 2019): GCN without its nonlinearities."""

from typing import Any

import torch
from torch import Tensor, nn

from cgnn.dynamics.operator import symmetric_product
from cgnn.models.gcn_layer import Propagation, cached_propagation
from cgnn.models.graph_cache import GraphCache
from cgnn.models.sparse_input import SparseLinear
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


class SGC(nn.Module):
    r""":math:`Y = \hat A^K X W + b`, which is PyG's SGConv.

    X stays sparse because W is applied first; the products with Â then have one column per class.

    Shapes: x (n, F), sparse CSR or dense; edge_index (2, E) with both directions of an edge; result (n, C).
    """

    def __init__(self, in_channels: int, out_channels: int, layers: int = 2, input_dropout: float = 0.0) -> None:
        super().__init__()
        self.lin = SparseLinear(in_channels, out_channels, bias=False, dropout=input_dropout)
        self.bias = nn.Parameter(torch.zeros(out_channels))
        self.steps = layers
        self._propagation: GraphCache[Propagation] = GraphCache()

    def reset_parameters(self) -> None:
        self.lin.reset_parameters()
        nn.init.zeros_(self.bias)
        self._propagation.clear()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        H = self.lin(x)
        propagation = cached_propagation(self._propagation, edge_index, edge_weight, x, H.dtype)
        for _ in range(self.steps):
            H = symmetric_product(propagation[0], H) if len(propagation) == 1 else _by_edges(H, *propagation)
        return H + self.bias


def _by_edges(H: Tensor, edge_index: Tensor, weight: Tensor) -> Tensor:
    """ÂH for a directed graph or learned weights."""
    source, target = edge_index
    return torch.zeros_like(H).index_add(0, target, weight.unsqueeze(1) * H[source])


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity) -> SGC:
    return SGC(
        data.num_features, data.num_classes, layers=hyperparameters.layers, input_dropout=hyperparameters.input_dropout
    )
