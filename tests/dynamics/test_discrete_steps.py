"""CGNN discrete against the recurrence written out."""

import pytest
import torch

from cgnn.dynamics.discrete import propagate
from cgnn.dynamics.operator import Propagation
from cgnn.errors import UserError

pytestmark = pytest.mark.numerics


@pytest.mark.parametrize("derivative", ["paper", "released"])
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_it_is_the_recurrence_with_its_gradients(graph, oracle, derivative, steps):
    operator = Propagation.build(
        graph.edge_index, num_nodes=graph.n, gamma=0.3, derivative=derivative, dtype=torch.float64
    )
    alpha = torch.rand(graph.n, dtype=torch.float64, requires_grad=True)
    E = torch.randn(graph.n, 2, dtype=torch.float64, requires_grad=True)
    H = E
    for _ in range(steps):
        A_hat = oracle.adjacency(graph.edge_index, graph.n, 0.3)
        H = alpha[:, None] / 2 * (H + A_hat @ H) + E
    assert torch.allclose(propagate(operator, E, alpha, steps), H)
    assert torch.autograd.gradcheck(lambda e, a: propagate(operator, e, a, steps), (E, alpha))


@pytest.mark.parametrize("shared", [False, True])
def test_replicas_side_by_side_equal_each_replica_alone_within_rounding(ordinary, same, shared):
    operator = Propagation.build(ordinary.edge_index, num_nodes=ordinary.n, gamma=0.3)
    E = torch.randn(ordinary.n, 3, 4, requires_grad=True)
    alpha = torch.rand(ordinary.n) if shared else torch.rand(ordinary.n, 3)
    together = propagate(operator, E, alpha, 5)
    g = torch.randn_like(together)
    (dE,) = torch.autograd.grad(together, E, g)
    for r in range(3):
        alone = propagate(operator, E[:, r], alpha if shared else alpha[:, r], 5)
        same(together[:, r], alone, 1e-6)
        same(dE[:, r], torch.autograd.grad(alone, E, g[:, r])[0][:, r], 1e-6)


def test_a_negative_number_of_steps_is_named(ordinary):
    operator = Propagation.build(ordinary.edge_index, num_nodes=ordinary.n, gamma=0.3)
    with pytest.raises(UserError, match="discrete steps: found -1"):
        propagate(operator, torch.randn(ordinary.n, 2), torch.rand(ordinary.n), -1)
