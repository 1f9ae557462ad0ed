"""The released recipe, written anew from its description in docs/fidelity: what the exact solver is measured against.

It keeps every costly habit on purpose: a COO product, the state doubled with zeros, dopri5 at rtol 1e-7 and
atol 1e-9 through torchdiffeq with the graph of all stages kept, W rebuilt at each evaluation of the derivative,
dense features, and a separate forward pass with gradients on for the validation and for the test accuracy.
"""

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchdiffeq import odeint

from benchmarks.problem import Problem, Settings, accuracy, make_optimizer

RTOL, ATOL = 1e-7, 1e-9


class Epoch(Protocol):
    """One contestant: a call is a whole epoch (step, validation and test accuracy)."""

    def __call__(self) -> tuple[float, float]: ...


def coo_adjacency(problem: Problem, gamma: float, dtype: torch.dtype) -> Tensor:
    """Â = D^-1/2 (Adj + γI) D^-1/2 with D counting γ, as a coalesced COO tensor."""
    n = problem.num_nodes
    loops = torch.arange(n)
    index = torch.cat([problem.edge_index, torch.stack([loops, loops])], dim=1)
    value = torch.cat([torch.ones(problem.edge_index.shape[1], dtype=dtype), torch.full((n,), gamma, dtype=dtype)])
    degree = torch.zeros(n, dtype=dtype).index_add_(0, index[0], value)
    scale = degree.rsqrt()
    return torch.sparse_coo_tensor(index, scale[index[0]] * value * scale[index[1]], (n, n)).coalesce()


class Derivative(nn.Module):
    """H' = (α/2)(ÂH − H) + E, with weights + H(W − I); α = σ(θ), E cut from the gradient."""

    def __init__(self, adjacency: Tensor, width: int, settings: Settings, weight: bool) -> None:
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

    def __init__(self, problem: Problem, settings: Settings, weight: bool, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        hidden = settings.hidden
        self.settings = settings
        self.encoder = nn.Linear(problem.num_features, hidden, dtype=dtype)
        self.decoder = nn.Linear(hidden, problem.num_classes, dtype=dtype)
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

    def __init__(self, problem: Problem, settings: Settings, weight: bool) -> None:
        torch.manual_seed(0)
        self.problem = problem
        self.model = ReleasedCGNN(problem, settings, weight)
        self.optimizer = make_optimizer(self.model.parameters(), settings)
        self.features = problem.features.to_dense()

    def _evaluate(self, nodes: Tensor) -> float:
        self.model.eval()
        logits = self.model(self.features)
        F.cross_entropy(logits[nodes], self.problem.labels[nodes]).item()
        return accuracy(logits, self.problem.labels, nodes)

    def __call__(self) -> tuple[float, float]:
        self.model.train()
        self.optimizer.zero_grad()
        logits = self.model(self.features)
        F.cross_entropy(logits[self.problem.train], self.problem.labels[self.problem.train]).backward()
        self.optimizer.step()
        self.model.derivative.orthogonality_step()
        return self._evaluate(self.problem.validation), self._evaluate(self.problem.test)
