"""The GCN layer with its propagation as one product on a constant sparse matrix."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from cgnn.dynamics.operator import symmetric_product
from cgnn.dynamics.sparse import csr_tensor
from cgnn.models.graph_cache import GraphCache
from cgnn.models.sparse_layer import GlorotLinear

#: The arguments of a GCN layer after x: Â as CSR, or an edge list and its weights.
Propagation = tuple[Tensor] | tuple[Tensor, Tensor]


class FusedGCNConv(nn.Module):
    r""":math:`\hat A (X W) + b`, which is PyG's ``GCNConv(normalize=False)``, on a symmetric Â in CSR form.

    It stores no messages, whereas PyG's layer gathers them to (E, d) and scatters them to (n, d), forward and backward.
    Parameters, their names and their initialisation are those of GCNConv; on an edge list it behaves like GCNConv.
    """

    def __init__(self, in_channels: int, out_channels: int, normalize: bool = False) -> None:
        super().__init__()
        if normalize:
            raise ValueError("FusedGCNConv takes the normalised matrix of gcn_propagation; use normalize=False")
        self.lin = GlorotLinear(in_channels, out_channels)
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.lin.reset_parameters()
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        features = self.lin(x)
        if edge_index.layout == torch.sparse_csr:
            return symmetric_product(edge_index, features) + self.bias
        source, target = edge_index
        messages = features[source] if edge_weight is None else features[source] * edge_weight.unsqueeze(-1)
        return torch.zeros_like(features).index_add(0, target, messages) + self.bias


def gcn_layer(fused: bool) -> Callable[..., nn.Module]:
    """The class of a layer: ours, or PyG's, which takes seconds to import."""
    if fused:
        return FusedGCNConv
    from torch_geometric.nn import GCNConv

    return GCNConv


def gcn_norm(
    edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """D^-1/2 (Adj + I) D^-1/2 as an edge list and its weights, like PyG's function of this name.

    Existing self-loops keep their weight; added ones have weight 1.
    """
    source, target = edge_index
    weight = torch.ones(source.numel(), dtype=dtype, device=source.device) if edge_weight is None else edge_weight
    inner = source != target
    loops = weight.new_ones(num_nodes).index_put((source[~inner],), weight[~inner])
    nodes = torch.arange(num_nodes, device=source.device)
    edges = torch.cat([edge_index[:, inner], nodes.repeat(2, 1)], dim=1)
    weight = torch.cat([weight[inner], loops])
    degree = weight.new_zeros(num_nodes).index_add(0, edges[1], weight)
    scale = degree.pow(-0.5)
    scale = scale.masked_fill(scale == float("inf"), 0.0)
    return edges, scale[edges[0]] * weight * scale[edges[1]]


def gcn_propagation(
    edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int, dtype: torch.dtype, fused: bool = True
) -> Propagation:
    """GCN's Â = D^-1/2 (Adj + I) D^-1/2: CSR if it can be fused, otherwise PyG's edge list and weights.

    Only symmetric, constant weights are fused. On a directed graph the gradient needs the transposed matrix, and
    learned weights need a gradient; both work with the edge list.
    """
    edges, weight = gcn_norm(edge_index, edge_weight, num_nodes, dtype)
    if not fused or weight.requires_grad:
        return edges, weight
    source, target = edges
    place = torch.stack([target, source])  # out_i = Σ_j w_(j→i) x_j: the target is the row
    matrix = torch.sparse_coo_tensor(place, weight, (num_nodes, num_nodes), check_invariants=False).coalesce()
    mirrored = matrix.t().coalesce()
    same_pattern = torch.equal(matrix.indices(), mirrored.indices())
    if not (same_pattern and torch.allclose(matrix.values(), mirrored.values())):
        return edges, weight
    row, col = matrix.indices()
    crow = torch.zeros(num_nodes + 1, dtype=torch.int64, device=row.device)
    crow[1:] = torch.bincount(row, minlength=num_nodes).cumsum(0)
    return (csr_tensor(crow, col, matrix.values(), (num_nodes, num_nodes)),)


def cached_propagation(
    cache: GraphCache[Propagation],
    edge_index: Tensor,
    edge_weight: Tensor | None,
    x: Tensor,
    dtype: torch.dtype,
    fused: bool = True,
) -> Propagation:
    """:func:`gcn_propagation` for the nodes of x, computed again when the graph changes."""
    nodes = x.size(0)
    return cache.get(
        (edge_index, edge_weight),
        (nodes, dtype),
        lambda: gcn_propagation(edge_index, edge_weight, nodes, dtype, fused),
    )
