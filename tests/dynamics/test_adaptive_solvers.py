"""The torchdiffeq solvers agree with the exact one, and the adjoint includes the gradient of the source term."""

import pytest
import torch

from cgnn.dynamics.problem import LinearODE
from cgnn.dynamics.solvers import SOLVER_MODULES, SOLVERS, solve
from cgnn.errors import UserError


def gradients(solver, ode, inputs, t1=2.0, **options):
    H = solve(solver, ode, t1, **options)
    torch.manual_seed(1)
    return [H, *torch.autograd.grad(H, inputs, torch.randn_like(H), allow_unused=True, materialize_grads=True)]


@pytest.mark.parametrize("derivative", ["paper", "released"])
@pytest.mark.parametrize("source", ["flows", "cut", "none"])
@pytest.mark.parametrize("weight", [None, "learned"])
@pytest.mark.parametrize("solver, options, tolerance", [
    ("dopri5", {"rtol": 1e-9, "atol": 1e-11}, 1e-6),
    ("dopri5_adjoint", {"rtol": 1e-7, "atol": 1e-9}, 1e-4),
    ("rk4", {}, 1e-3),
    ("rk4_adjoint", {}, 1e-3),
])  # fmt: skip
def test_every_solver_agrees_with_the_exact_one(
    problem, ordinary, same, derivative, source, weight, solver, options, tolerance
):
    case = problem(ordinary, derivative, source, weight)
    expected = gradients("exact", case.ode, case.inputs)
    found = gradients(solver, case.ode, case.inputs, **options)
    for a, b in zip(found, expected, strict=True):
        same(a, b, tolerance)


def test_with_the_adjoint_the_encoder_learns_through_the_source_term(problem, ordinary, same):
    """A common mistake is to treat E as a constant in the adjoint, so that only the path through H(0) remains."""
    case = problem(ordinary, "released")
    encoder = torch.nn.Linear(2, 2, dtype=torch.float64)

    def gradient(solver, source):
        ode = LinearODE(case.ode.propagation, encoder(case.E.detach()), case.alpha, None, source)
        return torch.autograd.grad(solve(solver, ode, 6.0).square().sum(), encoder.weight)[0]

    same(gradient("dopri5_adjoint", "flows"), gradient("dopri5", "flows"), 1e-5)
    assert not torch.allclose(gradient("dopri5_adjoint", "flows"), gradient("dopri5_adjoint", "cut"), rtol=1e-2)


def test_augmented_columns_stay_zero_without_weights(problem, ordinary):
    ode = problem(ordinary, "released").ode
    doubled = LinearODE(ode.propagation, ode.E, ode.alpha, width=4)
    assert torch.allclose(solve("dopri5", doubled, 6.0), solve("dopri5", ode, 6.0), rtol=1e-5)
    assert torch.equal(solve("exact", doubled, 6.0), solve("exact", ode, 6.0))


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_at_time_zero_the_solution_is_the_start(problem, ordinary, solver):
    ode = problem(ordinary, "paper", "flows", "learned").ode
    assert torch.allclose(solve(solver, ode, 0.0), ode.E)


@pytest.mark.parametrize("solver", ["dopri5", "rk4_adjoint"])
def test_replicas_can_be_solved_by_time_stepping(problem, ordinary, same, solver):
    cases = [problem(ordinary, "released", "flows", "learned") for _ in range(2)]
    stacked = LinearODE(
        cases[0].ode.propagation,
        torch.stack([case.E for case in cases], 1),
        torch.stack([case.alpha for case in cases], 1),
        torch.stack([case.ode.weight for case in cases]),
    )
    H = solve(solver, stacked, 3.0)
    for r, case in enumerate(cases):
        same(H[:, r], solve(solver, case.ode, 3.0), 1e-5)


def test_the_error_names_an_unknown_solver_and_lists_the_valid_ones(problem, ordinary):
    with pytest.raises(UserError, match=r"found 'euler', expected one of exact, exact_recompute, dopri5"):
        solve("euler", problem(ordinary, "paper").ode, 1.0)


def test_the_exact_solver_does_not_need_torchdiffeq():
    assert {SOLVER_MODULES["exact"], SOLVER_MODULES["exact_recompute"]} == {"cgnn.dynamics.chebyshev"}
    from cgnn.pipeline.fingerprint import import_closure

    assert "cgnn.dynamics.adaptive" not in import_closure("cgnn.models.cgnn", "cgnn.dynamics.chebyshev")
