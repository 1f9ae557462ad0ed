"""The operator of the paper's ODEs: A, M = A − I or the released code's M, per-node α, self-loop weight γ.

Both presets have the same form. With Â = D^-1/2 (Adj + γI) D^-1/2 and D_α = diag(α),

    paper     M = (α/2)(I + Â) − I     spectrum in [−1, 0)     R = (I + Â)/2     M =  D_α R − I
    released  M = (α/2)(Â − I)         spectrum in [−α, 0]     R = (I − Â)/2     M = −D_α R

R is symmetric with spectrum in [0, 1] and constant; only α is learned. X = I − (2/b) D_α R has its
spectrum in [−1, 1] for any b ≥ max α and is the argument of the Chebyshev series.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cgnn.dynamics.sparse import csr_tensor, sparse_product, with_values
from cgnn.errors import UserError

Derivative = Literal["paper", "released"]


def edge_list(edge_index: Any, edge_weight: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """PyG's edge list (2, m) and its weights, from any supported representation of a graph.

    Args:
        edge_index (Tensor, EdgeIndex or SparseTensor): an edge list, a sparse adjacency matrix of torch (COO, CSR, CSC)
            or of ``torch_sparse``. The values of a matrix are its weights, unless ``edge_weight`` is given.
        edge_weight (Tensor, optional): one weight per edge.
    """
    check_graph_type(edge_index)
    if not isinstance(edge_index, Tensor):
        row, col, value = edge_index.coo()  # torch_sparse.SparseTensor
        return torch.stack([row, col]), value if edge_weight is None else edge_weight
    if edge_index.layout != torch.strided:
        coo = edge_index.to_sparse_coo().coalesce()
        return coo.indices(), coo.values() if edge_weight is None else edge_weight
    # EdgeIndex is a subclass whose operations keep track of sortedness; here a plain tensor is enough.
    return edge_index.as_subclass(Tensor), edge_weight


def check_graph_type(edge_index: Any) -> None:
    """Raise unless ``edge_index`` is a tensor or a SparseTensor of torch_sparse."""
    if not isinstance(edge_index, Tensor) and not hasattr(edge_index, "coo"):
        raise UserError(
            f"edge_index: found {type(edge_index).__name__}, expected a tensor of shape (2, number of edges) "
            "or a sparse adjacency matrix"
        )


def normalised_adjacency(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    num_nodes: int,
    gamma: float,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """Â = D^-1/2 (Adj + γI) D^-1/2 as a CSR tensor in which every diagonal entry is stored.

    D includes γ, so an isolated node has Â_ii = 1 if γ > 0 and an empty row if γ = 0. Parallel edges add up; self-loops
    of the graph are added to γ. The graph must be undirected with weights ≥ 0; otherwise the spectrum is not in
    [−1, 1] and the equation changes.
    """
    pattern, values = _normalise(edge_index, edge_weight, num_nodes, gamma, device)
    return with_values(pattern, values.detach().to(dtype))


def _normalise(
    edge_index: Any, edge_weight: Tensor | None, num_nodes: int, gamma: float, device: torch.device | str | None
) -> tuple[Tensor, Tensor]:
    """Â as a CSR tensor (without a gradient), and its values, through which a gradient of the weights flows."""
    edge_index, edge_weight = edge_list(edge_index, edge_weight)
    if not (math.isfinite(gamma) and gamma >= 0):
        raise UserError(f"gamma: found {gamma}, expected a self-loop weight of at least 0")
    device = edge_index.device if device is None else torch.device(device)
    _check_edges(edge_index, edge_weight, num_nodes)
    loops = torch.arange(num_nodes, device=device)
    # float64 throughout: the normalisation is done once, and its rounding error would affect every product.
    weight = edge_index.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight.reshape(-1)
    self_loops = torch.full((num_nodes,), gamma, device=device, dtype=torch.float64)
    weight = torch.cat([weight.to(device, torch.float64), self_loops])
    index = torch.cat([edge_index.to(device), loops.expand(2, -1)], dim=1)
    shape = (num_nodes, num_nodes)
    adjacency = torch.sparse_coo_tensor(index, weight, shape, device=device, check_invariants=False).coalesce()
    (row, col), value = adjacency.indices(), adjacency.values()
    _check_symmetric(row, col, value.detach(), num_nodes)
    degree = torch.zeros(num_nodes, dtype=torch.float64, device=device).index_add(0, row, value)
    degree = torch.where(degree > 0, degree, 1.0)
    normalised = value / (degree[row] * degree[col]).sqrt()  # exactly 1 for an isolated node
    crow = torch.zeros(num_nodes + 1, dtype=torch.int64, device=device)
    crow[1:] = torch.bincount(row, minlength=num_nodes).cumsum(0)
    return csr_tensor(crow, col, normalised.detach(), (num_nodes, num_nodes)), normalised


def _check_edges(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> None:
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise UserError(f"edge_index: found shape {tuple(edge_index.shape)}, expected (2, number of edges)")
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise UserError(f"edge_index: found {edge_index.dtype}, expected node indices as torch.int64")
    if edge_index.numel() and (int(edge_index.min()) < 0 or int(edge_index.max()) >= num_nodes):
        wrong = int(edge_index.min()) if int(edge_index.min()) < 0 else int(edge_index.max())
        raise UserError(f"edge_index: found node {wrong}, expected numbers from 0 to {num_nodes - 1}")
    if edge_weight is None:
        return
    if edge_weight.numel() != edge_index.shape[1]:
        found = f"{edge_weight.numel()} weights for {edge_index.shape[1]} edges"
        raise UserError(f"edge_weight: found {found}, expected one weight per edge")
    values = edge_weight.detach()
    if not bool(torch.isfinite(values).all()):
        kind = "NaN" if bool(torch.isnan(values).any()) else "an infinite weight"
        raise UserError(f"edge_weight: found {kind}, expected finite weights of at least 0")
    if bool((values < 0).any()):
        raise UserError("edge_weight: found a negative weight, expected weights of at least 0")


def _check_symmetric(row: Tensor, col: Tensor, value: Tensor, num_nodes: int) -> None:
    order = torch.argsort(col * num_nodes + row)
    mirrored = torch.equal(row[order], col) and torch.equal(col[order], row)
    if not (mirrored and torch.allclose(value[order], value)):
        raise UserError(
            "edge_index: found a directed graph, expected each edge in both directions with one weight; "
            "convert it with torch_geometric.utils.to_undirected"
        )


@dataclass(frozen=True)
class Propagation:
    r"""The graph's part of the ODE, which stays fixed while α is learned: 4R, its pattern, and its preset.

    ``paper``: :math:`R = (I + \hat{A})/2` and :math:`M = D_\alpha R - I`; ``released``: :math:`R = (I - \hat{A})/2` and
    :math:`M = -D_\alpha R`, with :math:`\hat{A} = D^{-1/2}(Adj + \gamma I)D^{-1/2}`. Made by :meth:`build`.
    """

    #: 4R as CSR (n × n); the factor 4 comes from 2X = 2I − 4 D_α R and is multiplied in once.
    R4: Tensor
    #: the column of each stored value; 64-bit, as index_select requires.
    column: Tensor
    #: 2 at the stored diagonal, 0 elsewhere: the values of 2I on the pattern of R.
    two_identity: Tensor
    derivative: Derivative
    #: the values of 4R as a function of edge weights that require a gradient; None if they do not.
    learned: Tensor | None = None

    @classmethod
    def build(
        cls,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        *,
        num_nodes: int,
        gamma: float,
        derivative: Derivative = "released",
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> "Propagation":
        """Normalise a graph.

        Args:
            edge_index (Tensor, EdgeIndex or SparseTensor): both directions of every edge, (2, m), or a sparse adjacency
                matrix (n, n).
            edge_weight (Tensor, optional): (m,), at least 0, equal in both directions. If it requires a gradient, the
                solvers compute it.
            num_nodes (int): n.
            gamma (float): the weight of each node's self-loop.
            derivative (str): ``"paper"`` or ``"released"``.
            dtype (torch.dtype): dtype of the result; the normalisation itself is done in float64.
            device (torch.device, optional): device of the result; by default that of ``edge_index``.
        """
        adjacency, values = _normalise(edge_index, edge_weight, num_nodes, gamma, device)
        column = adjacency.col_indices().long()
        counts = adjacency.crow_indices().diff().long()
        row = torch.repeat_interleave(torch.arange(num_nodes, device=column.device), counts)
        identity = (row == column).to(torch.float64)
        sign = 1 if derivative == "paper" else -1
        R4 = (2 * (identity + sign * values)).to(dtype)  # 4R = 2(I ± Â)
        return cls(
            with_values(adjacency, R4.detach()),
            column,
            (2 * identity).to(dtype),
            derivative,
            R4 if R4.requires_grad else None,
        )

    @property
    def num_nodes(self) -> int:
        """n"""
        return self.R4.shape[0]

    def transposed_two_x(self, alpha: Tensor) -> Tensor:
        """2X^T = 2I − 4 R D_α as CSR, for one α (n,)."""
        scaled = self.R4.values() * torch.index_select(alpha, 0, self.column)
        return with_values(self.R4, torch.sub(self.two_identity, scaled, out=scaled))

    def product(self, H: Tensor) -> Tensor:
        """4RH, differentiable in H (n, …), and in the edge weights where they require a gradient."""
        if self.learned is None:
            return symmetric_product(self.R4, H)
        return _LearnedProduct.apply(self.R4, self.learned, H.reshape(H.shape[0], -1)).view(H.shape)

    def apply_M(self, alpha: Tensor, H: Tensor) -> Tensor:
        """MH, differentiable in α and H; H is (n, d) or (n, R, d), α (n,) or (n, R)."""
        spread = alpha.unsqueeze(-1) * (0.25 * self.product(H))  # D_α R H
        return spread - H if self.derivative == "paper" else -spread

    def apply_A(self, alpha: Tensor, H: Tensor) -> Tensor:
        """AH = (α/2)(I + Â)H in both presets, differentiable."""
        half = 0.25 * self.product(H)  # R H
        return alpha.unsqueeze(-1) * (half if self.derivative == "paper" else H - half)


class _SymmetricProduct(torch.autograd.Function):
    """P H for a constant symmetric P; the gradient is P ḡ, with the same matrix."""

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


class _LearnedProduct(torch.autograd.Function):
    """P H for a symmetric P whose ``values`` are learned: dH = P ḡ, and dP_ij = ⟨ḡ_i, H_j⟩ on the edges only."""

    @staticmethod
    def forward(ctx, matrix: Tensor, values: Tensor, H: Tensor) -> Tensor:  # type: ignore[no-untyped-def, override]
        ctx.matrix = matrix
        ctx.save_for_backward(H)
        return sparse_product(matrix, H.contiguous())

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor) -> tuple[None, Tensor, Tensor]:  # type: ignore[no-untyped-def, override]
        (H,), matrix = ctx.saved_tensors, ctx.matrix
        gradient = gradient.contiguous()
        row = torch.repeat_interleave(matrix.crow_indices().diff().long())
        on_edges = (gradient.index_select(0, row) * H.index_select(0, matrix.col_indices().long())).sum(-1)
        return None, on_edges, sparse_product(matrix, gradient)
