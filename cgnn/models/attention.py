r"""GAT's attention as sparse products: no message (E, H, C) is ever stored.

For an edge j → i and each of H heads,

    z_ij = a_src_j + a_dst_i        l_ij = LeakyReLU(z_ij)        m_i = max_j l_ij
    e_ij = exp(l_ij − m_i)          S_i = Σ_j e_ij + 1e-16        f_ij = dropout(e_ij)
    out_i = (1/S_i) Σ_j f_ij x_j

which is PyG's Σ_j dropout(softmax(l)_ij) x_j with the division moved after the sum, from edges to nodes. With ḡ the
gradient of out and γ_i = ḡ_i / S_i, its gradient is

    l̄_ij = f_ij ⟨γ_i, x_j⟩ − e_ij ⟨γ_i, out_i⟩,     z̄ = l̄ ⊙ LeakyReLU'(z),     x̄_j = Σ_i f_ij γ_i,
    ā_src_j = Σ_i z̄_ij,     ā_dst_i = Σ_j z̄_ij.

The second term of l̄ comes from the softmax: Σ_k f_ik ⟨γ_i, x_k⟩ / S_i, a sum over edges, reduces to ⟨γ_i, out_i⟩.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from cgnn.dynamics.sparse import csr_tensor, sparse_product, with_values
from cgnn.models.random_streams import dropout
from cgnn.models.sparse_layer import GlorotLinear, glorot


class PerHead(NamedTuple):
    """The pattern as (nH × nH), row iH + h to columns jH + h, so that one product on (nH, C) serves all heads.

    Values on edges are (E, H); ``order`` and ``transposed_order`` take them into the order of the matrices, ``place``
    takes those of ``matrix`` back.
    """

    matrix: Tensor
    transposed: Tensor
    order: Tensor
    transposed_order: Tensor
    place: Tensor


class AttentionPattern:
    """Which node attends to which, sorted by target and then source; built once per graph.

    Args:
        edge_index: (2, E), from source to target, directed or not; the caller adds self-loops if they are wanted.
        num_nodes: n, because nodes without an edge are not in edge_index.
        dtype: dtype of the features.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int, dtype: torch.dtype = torch.float32) -> None:
        self.num_nodes, self.dtype = num_nodes, dtype
        edge_index = edge_index[:, torch.argsort(edge_index[1] * num_nodes + edge_index[0], stable=True)]
        self.source, self.target = edge_index
        #: the edges sorted by source: where each value of the transposed pattern comes from
        self.by_source = torch.argsort(self.source * num_nodes + self.target, stable=True)
        self.crow, self.crow_by_source = self._starts(self.target), self._starts(self.source)
        edges = torch.arange(edge_index.shape[1], device=edge_index.device)
        n, E = num_nodes, len(edges)
        #: (n × E), Σ over the edges into a node, and (E × n), a node's value on the edges into it
        self.sum_in = self._ones(self.crow, edges, (n, E))
        self.spread = self._ones(torch.arange(E + 1, device=edges.device), self.target, (E, n))
        #: (E × 2n), a_src_j + a_dst_i from rows (2j, 2i + 1), and its transpose
        ends = torch.stack([2 * self.source, 2 * self.target + 1], dim=1).flatten()
        self.ends = self._ones(2 * torch.arange(E + 1, device=edges.device), ends, (E, 2 * n))
        into_ends = torch.argsort(ends, stable=True)
        starts = torch.zeros(2 * n + 1, dtype=torch.int64, device=edges.device)
        starts[1:] = torch.bincount(ends, minlength=2 * n).cumsum(0)
        self.into_ends = self._ones(starts, into_ends // 2, (2 * n, E))
        self._per_head: dict[int, PerHead] = {}

    def per_head(self, heads: int) -> PerHead:
        """Built when a layer first needs it; layers with the same number of heads share it."""
        if heads not in self._per_head:
            matrix, place = self._interleaved(self.crow, self.target, self.source, heads)
            source, target = self.source[self.by_source], self.target[self.by_source]
            transposed, transposed_place = self._interleaved(self.crow_by_source, source, target, heads)
            entry = torch.arange(place.numel(), device=place.device)
            order, transposed_order = torch.empty_like(place), torch.empty_like(place)
            order[place] = entry
            transposed_order[transposed_place] = entry.view(-1, heads)[self.by_source].flatten()
            self._per_head[heads] = PerHead(matrix, transposed, order, transposed_order, place)
        return self._per_head[heads]

    def _starts(self, index: Tensor) -> Tensor:
        crow = torch.zeros(self.num_nodes + 1, dtype=torch.int64, device=index.device)
        crow[1:] = torch.bincount(index, minlength=self.num_nodes).cumsum(0)
        return crow

    def _interleaved(self, crow: Tensor, row: Tensor, col: Tensor, heads: int) -> tuple[Tensor, Tensor]:
        """The matrix, and the place of each edge's and head's value (E, H) in it."""
        n, E, head = self.num_nodes, col.numel(), torch.arange(heads, device=col.device)
        starts = heads * crow[:-1, None] + head * crow.diff()[:, None]  # of row iH + h
        place = (starts[row] + (torch.arange(E, device=col.device) - crow[row])[:, None]).flatten()
        columns = torch.empty_like(place)
        columns[place] = (heads * col[:, None] + head).flatten()
        crow = torch.cat([starts.flatten(), crow.new_tensor([heads * E])])
        return self._ones(crow, columns, (heads * n, heads * n)), place

    def _ones(self, crow: Tensor, col: Tensor, shape: tuple[int, int]) -> Tensor:
        return csr_tensor(crow, col, torch.ones(col.numel(), dtype=self.dtype, device=col.device), shape)


class _Attention(torch.autograd.Function):
    """out (n, H, C) from x (n, H, C) and a (n, 2H), which holds a_src and a_dst side by side."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, pattern: AttentionPattern, x: Tensor, a: Tensor, slope: float, p: float
    ) -> Tensor:
        n, H, C = x.shape
        z = sparse_product(pattern.ends, a.reshape(2 * n, H))  # z_ij = a_src_j + a_dst_i
        logits = functional.leaky_relu(z, slope)
        maximum = torch.segment_reduce(logits, "max", offsets=pattern.crow)
        e = logits.sub_(sparse_product(pattern.spread, maximum)).exp_()  # e_ij = exp(l_ij − m_i)
        S = sparse_product(pattern.sum_in, e).add_(1e-16)
        f = dropout(e, p, training=p > 0)
        per_head = pattern.per_head(H)
        weights = with_values(per_head.matrix, f.view(-1).index_select(0, per_head.order))
        out = sparse_product(weights, x.reshape(n * H, C)).view(n, H, C).div_(S.unsqueeze(-1))  # (1/S_i) Σ_j f_ij x_j
        ctx.pattern, ctx.slope = pattern, slope
        ctx.save_for_backward(x, z, e, f, S, out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor, Tensor, None, None]:  # type: ignore[override]
        x, z, e, f, S, out = ctx.saved_tensors
        pattern, (n, H, C) = ctx.pattern, x.shape
        per_head = pattern.per_head(H)
        scaled = (gradient / S.unsqueeze(-1)).reshape(n * H, C)  # γ_i = ḡ_i / S_i
        share = (scaled.view(n, H, C) * out).sum(dim=-1)  # ⟨γ_i, out_i⟩
        d_logits = _on_edges(per_head.matrix, scaled, x.reshape(n * H, C)).index_select(0, per_head.place).view_as(e)
        # l̄_ij = f_ij ⟨γ_i, x_j⟩ − e_ij ⟨γ_i, out_i⟩
        d_logits.mul_(f).addcmul_(sparse_product(pattern.spread, share), e, value=-1)
        d_z = torch.ops.aten.leaky_relu_backward(d_logits, z, ctx.slope, False)
        d_a = sparse_product(pattern.into_ends, d_z).view(n, 2 * H)
        weights = with_values(per_head.transposed, f.view(-1).index_select(0, per_head.transposed_order))
        d_x = sparse_product(weights, scaled).view(n, H, C)  # x̄_j = Σ_i f_ij γ_i
        return None, d_x, d_a, None, None


def _on_edges(pattern: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """⟨left_i, right_j⟩ for the pattern's entries; on a CPU twice as fast as gathering both sides, with less memory."""
    if pattern.values().numel() > pattern.numel():  # torch's kernel refuses that many parallel edges
        row = torch.repeat_interleave(pattern.crow_indices().diff())
        return (left[row] * right[pattern.col_indices()]).sum(dim=-1)
    # torch's kernel is two to four times slower if the number of columns is not a multiple of eight.
    left, right = (functional.pad(side, (0, -side.shape[1] % 8)) for side in (left, right))
    return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0).values()


class FusedGATConv(nn.Module):
    """PyG's ``GATConv`` without edge features, on an :class:`AttentionPattern`, which holds the self-loops.

    Parameters, their names and their initialisation are GATConv's.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = False,
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.out_channels, self.heads, self.concat = out_channels, heads, concat
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        total = heads * out_channels if concat else out_channels
        self.lin = GlorotLinear(in_channels, heads * out_channels)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.res = GlorotLinear(in_channels, total) if residual else None
        self.bias = nn.Parameter(torch.empty(total))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.lin.reset_parameters()
        if self.res is not None:
            self.res.reset_parameters()
        glorot(self.att_src)
        glorot(self.att_dst)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor, pattern: AttentionPattern) -> Tensor:
        H, C = self.heads, self.out_channels
        features = self.lin(x)
        # ⟨x_h, att_h⟩ for every head at once: (n, HC) times the attention vectors as blocks (HC, 2H).
        heads = torch.eye(H, dtype=features.dtype, device=features.device).unsqueeze(1)
        vectors = torch.stack([self.att_src[0], self.att_dst[0]])  # (2, H, C)
        blocks = (vectors.unsqueeze(-1) * heads).permute(1, 2, 0, 3).reshape(H * C, 2 * H)
        p = self.dropout if self.training else 0.0
        out = _Attention.apply(pattern, features.view(-1, H, C), features @ blocks, self.negative_slope, p)
        out = out.reshape(-1, H * C) if self.concat else out.mean(dim=1)
        out = out if self.res is None else out + self.res(x)
        return out + self.bias


def gat_layer(fused: bool) -> Callable[..., nn.Module]:
    """The class of a layer: ours, or PyG's, which takes seconds to import."""
    if fused:
        return FusedGATConv
    from torch_geometric.nn import GATConv

    return GATConv
