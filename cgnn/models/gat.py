"""GAT (Veličković et al., ICLR 2018) on PyTorch Geometric's layer, at any depth."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgnn.models.attention import AttentionPattern, gat_layer
from cgnn.models.graph_cache import GraphCache
from cgnn.models.random_streams import dropout as quick_dropout
from cgnn.models.sparse_layer import with_sparse_input
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


class GAT(nn.Module):
    """Layers with ``heads`` concatenated attention heads of ``hidden`` channels and ELU; the last averages its heads.

    ``dropout`` applies to the features and to the attention coefficients of every layer, ``input_dropout`` to x.
    ``fused`` selects how messages are computed, by sparse products or by PyG's gather and scatter; the result is the
    same.

    Shapes: x (n, F), sparse CSR or dense; edge_index (2, E) with both directions of an edge; result (n, C).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        layers: int = 2,
        heads: int = 8,
        output_heads: int = 1,
        input_dropout: float = 0.6,
        dropout: float = 0.6,
        fused: bool = True,
    ) -> None:
        super().__init__()
        # Self-loops are added to the edge list once; the layer would remove and add them at every call.
        common = {"dropout": dropout, "add_self_loops": False}
        widths = [in_channels, *[hidden * heads] * (layers - 1)]
        layer = gat_layer(fused)
        self.convs = nn.ModuleList(layer(width, hidden, heads=heads, **common) for width in widths[:-1])
        self.convs.append(layer(widths[-1], out_channels, heads=output_heads, concat=False, **common))
        # The dropout that CGNN uses has the same distribution and takes a quarter of the time.
        self._drop = quick_dropout if fused else functional.dropout
        with_sparse_input(self.convs[0], input_dropout)
        self.dropout, self.fused = dropout, fused
        self._edges: GraphCache[Tensor | AttentionPattern] = GraphCache()

    def reset_parameters(self) -> None:
        for conv in self.convs:
            conv.reset_parameters()  # type: ignore[operator]
        self._edges.clear()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        edges = cached_edges(self._edges, edge_index, x, next(self.parameters()).dtype, self.fused)
        hidden = self.convs[0](x, edges)
        for conv in self.convs[1:]:
            hidden = self._drop(functional.elu(hidden), self.dropout, self.training)
            hidden = conv(hidden, edges)
        return hidden


def with_self_loops(edge_index: Tensor, num_nodes: int) -> Tensor:
    """The edges with exactly one self-loop per node."""
    loops = torch.arange(num_nodes, device=edge_index.device).repeat(2, 1)
    return torch.cat([edge_index[:, edge_index[0] != edge_index[1]], loops], dim=1)


def gat_edges(edge_index: Tensor, num_nodes: int, dtype: torch.dtype, fused: bool) -> Tensor | AttentionPattern:
    """The argument of a layer after x: an edge list for PyG's layer, a pattern for the fused one."""
    edges = with_self_loops(edge_index, num_nodes)
    return AttentionPattern(edges, num_nodes, dtype) if fused else edges


def cached_edges(
    cache: GraphCache[Tensor | AttentionPattern], edge_index: Tensor, x: Tensor, dtype: torch.dtype, fused: bool
) -> Tensor | AttentionPattern:
    """:func:`gat_edges` for the nodes of x, recomputed when the graph changes."""
    nodes = x.size(0)
    return cache.get((edge_index,), (nodes, dtype), lambda: gat_edges(edge_index, nodes, dtype, fused))


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, fused: bool = True) -> GAT:
    return GAT(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        layers=hyperparameters.layers,
        heads=hyperparameters.heads,
        output_heads=hyperparameters.output_heads,
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
        fused=fused,
    )
