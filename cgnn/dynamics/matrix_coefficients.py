"""Coefficients of CGNN with weight: the Chebyshev series in X whose coefficients are functions of W.

H' = MH + H(W − I) + E. W is symmetric, W = QΛQ^T, so in the basis Q every column j solves the scalar
problem with z + λ_j − 1 in the place of z, and

    C_k = Q diag(c_k(λ)) Q^T,     c_k(λ) = (2/N) Σ_q cos(kθ_q) f(z_q + λ − 1)   (half for k = 0).

The gradient does not go through the eigenvectors, which are not unique where eigenvalues meet (W starts
as I: all of them). It is the theorem of Daleckii and Krein: dW = Q (Σ_k [c_k] ∘ Q^T dC_k Q) Q^T, with the
divided differences [c_k]_ij = (c_k(λ_i) − c_k(λ_j)) / (λ_i − λ_j), c_k'(λ) where they meet.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cgnn.dynamics.coefficients import Function, coefficients, cosine_transform

#: eigenvalues closer than this over t1 count as meeting: both formulas err by about 1e-11 there.
_MEETING = 1e-5


def matrix_coefficients(
    W: Tensor,
    size: int,
    t1: float,
    function: Function,
    derivative: str,
    bound: float,
    tolerance: float,
    dtype: torch.dtype,
) -> Tensor:
    """The leading size × size block of C_0 … C_{K−1}: (K, size, size), or (K, R, size, size)."""
    return _MatrixFunction.apply(W, size, t1, function, derivative, bound, tolerance).to(dtype)


class _MatrixFunction(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, W: Tensor, size: int, t1: float, function: Function, derivative: str, bound: float, tolerance: float
    ) -> Tensor:
        eigenvalues, Q = torch.linalg.eigh(W.double())
        transform, z = _transform(t1, derivative, bound, tolerance, W.device)
        u = z.view(-1, *[1] * eigenvalues.dim()) + (eigenvalues - 1)  # (N, …, w)
        value, slope = solution_and_slope(u, t1, function)
        c = torch.tensordot(transform, value, dims=1)  # c_k(λ): (K, …, w)
        top = Q[..., :size, :]
        ctx.t1, ctx.dtype = t1, W.dtype
        ctx.save_for_backward(eigenvalues, Q, top, c, torch.tensordot(transform, slope, dims=1))
        return (top * c.unsqueeze(-2)) @ top.mT

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dC: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        eigenvalues, Q, top, c, slope = ctx.saved_tensors
        gap = eigenvalues.unsqueeze(-1) - eigenvalues.unsqueeze(-2)
        meeting = gap.abs() * max(ctx.t1, 1.0) < _MEETING
        chord = (c.unsqueeze(-1) - c.unsqueeze(-2)) / torch.where(meeting, 1.0, gap)
        mean_slope = 0.5 * (slope.unsqueeze(-1) + slope.unsqueeze(-2))
        divided = torch.where(meeting, mean_slope, chord)
        inner = (divided * (top.mT @ dC.double() @ top)).sum(0)
        dW = Q @ inner @ Q.mT
        return (0.5 * (dW + dW.mT)).to(ctx.dtype), None, None, None, None, None, None


@lru_cache(maxsize=256)
def _transform(
    t1: float, derivative: str, bound: float, tolerance: float, device: torch.device
) -> tuple[Tensor, Tensor]:
    """The cosine transform for the first K terms, (K, N), and the nodes z (N).

    K is what either part of f needs relative to its own size: for λ > 1 it is e^{(z+λ−1)t} that dominates,
    a multiple of e^{zt}; for λ < 1 both parts are smoother than at λ = 1.
    """
    needed = (coefficients(t1, part, derivative, bound, tolerance) for part in ("full", "exponential"))
    terms = max(len(c) for c in needed)
    matrix, z = cosine_transform(t1, bound, derivative)
    return torch.from_numpy(matrix[:terms].copy()).to(device), torch.from_numpy(z).to(device)


def solution_and_slope(u: Tensor, t1: float, function: Function) -> tuple[Tensor, Tensor]:
    """f(u) = e^{ut} + (e^{ut} − 1)/u and f'(u); or those of e^{ut} alone."""
    x = u * t1
    exponential = torch.exp(x)
    if function == "exponential":
        return exponential, t1 * exponential
    # φ(x) = (e^x − 1)/x and φ'(x) = (e^x − φ)/x; their Taylor series near 0, where the quotients cancel.
    near = x.abs() < 0.1
    safe = torch.where(near, 1.0, x)
    small = torch.where(near, x, 0.0)
    phi = torch.where(near, _taylor(small, 0), torch.expm1(x) / safe)
    phi_slope = torch.where(near, _taylor(small, 1), (exponential - phi) / safe)
    return exponential + t1 * phi, t1 * exponential + t1 * t1 * phi_slope


def _taylor(x: Tensor, order: int) -> Tensor:
    """φ = Σ x^k/(k+1)! (order 0) or φ' = Σ (k+1) x^k/(k+2)! (order 1), to float64 for |x| < 0.1."""
    total = torch.zeros_like(x)
    for k in range(11, -1, -1):  # Horner
        total = total * x + _INVERSE_FACTORIAL[k + 1 + order] * (k + 1 if order else 1)
    return total


_INVERSE_FACTORIAL = 1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 16.0)]))
