"""The Chebyshev coefficients of the solution: the number of terms for an ending time, and their values."""

import math
from functools import lru_cache
from typing import Literal

import numpy as np
import torch

from cgnn.errors import UserError

Function = Literal["full", "exponential"]

#: Largest relative error of the truncated series; a little above the rounding of the dtype.
TOLERANCES = {torch.float32: 1e-6, torch.float64: 1e-14}

#: Coefficients below this, relative to max |f|, are rounding errors of the transform.
_NOISE = 4e-16


def default_tolerance(dtype: torch.dtype) -> float:
    if dtype not in TOLERANCES:
        raise UserError(f"exact solver: found dtype {dtype}, expected torch.float32 or torch.float64")
    return TOLERANCES[dtype]


def solution_of(z: np.ndarray, t1: float, function: Function) -> np.ndarray:
    """f(z) = e^{zt} + (e^{zt} − 1)/z, the solution of h' = zh + 1, h(0) = 1; or e^{zt}, without the source."""
    exponential = np.exp(z * t1)
    if function == "exponential":
        return exponential
    safe = np.where(z == 0, 1.0, z)
    return exponential + np.where(z == 0, t1, np.expm1(z * t1) / safe)


def spectral_bound(alpha: torch.Tensor) -> float:
    """b ≥ max α, rounded up to a multiple of 1/64 so that consecutive training steps reuse cached coefficients.

    The spectrum of D_α R lies in [0, max α], and a shorter interval needs fewer terms.
    """
    largest = float(alpha.detach().max()) if alpha.numel() else 0.0
    if not math.isfinite(largest):
        return 1.0  # training has diverged; the result will not be finite
    return max(1, math.ceil(largest * 64)) / 64


def cosine_transform(
    t1: float, bound: float, derivative: str, count: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The matrix (N, N) that maps samples of f at N = ``count`` nodes to c_0, c_1, …, and the nodes z.

    c_k = (2/N) Σ_q cos(kθ_q) f(z_q), half for k = 0, θ_q = (2q + 1)π/2N. With X = I − (2/b) D_α R, x = cos θ
    corresponds to z = −b(1 − x)/2 in the released code, and to z = b(1 − x)/2 − 1 in the paper.
    """
    if not (math.isfinite(t1) and t1 >= 0):
        raise UserError(f"t1: found {t1}, expected a finite ending time of at least 0")
    count = count or 48 + math.ceil(12 * math.sqrt(t1))  # the degree grows like sqrt(t)
    odd = 2 * np.arange(count) + 1
    # Angles are first reduced as integers, because cos of a large kθ would contain the rounding error of kθ.
    matrix = (2 / count) * np.cos(np.outer(np.arange(count), odd) % (4 * count) * (np.pi / (2 * count)))
    matrix[0] /= 2
    distance = bound * np.sin(odd * (np.pi / (4 * count))) ** 2  # b(1 − x)/2 without cancellation near x = 1
    return matrix, -distance if derivative == "released" else distance - 1


def degree_for(c: np.ndarray, scale: float, tolerance: float) -> int:
    """The smallest number of terms for which Σ |c_k| over the omitted terms is at most tolerance × scale."""
    size = np.where(np.abs(c) < _NOISE * scale, 0.0, np.abs(c))
    tail = np.cumsum(size[::-1])[::-1]
    return max(1, int(np.sum(tail > tolerance * scale)))


@lru_cache(maxsize=1024)
def coefficients(t1: float, function: Function, derivative: str, bound: float, tolerance: float) -> tuple[float, ...]:
    """c_0 … c_{K−1} with f(M) = Σ c_k T_k(X), in float64: rounding t1 to float32 alone adds an error of 5e-7."""
    matrix, z = cosine_transform(t1, bound, derivative)
    samples = solution_of(z, t1, function)
    c = matrix @ samples
    return tuple(c[: degree_for(c, samples.max(), tolerance)].tolist())
