"""The released recipe, reimplemented from its description, as the baseline for the exact solver.

It deliberately keeps every expensive choice: a COO product, the state doubled with zeros, dopri5 at rtol 1e-7 and
atol 1e-9 through torchdiffeq with the graph of all stages kept, W rebuilt at each evaluation of the derivative,
dense features, and a separate forward pass with gradients on for the validation and for the test accuracy.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchdiffeq import odeint

from benchmarks.problem import Problem
from cgnn.paper.hyperparameters import Hyperparameters

RTOL, ATOL = 1e-7, 1e-9


def coo_adjacency(problem: Problem, gamma: float, dtype: torch.dtype) -> Tensor:
    """Â = D^-1/2 (Adj + γI) D^-1/2 with D counting γ, as a coalesced COO tensor."""
    n, edges = problem.data.num_nodes, problem.data.edge_index
    index = torch.cat([edges, torch.arange(n).expand(2, -1)], dim=1)
    value = torch.cat([torch.ones(edges.shape[1], dtype=dtype), torch.full((n,), gamma, dtype=dtype)])
    degree = torch.zeros(n, dtype=dtype).index_add_(0, index[0], value)
    scale = degree.rsqrt()
    normalised = scale[index[0]] * value * scale[index[1]]
    return torch.sparse_coo_tensor(index, normalised, (n, n), check_invariants=False).coalesce()


class Derivative(nn.Module):
    """H' = (α/2)(ÂH − H) + E, with weights + H(W − I); α = σ(θ), E cut from the gradient."""

    def __init__(self, adjacency: Tensor, width: int, settings: Hyperparameters, weight: bool) -> None:
        super().__init__()
        n, dtype = adjacency.shape[0], adjacency.dtype
        self.adjacency = adjacency
        self.theta = nn.Parameter(torch.full((n,), settings.alpha, dtype=dtype))
        self.beta = settings.beta
        self.source: Tensor | None = None
        self.u = nn.Parameter(torch.eye(width, dtype=dtype)) if weight else None
        self.m = nn.Parameter(torch.ones(width, dtype=dtype)) if weight else None
        self.evaluations = 0

    def forward(self, t: Tensor, state: Tensor) -> Tensor:
        self.evaluations += 1
        alpha = torch.sigmoid(self.theta).unsqueeze(1)
        change = alpha * 0.5 * (torch.sparse.mm(self.adjacency, state) - state)
        if self.u is not None and self.m is not None:
            w = (self.u * self.m.clamp(0, 1)) @ self.u.t()
            change = change + state @ w - state
        return change + self.source

    @torch.no_grad()
    def orthogonality_step(self) -> None:
        """U ← (1 + β)U − βUUᵀU."""
        if self.u is not None:
            self.u.copy_((1 + self.beta) * self.u - self.beta * self.u @ self.u.t() @ self.u)


class ReleasedCGNN(nn.Module):
    """Encoder, doubled state, ODE, first half, ReLU, decoder."""

    def __init__(
        self, problem: Problem, settings: Hyperparameters, weight: bool, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        hidden = settings.hidden
        self.settings = settings
        self.encoder = nn.Linear(problem.data.num_features, hidden, dtype=dtype)
        self.decoder = nn.Linear(hidden, problem.data.num_classes, dtype=dtype)
        self.derivative = Derivative(coo_adjacency(problem, settings.gamma, dtype), 2 * hidden, settings, weight)
        self.register_buffer("times", torch.tensor([0.0, settings.t1], dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        e = self.encoder(F.dropout(x, self.settings.input_dropout, self.training))
        e = torch.cat([e, torch.zeros_like(e)], dim=1)
        self.derivative.source = e.clone().detach()
        h = odeint(self.derivative, e, self.times, rtol=RTOL, atol=ATOL, method="dopri5")[1]
        h = F.relu(torch.chunk(h, 2, dim=1)[0])
        return self.decoder(F.dropout(h, self.settings.dropout, self.training))


class ReleasedEpoch:
    """One epoch of the released recipe."""

    def __init__(self, problem: Problem, settings: Hyperparameters, weight: bool) -> None:
        torch.manual_seed(0)
        self.problem = problem
        self.model = ReleasedCGNN(problem, settings, weight)
        kind = {"rmsprop": torch.optim.RMSprop, "adam": torch.optim.Adam}[settings.optimizer]
        self.optimizer = kind(self.model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
        self.features = problem.data.x.to_dense()

    def _evaluate(self, nodes: Tensor) -> float:
        self.model.eval()
        logits = self.model(self.features)
        labels = self.problem.data.labels[nodes]
        F.cross_entropy(logits[nodes], labels).item()
        return (logits[nodes].argmax(dim=1) == labels).double().mean().item()

    def __call__(self) -> tuple[float, float]:
        self.model.derivative.evaluations = 0
        self.model.train()
        self.optimizer.zero_grad()
        logits = self.model(self.features)
        train = self.problem.train
        F.cross_entropy(logits[train], self.problem.data.labels[train]).backward()
        self.optimizer.step()
        self.model.derivative.orthogonality_step()
        return self._evaluate(self.problem.validation), self._evaluate(self.problem.test)

    @property
    def evaluations_of_last_epoch(self) -> int:
        return self.model.derivative.evaluations
