"""Properties of the solution that hold for every graph, α, γ and time."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cgnn.dynamics import chebyshev
from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.problem import LinearODE

pytestmark = pytest.mark.numerics

few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def cases(draw):
    n = draw(st.integers(1, 9))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    seed = draw(st.integers(0, 2**31 - 1))
    gamma = draw(st.sampled_from([0.0, 0.1, 0.555, 2.0]))
    t1 = draw(st.floats(0, 40))
    return n, chosen, seed, gamma, t1, draw(st.sampled_from(["paper", "released"]))


def built(case, oracle):
    n, chosen, seed, gamma, t1, derivative = case
    generator = torch.Generator().manual_seed(seed)
    edge_index = oracle.undirected(*chosen)
    operator = Propagation.build(edge_index, num_nodes=n, gamma=gamma, derivative=derivative, dtype=torch.float64)
    alpha = torch.rand(n, generator=generator, dtype=torch.float64)
    E = torch.randn(n, 2, generator=generator, dtype=torch.float64)
    return LinearODE(operator, E, alpha), oracle.M(edge_index, n, gamma, alpha, derivative), t1


@few
@given(cases())
def test_the_series_agrees_with_the_matrix_exponential(oracle, same, case):
    ode, M, t1 = built(case, oracle)
    same(chebyshev.solve(ode, t1), oracle.solution(M, ode.E, t1), 1e-9)


@few
@given(cases())
def test_the_solution_is_linear_in_E(oracle, same, case):
    ode, _, t1 = built(case, oracle)
    twice = LinearODE(ode.propagation, 2 * ode.E + 3, ode.alpha)
    ones = LinearODE(ode.propagation, torch.full_like(ode.E, 3), ode.alpha)
    same(chebyshev.solve(twice, t1), 2 * chebyshev.solve(ode, t1) + chebyshev.solve(ones, t1), 1e-10)


@few
@given(cases(), st.randoms(use_true_random=False))
def test_renumbering_the_nodes_renumbers_the_solution(oracle, same, case, random):
    n, chosen, *rest = case
    order = list(range(n))
    random.shuffle(order)
    ode, _, t1 = built(case, oracle)
    renamed, _, _ = built((n, [(order[i], order[j]) for i, j in chosen], *rest), oracle)
    index = torch.tensor(order)
    E, alpha = torch.empty_like(ode.E), torch.empty_like(ode.alpha)
    E[index], alpha[index] = ode.E, ode.alpha
    moved = chebyshev.solve(LinearODE(renamed.propagation, E, alpha), t1)
    same(moved[index], chebyshev.solve(ode, t1), 1e-9)


@few
@given(cases())
def test_the_gradient_is_the_adjoint_of_the_solution(oracle, same, case):
    """⟨g, H(E)⟩ = ⟨dE(g), E⟩, as H is linear in E."""
    ode, _, t1 = built(case, oracle)
    E = ode.E.requires_grad_()
    g = torch.randn(E.shape, generator=torch.Generator().manual_seed(case[2]), dtype=torch.float64)
    H = chebyshev.solve(LinearODE(ode.propagation, E, ode.alpha), t1)
    (dE,) = torch.autograd.grad(H, E, g)
    H, E = H.detach(), E.detach()
    scale = float(g.norm() * H.norm()) / max(1e-9, float((g * H).sum().abs()))
    same((dE * E).sum(), (g * H).sum(), 1e-9 * scale)
