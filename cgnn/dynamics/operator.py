"""The operator of the paper's ODEs: A, M = A − I or its released twin, per-node α, self-loop weight γ.

Both presets are brought to one form. With Â = D^-1/2 (Adj + γI) D^-1/2 and D_α = diag(α),

    paper     M = (α/2)(I + Â) − I     spectrum in [−1, 0)     R = (I + Â)/2     M =  D_α R − I
    released  M = (α/2)(Â − I)         spectrum in [−α, 0]     R = (I − Â)/2     M = −D_α R

R is symmetric with spectrum in [0, 1] and never changes; only α is learned. X = I − (2/b) D_α R has its
spectrum in [−1, 1] for any b ≥ max α and is what the Chebyshev series runs on.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from cgnn.dynamics.sparse import csr_tensor, sparse_product, with_values
from cgnn.errors import UserError

Derivative = Literal["paper", "released"]


def normalised_adjacency(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    num_nodes: int,
    gamma: float,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """Â = D^-1/2 (Adj + γI) D^-1/2 as a CSR tensor in which every diagonal entry is stored.

    D counts γ, so an isolated node has Â_ii = 1 if γ > 0 and an empty row if γ = 0. Parallel edges add
    up; self-loops of the graph itself join γ. The graph must be undirected with weights ≥ 0, else the
    spectrum leaves [−1, 1] and the ODE is another one.
    """
    if edge_index.layout != torch.strided:
        coo = edge_index.to_sparse_coo().coalesce()
        edge_index, edge_weight = coo.indices(), coo.values() if edge_weight is None else edge_weight
    if gamma < 0:
        raise UserError(f"gamma: found {gamma}, expected a self-loop weight of at least 0")
    device = edge_index.device if device is None else torch.device(device)
    _check_edges(edge_index, edge_weight, num_nodes)
    loops = torch.arange(num_nodes, device=device)
    # float64 throughout: the normalisation is done once, and its rounding would be in every product.
    weight = torch.ones(edge_index.shape[1]) if edge_weight is None else edge_weight.detach().reshape(-1)
    self_loops = torch.full((num_nodes,), gamma, device=device, dtype=torch.float64)
    weight = torch.cat([weight.to(device, torch.float64), self_loops])
    index = torch.cat([edge_index.to(device), loops.expand(2, -1)], dim=1)
    adjacency = torch.sparse_coo_tensor(index, weight, (num_nodes, num_nodes), check_invariants=False).coalesce()
    (row, col), value = adjacency.indices(), adjacency.values()
    degree = torch.zeros(num_nodes, dtype=torch.float64, device=device).index_add_(0, row, value)
    degree = torch.where(degree > 0, degree, 1.0)
    normalised = value / (degree[row] * degree[col]).sqrt()  # exactly 1 for an isolated node
    _check_symmetric(row, col, value, num_nodes)
    crow = torch.zeros(num_nodes + 1, dtype=torch.int64, device=device)
    crow[1:] = torch.bincount(row, minlength=num_nodes).cumsum(0)
    return csr_tensor(crow, col, normalised.to(dtype), (num_nodes, num_nodes))


def _check_edges(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> None:
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise UserError(f"edge_index: found shape {tuple(edge_index.shape)}, expected (2, number of edges)")
    if edge_index.numel() and (int(edge_index.min()) < 0 or int(edge_index.max()) >= num_nodes):
        raise UserError(f"edge_index: found node {int(edge_index.max())}, expected numbers from 0 to {num_nodes - 1}")
    if edge_weight is not None and edge_weight.numel() != edge_index.shape[1]:
        found = f"{edge_weight.numel()} weights for {edge_index.shape[1]} edges"
        raise UserError(f"edge_weight: found {found}, expected one each")
    if edge_weight is not None and edge_weight.numel() and float(edge_weight.min()) < 0:
        raise UserError("edge_weight: found a negative weight; the ODE needs weights of at least 0")


def _check_symmetric(row: Tensor, col: Tensor, value: Tensor, num_nodes: int) -> None:
    order = torch.argsort(col * num_nodes + row)
    mirrored = torch.equal(row[order], col) and torch.equal(col[order], row)
    if not (mirrored and torch.allclose(value[order], value)):
        raise UserError(
            "edge_index: found a directed graph, expected each edge in both directions with one weight; "
            "torch_geometric.utils.to_undirected makes it so"
        )


@dataclass(frozen=True)
class Propagation:
    """What stays fixed while α is learned: 4R, its pattern, and which preset it belongs to."""

    #: 4R as CSR (n × n): the 4 is that of 2X = 2I − 4 D_α R, folded in once.
    R4: Tensor
    #: the column of each stored value; 64-bit, as gathers want it.
    column: Tensor
    #: 2 at the stored diagonal, 0 elsewhere: the values of 2I on the pattern of R.
    two_identity: Tensor
    derivative: Derivative

    @classmethod
    def build(
        cls,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        *,
        num_nodes: int,
        gamma: float,
        derivative: Derivative = "released",
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> "Propagation":
        """From PyG's edge list, or a sparse adjacency matrix, to the operator."""
        adjacency = normalised_adjacency(edge_index, edge_weight, num_nodes, gamma, torch.float64, device)
        column = adjacency.col_indices().long()
        counts = adjacency.crow_indices().diff().long()
        row = torch.repeat_interleave(torch.arange(num_nodes, device=column.device), counts)
        identity = (row == column).to(torch.float64)
        sign = 1 if derivative == "paper" else -1
        values = 2 * (identity + sign * adjacency.values())  # 4R = 2(I ± Â)
        return cls(with_values(adjacency, values.to(dtype)), column, (2 * identity).to(dtype), derivative)

    @property
    def num_nodes(self) -> int:
        return self.R4.shape[0]

    def transposed_two_x(self, alpha: Tensor) -> Tensor:
        """2X^T = 2I − 4 R D_α as CSR, for one α (n,)."""
        scaled = self.R4.values() * torch.index_select(alpha, 0, self.column)
        return with_values(self.R4, torch.sub(self.two_identity, scaled, out=scaled))

    def apply_M(self, alpha: Tensor, H: Tensor) -> Tensor:
        """MH, differentiable in α and H; H is (n, d) or (n, R, d), α (n,) or (n, R)."""
        spread = alpha.unsqueeze(-1) * (0.25 * symmetric_product(self.R4, H))  # D_α R H
        return spread - H if self.derivative == "paper" else -spread

    def apply_A(self, alpha: Tensor, H: Tensor) -> Tensor:
        """AH = (α/2)(I + Â)H in both presets, differentiable."""
        half = 0.25 * symmetric_product(self.R4, H)  # R H
        return alpha.unsqueeze(-1) * (half if self.derivative == "paper" else H - half)


class _SymmetricProduct(torch.autograd.Function):
    """P H for a constant symmetric P: the gradient is P ḡ, on the same matrix."""

    @staticmethod
    def forward(ctx, matrix: Tensor, H: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        ctx.matrix = matrix
        return sparse_product(matrix, H.contiguous())

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[None, Tensor]:  # type: ignore[no-untyped-def, override]
        return None, symmetric_product(ctx.matrix, gradient)


def symmetric_product(matrix: Tensor, H: Tensor) -> Tensor:
    """``matrix @ H`` over the first axis, for a constant symmetric matrix; differentiable in H, to any order."""
    return _SymmetricProduct.apply(matrix, H.reshape(H.shape[0], -1)).view(H.shape)
