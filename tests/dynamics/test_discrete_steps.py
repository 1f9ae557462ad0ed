"""The discrete CGNN against explicit recursions on dense matrices."""

import pytest
import torch

from cgnn.dynamics.discrete import propagate
from cgnn.dynamics.operator import Propagation
from cgnn.errors import UserError
from cgnn.models.cgnn import CGNN
from cgnn.paper.fidelity import preset

pytestmark = pytest.mark.numerics


def explicit_recursion(kind, derivative, source, A_hat, E, alpha, steps):
    """The recursions as documented; autograd computes their gradients."""
    H, a = E, alpha[:, None]
    added = E.detach() if source == "cut" and kind == "euler" else E
    for _ in range(steps):
        printed = a / 2 * (H + A_hat @ H)  # AH
        if kind == "appnp":
            H = a * (A_hat @ H) + (1 - a) * added
        elif kind == "hybrid":
            H = printed + added
        elif derivative == "paper":
            H = H + (printed - H) + added  # H + (A − I)H + E
        else:
            H = H + a / 2 * (A_hat @ H - H) + added
    return H


@pytest.mark.parametrize("source", ["flows", "cut"])
@pytest.mark.parametrize("kind", ["euler", "hybrid", "appnp"])
@pytest.mark.parametrize("derivative", ["paper", "released"])
@pytest.mark.parametrize("steps", [0, 1, 7])
def test_propagate_agrees_with_the_recursion_and_its_gradients(graph, oracle, derivative, kind, source, steps):
    operator = Propagation.build(
        graph.edge_index, num_nodes=graph.n, gamma=0.3, derivative=derivative, dtype=torch.float64
    )
    alpha = torch.rand(graph.n, dtype=torch.float64, requires_grad=True)
    E = torch.randn(graph.n, 2, dtype=torch.float64, requires_grad=True)
    A_hat = oracle.adjacency(graph.edge_index, graph.n, 0.3)
    found = propagate(operator, E, alpha, steps, kind, source)
    expected = explicit_recursion(kind, derivative, source, A_hat, E, alpha, steps)
    torch.testing.assert_close(found, expected)
    weight = torch.randn_like(found)
    theirs = torch.autograd.grad(expected, (E, alpha), weight, allow_unused=True)
    for one, other in zip(torch.autograd.grad(found, (E, alpha), weight), theirs, strict=True):
        torch.testing.assert_close(one, torch.zeros_like(one) if other is None else other)


def test_under_the_paper_preset_the_euler_step_is_the_printed_recursion(ordinary, oracle):
    """The whole model computes 50 steps of H_{n+1} = A H_n + H_0."""
    torch.manual_seed(0)
    model = CGNN(4, 3, 2, ordinary.n, t1=12.0, gamma=0.3, variant="discrete", fidelity=preset("paper")).double().eval()
    model.conv.theta.data.normal_()
    x = torch.randn(ordinary.n, 4, dtype=torch.float64)
    H_0 = x @ model.encoder.weight + model.encoder.bias
    A_hat = oracle.adjacency(ordinary.edge_index, ordinary.n, 0.3)
    A = model.conv.alpha[:, None] / 2 * (torch.eye(ordinary.n, dtype=torch.float64) + A_hat)
    H = H_0
    for _ in range(50):
        H = A @ H + H_0
    expected = H.relu() @ model.decoder.weight + model.decoder.bias
    torch.testing.assert_close(model(x, ordinary.edge_index), expected)


def test_the_appnp_steps_agree_with_pyg_if_alpha_is_constant(ordinary):
    from torch_geometric.nn import APPNP

    operator = Propagation.build(ordinary.edge_index, num_nodes=ordinary.n, gamma=1.0, dtype=torch.float64)
    E, alpha = torch.randn(ordinary.n, 3, dtype=torch.float64), torch.full((ordinary.n,), 0.9, dtype=torch.float64)
    expected = APPNP(K=10, alpha=0.1)(E, ordinary.edge_index)
    torch.testing.assert_close(propagate(operator, E, alpha, 10, "appnp"), expected)


@pytest.mark.parametrize("kind", ["euler", "hybrid", "appnp"])
@pytest.mark.parametrize("shared", [False, True])
def test_replicas_side_by_side_equal_each_replica_alone_within_rounding(ordinary, same, shared, kind):
    operator = Propagation.build(ordinary.edge_index, num_nodes=ordinary.n, gamma=0.3)
    E = torch.randn(ordinary.n, 3, 4, requires_grad=True)
    alpha = torch.rand(ordinary.n) if shared else torch.rand(ordinary.n, 3)
    alpha.requires_grad_()
    together = propagate(operator, E, alpha, 5, kind)
    g = torch.randn_like(together)
    dE, dalpha = torch.autograd.grad(together, (E, alpha), g)
    parts = []
    for r in range(3):
        alone = propagate(operator, E[:, r], alpha if shared else alpha[:, r], 5, kind)
        same(together[:, r], alone, 1e-6)
        found, part = torch.autograd.grad(alone, (E, alpha), g[:, r])
        same(dE[:, r], found[:, r], 1e-6)
        parts.append(part)
    same(dalpha, sum(parts), 1e-5)


def test_the_error_names_a_negative_number_of_steps(ordinary):
    operator = Propagation.build(ordinary.edge_index, num_nodes=ordinary.n, gamma=0.3)
    with pytest.raises(UserError, match="discrete steps: found -1"):
        propagate(operator, torch.randn(ordinary.n, 2), torch.rand(ordinary.n), -1)
