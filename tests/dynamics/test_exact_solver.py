"""The Chebyshev solver against a dense matrix exponential, dopri5 and the closed form: values and gradients."""

import pytest
import torch

from cgnn.dynamics import adaptive, chebyshev, closed_form
from cgnn.dynamics.coefficients import coefficients
from cgnn.dynamics.problem import LinearODE
from cgnn.errors import UserError

pytestmark = pytest.mark.numerics

both_presets = pytest.mark.parametrize("derivative", ["paper", "released"])
every_source = pytest.mark.parametrize("source", ["flows", "cut", "none"])
every_weight = pytest.mark.parametrize("weight", [None, "identity", "learned"])


def with_gradients(H, inputs, cotangent):
    return [H, *torch.autograd.grad(H, inputs, cotangent, allow_unused=True, materialize_grads=True)]


def check(same, case, found, expected, tolerance):
    """Compare two solutions of the same problem, and their gradients with respect to all inputs."""
    cotangent = torch.randn_like(found)
    gradients = (with_gradients(H, case.inputs, cotangent) for H in (found, expected))
    for a, b in zip(*gradients, strict=True):
        same(a, b, tolerance)


def dense_solution(case, oracle, derivative, t1):
    M = oracle.M(case.graph.edge_index, case.graph.n, case.gamma, case.alpha, derivative)
    return oracle.solution(M, case.E, t1, case.W, case.source)


@both_presets
@every_source
@every_weight
@pytest.mark.parametrize("t1, tolerance", [(0.0, 1e-9), (0.01, 1e-9), (12.0, 1e-9), (100.0, 1e-7)])
def test_value_and_all_gradients_equal_the_matrix_exponential(
    problem, graph, oracle, same, derivative, source, weight, t1, tolerance
):
    case = problem(graph, derivative, source, weight)
    check(same, case, chebyshev.solve(case.ode, t1), dense_solution(case, oracle, derivative, t1), tolerance)


@both_presets
@pytest.mark.parametrize("source", ["flows", "cut"])
@pytest.mark.parametrize("weight", [None, "learned"])
def test_value_and_all_gradients_equal_dopri5(problem, ordinary, same, derivative, source, weight):
    case = problem(ordinary, derivative, source, weight)
    expected = adaptive.solve_dopri5(case.ode, 12.0, rtol=1e-9, atol=1e-11)
    check(same, case, chebyshev.solve(case.ode, 12.0), expected, 1e-6)


@both_presets
@pytest.mark.parametrize("weight", [None, "learned"])
@pytest.mark.parametrize("t1", [0.5, 12.0, 100.0])
def test_value_and_all_gradients_equal_the_closed_form(problem, ordinary, oracle, same, derivative, weight, t1):
    case = problem(ordinary, derivative, "flows", weight)
    A_hat = oracle.adjacency(ordinary.edge_index, ordinary.n, case.gamma)
    M = closed_form.eigen_of_M(A_hat, case.alpha, derivative)
    if weight is None:
        closed = closed_form.proposition_2(M, case.E, t1)
    else:
        padded = torch.nn.functional.pad(case.E, (0, case.U.shape[0] - case.E.shape[1]))
        closed = closed_form.proposition_4(M, closed_form.eigen_of_W(case.W), padded, t1)[:, : case.E.shape[1]]
    check(same, case, chebyshev.solve(case.ode, t1), closed, 1e-8)


@both_presets
@pytest.mark.parametrize("source", ["flows", "none"])  # a cut gradient is not the derivative of the value
def test_gradcheck_of_E_and_alpha(problem, ordinary, derivative, source):
    case = problem(ordinary, derivative)

    def solution(E, alpha):
        return chebyshev.solve(LinearODE(case.ode.propagation, E, alpha, None, source), 5.0)

    assert torch.autograd.gradcheck(solution, (case.E, case.alpha))


@both_presets
@pytest.mark.parametrize("weight", ["identity", "learned"])
@pytest.mark.parametrize("recompute", [False, True])
def test_gradcheck_of_everything_with_weights(problem, ordinary, derivative, weight, recompute):
    case = problem(ordinary, derivative, weight=weight)

    def solution(E, alpha, U, M):
        ode = LinearODE(case.ode.propagation, E, alpha, (U * M) @ U.T)
        return chebyshev.solve(ode, 5.0, recompute=recompute)

    assert torch.autograd.gradcheck(solution, tuple(case.inputs))


@both_presets
@every_weight
@pytest.mark.parametrize("t1", [0.0, 1e-6, 0.3, 12.0, 100.0])
def test_recomputing_gives_the_same_gradients_as_storing(problem, graph, same, derivative, weight, t1):
    case = problem(graph, derivative, "flows", weight)
    cotangent = torch.randn_like(case.E)
    stored = with_gradients(chebyshev.solve(case.ode, t1), case.inputs, cotangent)
    recomputed = with_gradients(chebyshev.solve_recomputing(case.ode, t1), case.inputs, cotangent)
    assert torch.equal(stored[0], recomputed[0])
    for a, b in zip(stored, recomputed, strict=True):
        same(b, a, 1e-10)


@both_presets
@pytest.mark.parametrize("gamma", [0.0, 1e-3, 1.0])
def test_the_solution_is_exact_for_any_self_loop_weight(problem, graph, oracle, same, derivative, gamma):
    case = problem(graph, derivative, gamma=gamma)
    same(chebyshev.solve(case.ode, 12.0), dense_solution(case, oracle, derivative, 12.0), 1e-10)


@both_presets
@pytest.mark.parametrize("extreme", [0.0, 1e-12, 1e-4, 1 - 1e-4, 1 - 1e-12, 1.0])
def test_the_solution_is_exact_for_extreme_alpha(problem, ordinary, oracle, same, derivative, extreme):
    alpha = torch.full((ordinary.n,), extreme, dtype=torch.float64)
    alpha[0] = 0.5
    case = problem(ordinary, derivative, alpha=alpha)
    check(same, case, chebyshev.solve(case.ode, 12.0), dense_solution(case, oracle, derivative, 12.0), 1e-10)


@both_presets
@pytest.mark.parametrize("weight", [None, "learned"])
@pytest.mark.parametrize("t1", [1.0, 12.1, 100.0])
def test_single_precision_is_accurate_to_single_precision(problem, ordinary, oracle, same, derivative, weight, t1):
    case = problem(ordinary, derivative, "flows", weight, dtype=torch.float32)
    H = chebyshev.solve(case.ode, t1)
    cotangent = torch.randn_like(H)
    found = with_gradients(H, case.inputs, cotangent)
    for name in ("E", "alpha", "U", "M"):
        value = getattr(case, name)
        setattr(case, name, None if value is None else value.detach().double().requires_grad_())
    expected = with_gradients(dense_solution(case, oracle, derivative, t1), case.inputs, cotangent.double())
    same(found[0], expected[0], 3e-6)
    for a, b in zip(found, expected, strict=True):
        same(a, b, 2e-4)


@every_weight
@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("dtype, value_tolerance, gradient_tolerance", [
    (torch.float32, 1e-5, 1e-4),
    (torch.float64, 1e-12, 1e-11),
])  # fmt: skip
def test_replicas_side_by_side_equal_each_replica_alone_within_rounding(
    problem, ordinary, same, weight, recompute, dtype, value_tolerance, gradient_tolerance
):
    cases = [problem(ordinary, "released", "cut", weight, dtype=dtype) for _ in range(3)]
    E = torch.stack([case.E for case in cases], 1)
    alpha = torch.stack([case.alpha for case in cases], 1)
    W = None if weight is None else torch.stack([case.W for case in cases])
    ode = LinearODE(cases[0].ode.propagation, E, alpha, W, "cut")
    cotangent = torch.randn_like(E)
    H = chebyshev.solve(ode, 9.0, recompute=recompute)
    together = with_gradients(H, [x for case in cases for x in case.inputs], cotangent)
    gradients = iter(together[1:])
    for r, case in enumerate(cases):
        alone = with_gradients(chebyshev.solve(case.ode, 9.0, recompute=recompute), case.inputs, cotangent[:, r])
        same(H[:, r], alone[0], value_tolerance)
        for gradient in alone[1:]:
            same(next(gradients), gradient, gradient_tolerance)


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("wanted", [0, 1, 2, 3])
def test_frozen_inputs_change_no_other_gradient(problem, ordinary, same, recompute, wanted):
    case = problem(ordinary, "released", "flows", "learned")
    everything = torch.autograd.grad(chebyshev.solve(case.ode, 3.0).sum(), case.inputs)
    for i, x in enumerate(case.inputs):
        x.requires_grad_(i == wanted)
    (only,) = torch.autograd.grad(chebyshev.solve(case.ode, 3.0, recompute=recompute).sum(), [case.inputs[wanted]])
    same(only, everything[wanted], 1e-12)


def test_two_autograd_graphs_at_once_do_not_affect_each_other(problem, ordinary):
    case = problem(ordinary, "released")
    first, second = chebyshev.solve(case.ode, 4.0), chebyshev.solve(case.ode, 9.0)
    alone = torch.autograd.grad(chebyshev.solve(case.ode, 4.0).sum(), case.inputs)
    torch.autograd.grad(second.sum(), case.inputs)
    for _ in range(2):  # twice through a retained graph
        again = torch.autograd.grad(first.sum(), case.inputs, retain_graph=True)
        assert all(torch.equal(a, b) for a, b in zip(again, alone, strict=True))


@pytest.mark.parametrize("t1, terms", [(1.0, 6), (12.0, 13), (100.0, 34), (1000.0, 104)])
def test_the_number_of_terms_grows_like_the_square_root_of_time(t1, terms):
    assert abs(len(coefficients(t1, "full", "released", 1.0, 1e-6)) - terms) <= 0.06 * terms + 1


@pytest.mark.parametrize("t1", [-1.0, float("nan"), float("inf")])
def test_the_error_names_an_impossible_end_time(problem, ordinary, t1):
    with pytest.raises(UserError, match="t1: found"):
        chebyshev.solve(problem(ordinary, "paper").ode, t1)


def test_the_error_for_half_precision_lists_the_valid_types(problem, ordinary):
    ode = problem(ordinary, "paper").ode
    with pytest.raises(UserError, match=r"expected torch\.float32 or torch\.float64"):
        chebyshev.solve(LinearODE(ode.propagation, ode.E.half(), ode.alpha), 1.0)


@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
@pytest.mark.parametrize("which", ["E", "alpha", "U"])
def test_a_diverged_training_gives_non_finite_values_and_no_error(problem, ordinary, which, spoilt):
    case = problem(ordinary, "released", "cut", "learned", dtype=torch.float32)
    with torch.no_grad():
        getattr(case, which).view(-1)[0] = spoilt
    H = chebyshev.solve(case.ode, 5.0)
    assert not torch.isfinite(H).all()
    torch.autograd.grad(H.sum(), case.inputs)
