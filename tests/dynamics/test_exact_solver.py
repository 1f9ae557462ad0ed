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


def dense_again(case, oracle, derivative, source, t1):
    M = oracle.M(case.graph.edge_index, case.graph.n, case.gamma, case.alpha, derivative)
    W = None if case.U is None else (case.U * case.M) @ case.U.T
    return oracle.solution(M, case.E, t1, W, source)


@both_presets
@every_source
@every_weight
@pytest.mark.parametrize("t1", [0.0, 0.01, 12.0])
def test_value_and_all_gradients_equal_the_matrix_exponential(
    problem, graph, oracle, same, derivative, source, weight, t1
):
    case = problem(graph, derivative, source, weight)
    H = chebyshev.solve(case.ode, t1)
    cotangent = torch.randn_like(H)
    found = with_gradients(H, case.inputs, cotangent)
    expected = with_gradients(dense_again(case, oracle, derivative, source, t1), case.inputs, cotangent)
    for a, b in zip(found, expected, strict=True):
        same(a, b, 1e-9)


@both_presets
@every_weight
def test_long_times_equal_the_matrix_exponential(problem, graph, oracle, same, derivative, weight):
    case = problem(graph, derivative, "flows", weight)
    H = chebyshev.solve(case.ode, 100.0)
    cotangent = torch.randn_like(H)
    found = with_gradients(H, case.inputs, cotangent)
    expected = with_gradients(dense_again(case, oracle, derivative, "flows", 100.0), case.inputs, cotangent)
    for a, b in zip(found, expected, strict=True):
        same(a, b, 1e-7)


@both_presets
@pytest.mark.parametrize("source", ["flows", "cut"])
@pytest.mark.parametrize("weight", [None, "learned"])
def test_value_and_all_gradients_equal_dopri5(problem, ordinary, same, derivative, source, weight):
    case = problem(ordinary, derivative, source, weight)
    H = chebyshev.solve(case.ode, 12.0)
    cotangent = torch.randn_like(H)
    found = with_gradients(H, case.inputs, cotangent)
    again = LinearODE(case.ode.propagation, case.E, case.alpha, _W(case), source)
    expected = with_gradients(adaptive.solve_dopri5(again, 12.0, rtol=1e-9, atol=1e-11), case.inputs, cotangent)
    for a, b in zip(found, expected, strict=True):
        same(a, b, 1e-6)


def _W(case):
    return None if case.U is None else (case.U * case.M) @ case.U.T


@both_presets
@pytest.mark.parametrize("weight", [None, "learned"])
@pytest.mark.parametrize("t1", [0.5, 12.0, 100.0])
def test_value_and_all_gradients_equal_the_closed_form(problem, ordinary, oracle, same, derivative, weight, t1):
    case = problem(ordinary, derivative, "flows", weight)
    H = chebyshev.solve(case.ode, t1)
    cotangent = torch.randn_like(H)
    found = with_gradients(H, case.inputs, cotangent)
    A_hat = oracle.adjacency(ordinary.edge_index, ordinary.n, case.gamma)
    M = closed_form.eigen_of_M(A_hat, case.alpha, derivative)
    if weight is None:
        closed = closed_form.proposition_2(M, case.E, t1)
    else:
        padded = torch.nn.functional.pad(case.E, (0, case.U.shape[0] - case.E.shape[1]))
        closed = closed_form.proposition_4(M, closed_form.eigen_of_W(_W(case)), padded, t1)[:, : case.E.shape[1]]
    for a, b in zip(found, with_gradients(closed, case.inputs, cotangent), strict=True):
        same(a, b, 1e-8)


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
def test_recomputing_gives_the_gradients_of_storing(problem, graph, same, derivative, weight, t1):
    case = problem(graph, derivative, "flows", weight)
    cotangent = torch.randn_like(case.E)
    stored = with_gradients(chebyshev.solve(case.ode, t1), case.inputs, cotangent)
    again = LinearODE(case.ode.propagation, case.E, case.alpha, _W(case))
    recomputed = with_gradients(chebyshev.solve_recomputing(again, t1), case.inputs, cotangent)
    assert torch.equal(stored[0], recomputed[0])
    for a, b in zip(stored, recomputed, strict=True):
        same(b, a, 1e-10)


@both_presets
@pytest.mark.parametrize("gamma", [0.0, 1e-3, 1.0])
def test_any_self_loop_weight_even_none(problem, graph, oracle, same, derivative, gamma):
    case = problem(graph, derivative, gamma=gamma)
    expected = dense_again(case, oracle, derivative, "flows", 12.0)
    same(chebyshev.solve(case.ode, 12.0), expected, 1e-10)


@both_presets
@pytest.mark.parametrize("extreme", [0.0, 1e-12, 1e-4, 1 - 1e-4, 1 - 1e-12, 1.0])
def test_alpha_at_its_ends(problem, ordinary, oracle, same, derivative, extreme):
    alpha = torch.full((ordinary.n,), extreme, dtype=torch.float64)
    alpha[0] = 0.5
    case = problem(ordinary, derivative, alpha=alpha)
    H = chebyshev.solve(case.ode, 12.0)
    cotangent = torch.randn_like(H)
    found = with_gradients(H, case.inputs, cotangent)
    expected = with_gradients(dense_again(case, oracle, derivative, "flows", 12.0), case.inputs, cotangent)
    for a, b in zip(found, expected, strict=True):
        same(a, b, 1e-10)


@both_presets
@pytest.mark.parametrize("weight", [None, "learned"])
@pytest.mark.parametrize("t1", [1.0, 12.1, 100.0])
def test_single_precision_reaches_single_precision(problem, ordinary, oracle, same, derivative, weight, t1):
    case = problem(ordinary, derivative, "flows", weight, dtype=torch.float32)
    H = chebyshev.solve(case.ode, t1)
    cotangent = torch.randn_like(H)
    found = with_gradients(H, case.inputs, cotangent)
    for name in ("E", "alpha", "U", "M"):
        value = getattr(case, name)
        setattr(case, name, None if value is None else value.detach().double().requires_grad_())
    inputs = [x for x in (case.E, case.alpha, case.U, case.M) if x is not None]
    expected = with_gradients(dense_again(case, oracle, derivative, "flows", t1), inputs, cotangent.double())
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
    W = None if weight is None else torch.stack([_W(case) for case in cases])
    ode = LinearODE(cases[0].ode.propagation, E, alpha, W, "cut")
    cotangent = torch.randn_like(E)
    H = chebyshev.solve(ode, 9.0, recompute=recompute)
    together = with_gradients(H, [x for case in cases for x in case.inputs], cotangent)
    gradients = iter(together[1:])
    for r, case in enumerate(cases):
        single = LinearODE(case.ode.propagation, case.E, case.alpha, _W(case), "cut")
        alone = with_gradients(chebyshev.solve(single, 9.0, recompute=recompute), case.inputs, cotangent[:, r])
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
    ode = LinearODE(case.ode.propagation, case.E, case.alpha, _W(case))
    (only,) = torch.autograd.grad(chebyshev.solve(ode, 3.0, recompute=recompute).sum(), [case.inputs[wanted]])
    same(only, everything[wanted], 1e-12)


def test_two_graphs_alive_at_once_do_not_disturb_each_other(problem, ordinary):
    case = problem(ordinary, "released")
    first, second = chebyshev.solve(case.ode, 4.0), chebyshev.solve(case.ode, 9.0)
    alone = torch.autograd.grad(chebyshev.solve(case.ode, 4.0).sum(), case.inputs)
    torch.autograd.grad(second.sum(), case.inputs)
    for _ in range(2):  # twice through a retained graph
        again = torch.autograd.grad(first.sum(), case.inputs, retain_graph=True)
        assert all(torch.equal(a, b) for a, b in zip(again, alone, strict=True))


@pytest.mark.parametrize("t1, terms", [(1.0, 6), (12.0, 13), (100.0, 34), (1000.0, 104)])
def test_terms_grow_like_the_root_of_time(t1, terms):
    assert abs(len(coefficients(t1, "full", "released", 1.0, 1e-6)) - terms) <= 0.06 * terms + 1


@pytest.mark.parametrize("t1", [-1.0, float("nan"), float("inf")])
def test_an_impossible_ending_time_is_named(problem, ordinary, t1):
    with pytest.raises(UserError, match="t1: found"):
        chebyshev.solve(problem(ordinary, "paper").ode, t1)


def test_half_precision_is_refused_with_what_is_possible(problem, ordinary):
    ode = problem(ordinary, "paper").ode
    with pytest.raises(UserError, match=r"expected torch\.float32 or torch\.float64"):
        chebyshev.solve(LinearODE(ode.propagation, ode.E.half(), ode.alpha), 1.0)


@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
@pytest.mark.parametrize("which", ["E", "alpha", "U"])
def test_a_training_that_diverged_shows_in_the_values_and_raises_nothing(problem, ordinary, which, spoilt):
    case = problem(ordinary, "released", "cut", "learned", dtype=torch.float32)
    with torch.no_grad():
        getattr(case, which).view(-1)[0] = spoilt
    H = chebyshev.solve(LinearODE(case.ode.propagation, case.E, case.alpha, _W(case), "cut"), 5.0)
    assert not torch.isfinite(H).all()
    torch.autograd.grad(H.sum(), case.inputs)
