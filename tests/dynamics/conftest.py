"""Small graphs, and a dense solution of the ODE by the matrix exponential, which shares no code with the solvers."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch

from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.problem import LinearODE

DOUBLE = torch.float64


@pytest.fixture(autouse=True)
def _one_thread_and_a_seed():
    torch.set_num_threads(1)
    torch.manual_seed(7)


def undirected(*edges: tuple[int, int]) -> torch.Tensor:
    pairs = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T
    return torch.cat([pairs, pairs.flip(0)], dim=1)


GRAPHS = {
    "ordinary": (undirected((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4), (4, 5)), 6),
    "isolated nodes": (undirected((1, 3), (3, 4)), 6),
    "one node": (undirected(), 1),
    "disconnected": (undirected((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)), 6),
    "bipartite": (undirected((0, 3), (0, 4), (1, 3), (1, 4), (2, 4)), 5),
}


def dense_adjacency(edge_index, n, gamma):
    """Â by its definition."""
    adjacency = torch.zeros(n, n, dtype=DOUBLE)
    for i, j in edge_index.T.tolist():
        adjacency[i, j] += 1
    adjacency += gamma * torch.eye(n, dtype=DOUBLE)
    degree = adjacency.sum(1)
    return torch.where(adjacency > 0, adjacency / (degree[:, None] * degree).sqrt(), 0.0)


def dense_M(edge_index, n, gamma, alpha, derivative):
    A_hat, eye = dense_adjacency(edge_index, n, gamma), torch.eye(n, dtype=DOUBLE)
    if derivative == "paper":
        return alpha[:, None] / 2 * (eye + A_hat) - eye
    return alpha[:, None] / 2 * (A_hat - eye)


def dense_solution(M, E, t, W=None, source="flows"):
    """The matrix exponential of the whole linear system, with the source appended as a constant state."""
    n, d = E.shape
    width = d if W is None else W.shape[0]
    eye = torch.eye(width, dtype=DOUBLE)
    G = torch.kron(M, eye) + (0 if W is None else torch.kron(torch.eye(n, dtype=DOUBLE), (W - eye).T.contiguous()))
    size = n * width
    one, zero = torch.eye(size, dtype=DOUBLE), torch.zeros(size, size, dtype=DOUBLE)
    system = torch.cat([torch.cat([G * t, one * t], 1), torch.cat([zero, zero], 1)], 0)
    exponential = torch.linalg.matrix_exp(system)
    start = torch.nn.functional.pad(E, (0, width - d)).reshape(-1)
    H = exponential[:size, :size] @ start
    if source != "none":
        H = H + exponential[:size, size:] @ (start.detach() if source == "cut" else start)
    return H.view(n, width)[:, :d]


@pytest.fixture
def oracle():
    return SimpleNamespace(adjacency=dense_adjacency, M=dense_M, solution=dense_solution, undirected=undirected)


@pytest.fixture(params=list(GRAPHS))
def graph(request):
    edge_index, n = GRAPHS[request.param]
    return SimpleNamespace(name=request.param, edge_index=edge_index, n=n)


@pytest.fixture
def ordinary():
    edge_index, n = GRAPHS["ordinary"]
    return SimpleNamespace(name="ordinary", edge_index=edge_index, n=n)


@dataclass
class Problem:
    """The tensors of an ODE. Each access to ``ode`` computes W anew, so that its gradient can be taken repeatedly."""

    graph: SimpleNamespace
    gamma: float
    propagation: Propagation
    source: str
    E: torch.Tensor
    alpha: torch.Tensor
    U: torch.Tensor | None = None
    M: torch.Tensor | None = None

    @property
    def W(self):
        return None if self.U is None else (self.U * self.M) @ self.U.T

    @property
    def ode(self):
        return LinearODE(self.propagation, self.E, self.alpha, self.W, self.source)

    @property
    def inputs(self):
        return [x for x in (self.E, self.alpha, self.U, self.M) if x is not None]


@pytest.fixture
def problem():
    """A problem with random E, α and, if requested, U and M of W = U diag(M) U^T, all requiring gradients."""

    def make(graph, derivative, source="flows", weight=None, gamma=0.5, d=2, dtype=DOUBLE, alpha=None):
        propagation = Propagation.build(
            graph.edge_index, num_nodes=graph.n, gamma=gamma, derivative=derivative, dtype=dtype
        )
        E = torch.randn(graph.n, d, dtype=dtype, requires_grad=True)
        alpha = (torch.rand(graph.n, dtype=dtype) * 0.8 + 0.1 if alpha is None else alpha).requires_grad_()
        U = M = None
        if weight is not None:
            size = 2 * d
            U, M = torch.eye(size, dtype=dtype), torch.ones(size, dtype=dtype)
            if weight == "learned":  # as in training: U is not exactly orthogonal, and W slightly exceeds its bounds
                U = U + 0.05 * torch.randn(size, size, dtype=dtype)
                M = 0.4 + 0.6 * torch.rand(size, dtype=dtype)
            U.requires_grad_(), M.requires_grad_()
        return Problem(graph, gamma, propagation, source, E, alpha, U, M)

    return make


@pytest.fixture
def same():
    """Compare tensors relative to their largest entry, because single entries may be zero."""

    def check(found, expected, tolerance):
        scale = max(float(expected.detach().abs().max()), 1e-3) if expected.numel() else 1.0
        error = float((found - expected).detach().abs().max()) if expected.numel() else 0.0
        assert error <= tolerance * scale, f"differs by {error / scale:.1e}, allowed {tolerance:.0e}"

    return check
