"""Coefficients of CGNN with weight: the Chebyshev series in X whose coefficients are functions of W.

H' = MH + H(W − I) + E. W is symmetric, W = QΛQ^T, so in the basis Q every column j solves the scalar
problem with z + λ_j − 1 instead of z, and

    C_k = Q diag(c_k(λ)) Q^T,     c_k(λ) = (2/N) Σ_q cos(kθ_q) f(z_q + λ − 1)   (half for k = 0).

The gradient does not go through the eigenvectors, which are not unique where eigenvalues coincide (W starts
as I, where all coincide). It uses the theorem of Daleckii and Krein: dW = Q (Σ_k [c_k] ∘ Q^T dC_k Q) Q^T, with
the divided differences [c_k]_ij = (c_k(λ_i) − c_k(λ_j)) / (λ_i − λ_j), or c_k'(λ) where eigenvalues coincide.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cgnn.dynamics.coefficients import Function, coefficients, cosine_transform

#: Eigenvalues closer than this divided by t1 are treated as equal; the error of both formulas is about 1e-11 there.
_MEETING = 1e-5


def matrix_coefficients(
    W: Tensor, size: int, t1: float, function: Function, derivative: str, bound: float, tolerance: float, cut: bool
) -> tuple[Tensor, Tensor | None]:
    """The leading size × size block of C_0 … C_{K−1}: (K, size, size), or (K, R, size, size).

    With ``cut``, also the coefficients of e^{zt} alone, through which no gradient flows. All are float64.
    """
    transform, z = _transform(t1, derivative, bound, tolerance, W.device)
    C, start = _MatrixFunction.apply(W, size, t1, function, transform, z, cut)
    return C, start if cut else None


class _MatrixFunction(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, W: Tensor, size: int, t1: float, function: Function, transform: Tensor, z: Tensor, cut: bool
    ) -> tuple[Tensor, Tensor]:
        eigenvalues, Q = _eigh(W.double())
        u = z.view(-1, *[1] * eigenvalues.dim()) + (eigenvalues - 1)  # (N, …, w)
        value, exponential = solution(u, t1, function)
        c = torch.tensordot(transform, value, dims=1)  # c_k(λ): (K, …, w)
        top = Q[..., :size, :]
        ctx.t1, ctx.function, ctx.dtype = t1, function, W.dtype
        ctx.save_for_backward(eigenvalues, Q, top, c, u, transform)
        start = top.new_empty(0)
        if cut:
            start = (top * torch.tensordot(transform, exponential, dims=1).unsqueeze(-2)) @ top.mT
        ctx.mark_non_differentiable(start)
        return (top * c.unsqueeze(-2)) @ top.mT, start

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dC: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        eigenvalues, Q, top, c, u, transform = ctx.saved_tensors
        gap = eigenvalues.unsqueeze(-1) - eigenvalues.unsqueeze(-2)
        meeting = gap.abs() * max(ctx.t1, 1.0) < _MEETING
        chord = (c.unsqueeze(-1) - c.unsqueeze(-2)) / torch.where(meeting, 1.0, gap)
        slope = 0.5 * torch.tensordot(transform, solution_slope(u, ctx.t1, ctx.function), dims=1)
        divided = torch.where(meeting, slope.unsqueeze(-1) + slope.unsqueeze(-2), chord)
        inner = (divided * (top.mT @ dC @ top)).sum(0)
        dW = Q @ inner @ Q.mT
        return (0.5 * (dW + dW.mT)).to(ctx.dtype), None, None, None, None, None, None


def _eigh(W: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors; NaN if W is not finite, so that divergence is visible in the result."""
    try:
        return torch.linalg.eigh(W)
    except torch.linalg.LinAlgError:
        if bool(torch.isfinite(W).all()):
            raise
        return torch.full_like(W[..., 0], torch.nan), torch.full_like(W, torch.nan)


@lru_cache(maxsize=256)
def _transform(
    t1: float, derivative: str, bound: float, tolerance: float, device: torch.device
) -> tuple[Tensor, Tensor]:
    """The cosine transform for the first K terms, (K, N), and the nodes z (N).

    K is the larger of the numbers of terms that the two parts of f need relative to their size: for λ > 1
    e^{(z+λ−1)t} dominates, a multiple of e^{zt}; for λ < 1 both parts are smoother than at λ = 1. With N > K nodes
    the first aliased coefficient is c_{2N−K}, which is far below the tolerance.
    """
    parts: tuple[Function, ...] = ("full", "exponential")
    terms = max(len(coefficients(t1, part, derivative, bound, tolerance)) for part in parts)
    matrix, z = cosine_transform(t1, bound, derivative, count=terms + terms // 2 + 4)
    return torch.from_numpy(matrix[:terms].copy()).to(device), torch.from_numpy(z).to(device)


def solution(u: Tensor, t1: float, function: Function) -> tuple[Tensor, Tensor]:
    """f(u) = e^{ut} + tφ(ut) with φ(x) = (e^x − 1)/x, and e^{ut}; or e^{ut} for both."""
    x = u * t1
    exponential = torch.exp(x)
    if function == "exponential":
        return exponential, exponential
    zero = x == 0
    phi = torch.where(zero, 1.0, torch.expm1(x) / torch.where(zero, 1.0, x))
    return exponential + t1 * phi, exponential


def solution_slope(u: Tensor, t1: float, function: Function) -> Tensor:
    """f'(u) = te^{ut} + t²φ'(ut), φ'(x) = (e^x − φ(x))/x."""
    x = u * t1
    exponential = torch.exp(x)
    if function == "exponential":
        return t1 * exponential
    near = x.abs() < 0.1  # cancellation in the quotient: use φ' = Σ (k+1) x^k/(k+2)!, to float64
    safe = torch.where(near, 1.0, x)
    series = torch.zeros_like(x)
    for k in range(11, -1, -1):
        series = series.mul_(x).add_((k + 1) * _INVERSE_FACTORIAL[k + 2])
    phi_slope = torch.where(near, series, (exponential - torch.expm1(x) / safe) / safe)
    return t1 * exponential + t1 * t1 * phi_slope


_INVERSE_FACTORIAL = (1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 16.0)]))).tolist()
