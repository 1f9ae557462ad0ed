"""Propositions 1 to 4 of the paper and their limits, by dense eigendecomposition.

For graphs of a few hundred nodes: a reference for the solvers and for the convergence figure, not a solver.
A = D_α B is not symmetric, but with A = D_α^{1/2} (D_α^{1/2} B D_α^{1/2}) D_α^{-1/2} its eigenvalues are real
and its eigenvectors P = D_α^{1/2} V, V orthogonal.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Eigen:
    """A = P diag(values) P^{-1}"""

    values: Tensor
    P: Tensor
    P_inverse: Tensor

    def shifted(self, by: float) -> "Eigen":
        """A + by·I"""
        return Eigen(self.values + by, self.P, self.P_inverse)

    def apply(self, values: Tensor, E: Tensor) -> Tensor:
        """P diag(values) P^{-1} E"""
        return self.P @ (values.unsqueeze(-1) * (self.P_inverse @ E))


def eigen(B: Tensor, alpha: Tensor) -> Eigen:
    """Eigendecomposition of D_α B for a symmetric B and α > 0."""
    root = alpha.sqrt()
    values, V = torch.linalg.eigh(root.unsqueeze(-1) * B * root)
    return Eigen(values, root.unsqueeze(-1) * V, V.mT / root)


def eigen_of_A(adjacency: Tensor, alpha: Tensor) -> Eigen:
    """Eigendecomposition of A = (α/2)(I + Â), with Â dense."""
    return eigen(0.5 * (torch.eye(len(adjacency), dtype=adjacency.dtype) + adjacency), alpha)


def eigen_of_M(adjacency: Tensor, alpha: Tensor, derivative: str) -> Eigen:
    """Eigendecomposition of the ODE's operator: A − I in the paper, (α/2)(Â − I) in the released code."""
    if derivative == "paper":
        return eigen_of_A(adjacency, alpha).shifted(-1)
    return eigen(0.5 * (adjacency - torch.eye(len(adjacency), dtype=adjacency.dtype)), alpha)


def eigen_of_W(W: Tensor) -> Eigen:
    """Eigendecomposition of a symmetric W."""
    values, Q = torch.linalg.eigh(W)
    return Eigen(values, Q, Q.mT)


def integral_of_exponential(z: Tensor, t: float) -> Tensor:
    """∫_0^t e^{zs} ds = (e^{zt} − 1)/z, and t where z = 0."""
    zero = z.abs() * t < 1e-12
    return torch.where(zero, t + 0.5 * z * t * t, torch.expm1(z * t) / torch.where(zero, 1.0, z))


def integral_of_power(a: Tensor, t: float) -> Tensor:
    """∫_0^t a^s ds = (a^t − 1)/ln a for a in [0, 1], with its limits 0 at a = 0 and t at a = 1."""
    positive = a > 1e-300
    return torch.where(positive, integral_of_exponential(torch.where(positive, a, 1.0).log(), t), 0.0)


def discrete(A: Eigen, E: Tensor, n: int) -> Tensor:
    """H_n = Σ_{i≤n} A^i E, the explicit form of H_{n+1} = A H_n + H_0."""
    powers = torch.stack([A.values**i for i in range(n + 1)]).sum(0)
    return A.apply(powers, E)


def proposition_1(A: Eigen, E: Tensor, t: float) -> Tensor:
    """H' = ln A H + E, H(0) = (ln A)^{-1}(A − I)E: H(t) = ∫_0^{t+1} A^s E ds."""
    return A.apply(integral_of_power(A.values, t + 1), E)


def proposition_2(M: Eigen, E: Tensor, t: float) -> Tensor:
    """H' = MH + E, H(0) = E: H(t) = M^{-1}(e^{Mt} − I)E + e^{Mt}E, M = A − I (or that of the released code)."""
    return M.apply(torch.exp(M.values * t) + integral_of_exponential(M.values, t), E)


def limit_2(A: Eigen, E: Tensor) -> Tensor:
    """t → ∞ of Proposition 2: (I − A)^{-1}E."""
    return A.apply(1 / (1 - A.values), E)


def proposition_3(A: Eigen, W: Eigen, E: Tensor, t: float) -> Tensor:
    """H' = ln A H + H ln W + E, H(0) = PFQ^{-1}: H(t) = ∫_0^{t+1} A^s E W^s ds."""
    rates = integral_of_power(A.values.unsqueeze(-1) * W.values, t + 1)
    return _in_both_bases(A, W, E, rates)


def proposition_4(M: Eigen, W: Eigen, E: Tensor, t: float) -> Tensor:
    """H' = MH + H(W − I) + E, H(0) = E: e^{Mt}Ee^{(W−I)t} + PF(t)Q^{-1}."""
    rates = M.values.unsqueeze(-1) + (W.values - 1)  # Λ'_ii + Φ'_jj
    return _in_both_bases(M, W, E, torch.exp(rates * t) + integral_of_exponential(rates, t))


def limit_4(M: Eigen, W: Eigen, E: Tensor) -> Tensor:
    """t → ∞ of Proposition 4: −Ẽ_ij/(Λ'_ii + Φ'_jj) in the eigenbases."""
    return _in_both_bases(M, W, E, -1 / (M.values.unsqueeze(-1) + (W.values - 1)))


def _in_both_bases(A: Eigen, W: Eigen, E: Tensor, factors: Tensor) -> Tensor:
    """P (factors ∘ P^{-1}EQ) Q^{-1}"""
    return A.P @ (factors * (A.P_inverse @ E @ W.P)) @ W.P_inverse
