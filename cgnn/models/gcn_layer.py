"""PyTorch Geometric's GCN layer with its propagation as one product on a constant sparse matrix."""

import torch
from torch import Tensor
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from cgnn.dynamics.operator import symmetric_product
from cgnn.dynamics.sparse import csr_tensor
from cgnn.models.graph_cache import GraphCache

#: What a GCN layer is called with after x: Â as CSR, or an edge list and its weights.
Propagation = tuple[Tensor] | tuple[Tensor, Tensor]


class FusedGCNConv(GCNConv):
    r"""GCNConv without normalisation, :math:`\hat A (X W) + b`, on a symmetric Â in CSR form.

    It stores no messages: PyG's layer gathers them to (E, d) and scatters them into (n, d), in both directions.
    Parameters, initialisation and definition are GCNConv's; on an edge list it does what GCNConv does.
    """

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        if edge_index.layout != torch.sparse_csr:
            return super().forward(x, edge_index, edge_weight)
        out = symmetric_product(edge_index, self.lin(x))
        return out if self.bias is None else out + self.bias


def gcn_propagation(
    edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int, dtype: torch.dtype, fused: bool = True
) -> Propagation:
    """GCN's Â = D^-1/2 (Adj + I) D^-1/2: CSR if it may be fused, PyG's edge list and weights otherwise.

    Only symmetric, constant weights are fused. The gradient on a directed graph needs the transposed matrix, and
    learned weights need a gradient of their own: PyG has both.
    """
    edges, weight = gcn_norm(edge_index, edge_weight, num_nodes, dtype=dtype)
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
