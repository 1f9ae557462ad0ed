"""Propositions 1 to 4 and their limits, against scipy's integrator and explicit sums."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad_vec, solve_ivp
from scipy.linalg import fractional_matrix_power

from cgnn.dynamics import closed_form

pytestmark = pytest.mark.numerics


@pytest.fixture
def setting(oracle, ordinary):
    A_hat = oracle.adjacency(ordinary.edge_index, ordinary.n, 0.5)
    alpha = torch.rand(ordinary.n, dtype=torch.float64) * 0.6 + 0.3
    A = alpha[:, None] / 2 * (torch.eye(ordinary.n, dtype=torch.float64) + A_hat)
    root = torch.randn(3, 3, dtype=torch.float64)
    Q, _ = torch.linalg.qr(root)
    W = (Q * torch.tensor([0.3, 0.6, 0.9], dtype=torch.float64)) @ Q.T
    E = torch.randn(ordinary.n, 3, dtype=torch.float64)
    return A_hat, alpha, A, W, E


def integrated(derivative, start, t):
    run = solve_ivp(
        lambda _, h: derivative(h.reshape(start.shape)).ravel(), (0, t), start.ravel(), rtol=1e-10, atol=1e-12
    )
    return torch.from_numpy(run.y[:, -1].reshape(start.shape))


def test_eigenvalues_of_A_lie_between_zero_and_the_largest_alpha(setting):
    A_hat, alpha, A, _, _ = setting
    eigen = closed_form.eigen_of_A(A_hat, alpha)
    assert torch.allclose(eigen.P @ torch.diag(eigen.values) @ eigen.P_inverse, A)
    assert eigen.values.min() >= -1e-12 and eigen.values.max() <= alpha.max()


def test_proposition_1_is_the_integral_of_the_powers_of_A(setting):
    A_hat, alpha, A, _, E = setting
    t = 2.5
    # A is similar to a positive semidefinite matrix, so its powers are real.
    integral, _ = quad_vec(lambda s: np.real(fractional_matrix_power(A.numpy(), s)) @ E.numpy(), 0, t + 1, epsabs=1e-9)
    found = closed_form.proposition_1(closed_form.eigen_of_A(A_hat, alpha), E, t)
    assert torch.allclose(found, torch.from_numpy(integral), atol=1e-6)


@pytest.mark.parametrize("derivative", ["paper", "released"])
def test_proposition_2_solves_its_ode(setting, derivative):
    A_hat, alpha, A, _, E = setting
    eye = torch.eye(len(A), dtype=torch.float64)
    M = (A - eye if derivative == "paper" else alpha[:, None] / 2 * (A_hat - eye)).numpy()
    expected = integrated(lambda h: M @ h + E.numpy(), E.numpy(), 7.0)
    found = closed_form.proposition_2(closed_form.eigen_of_M(A_hat, alpha, derivative), E, 7.0)
    assert torch.allclose(found, expected, atol=1e-7)


def test_as_time_grows_proposition_2_tends_to_the_sum_of_all_powers(setting):
    A_hat, alpha, A, _, E = setting
    eye = torch.eye(len(A), dtype=torch.float64)
    limit = closed_form.limit_2(closed_form.eigen_of_A(A_hat, alpha), E)
    assert torch.allclose(limit, torch.linalg.solve(eye - A, E))
    M = closed_form.eigen_of_M(A_hat, alpha, "paper")
    errors = [float((closed_form.proposition_2(M, E, t) - limit).abs().max()) for t in (5.0, 20.0, 500.0)]
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-10


def test_proposition_3_is_the_integral_with_weights(setting):
    A_hat, alpha, A, W, E = setting
    t = 1.5

    def integrand(s):
        left = np.real(fractional_matrix_power(A.numpy(), s))
        return left @ E.numpy() @ np.real(fractional_matrix_power(W.numpy(), s))

    expected, _ = quad_vec(integrand, 0, t + 1, epsabs=1e-9)
    found = closed_form.proposition_3(closed_form.eigen_of_A(A_hat, alpha), closed_form.eigen_of_W(W), E, t)
    assert torch.allclose(found, torch.from_numpy(expected), atol=1e-6)


def test_proposition_4_solves_its_ode(setting):
    A_hat, alpha, A, W, E = setting
    eye, small = np.eye(len(A)), np.eye(3)
    expected = integrated(lambda h: (A.numpy() - eye) @ h + h @ (W.numpy() - small) + E.numpy(), E.numpy(), 7.0)
    M = closed_form.eigen_of_M(A_hat, alpha, "paper")
    found = closed_form.proposition_4(M, closed_form.eigen_of_W(W), E, 7.0)
    assert torch.allclose(found, expected, atol=1e-7)


def test_as_time_grows_proposition_4_tends_to_the_solution_of_the_sylvester_equation(setting):
    A_hat, alpha, A, W, E = setting
    M, weight = closed_form.eigen_of_M(A_hat, alpha, "paper"), closed_form.eigen_of_W(W)
    limit = closed_form.limit_4(M, weight, E)
    eye, small = torch.eye(len(A), dtype=torch.float64), torch.eye(3, dtype=torch.float64)
    assert torch.allclose((A - eye) @ limit + limit @ (W - small), -E)
    assert torch.allclose(closed_form.proposition_4(M, weight, E, 500.0), limit)


def test_the_limits_of_propositions_2_and_4_agree_for_the_identity_as_weight(setting):
    A_hat, alpha, _, _, E = setting
    identity = closed_form.eigen_of_W(torch.eye(3, dtype=torch.float64))
    M = closed_form.eigen_of_M(A_hat, alpha, "paper")
    assert torch.allclose(closed_form.limit_4(M, identity, E), closed_form.limit_2(M.shifted(1), E))


def test_the_discrete_sum_is_the_explicit_formula(setting):
    A_hat, alpha, A, _, E = setting
    H = E
    for _ in range(9):
        H = A @ H + E
    assert torch.allclose(closed_form.discrete(closed_form.eigen_of_A(A_hat, alpha), E, 9), H)
