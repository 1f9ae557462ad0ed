"""Memory as a function of the end time: constant for the recomputing solver, growing for the storing one."""

import pytest
import torch

from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.problem import LinearODE
from cgnn.dynamics.solvers import solve
from cgnn.training.device import PeakMemory


def peak_bytes(solver, t1, weight=None):
    n = 2000
    ring = torch.stack([torch.arange(n), (torch.arange(n) + 1) % n])
    operator = Propagation.build(torch.cat([ring, ring.flip(0)], 1), num_nodes=n, gamma=0.5)
    E = torch.randn(n, 16, requires_grad=True)
    alpha = torch.full((n,), 0.7).requires_grad_()
    with PeakMemory(torch.device("cpu")) as memory:
        solve(solver, LinearODE(operator, E, alpha, weight, "cut"), t1).sum().backward()
    return memory.bytes


# With weights the coefficients themselves are 33 matrices of 16 × 16.
@pytest.mark.parametrize("weight, tolerance", [(None, 0.05), (0.9 * torch.eye(32), 0.1)], ids=["plain", "weights"])
def test_recomputing_takes_the_same_memory_at_any_time(weight, tolerance):
    W = None if weight is None else weight.clone().requires_grad_()
    short, long = (peak_bytes("exact_recompute", t1, W) for t1 in (1.0, 100.0))
    assert abs(long / short - 1) < tolerance


def test_storing_grows_with_the_number_of_terms():
    assert peak_bytes("exact", 100.0) > 2 * peak_bytes("exact", 1.0)
