"""The Chebyshev coefficients of the solution: how many terms an ending time needs, and their values."""

import math
from functools import lru_cache
from typing import Literal

import numpy as np
import torch

from cgnn.errors import UserError

Function = Literal["full", "exponential"]

#: Largest relative error of the truncated series; a little above the rounding of the dtype.
TOLERANCES = {torch.float32: 1e-6, torch.float64: 1e-14}

#: coefficients below this, relative to max |f|, are rounding of the transform itself.
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


def nodes(t1: float, derivative: str) -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev angles θ and the z in [−1, 0] they stand for. Enough of them for every term above 1e-16."""
    if not (math.isfinite(t1) and t1 >= 0):
        raise UserError(f"t1: found {t1}, expected a finite ending time of at least 0")
    count = 48 + math.ceil(12 * math.sqrt(t1))  # the degree grows like sqrt(t)
    theta = (np.arange(count) + 0.5) * np.pi / count
    # X = 2M + I when released, X = −(2M + I) in the paper; half angles keep z near 0 free of cancellation.
    z = -np.sin(theta / 2) ** 2 if derivative == "released" else -np.cos(theta / 2) ** 2
    return theta, z


def cosine_transform(samples: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """c_k = (2/Q) Σ_q cos(kθ_q) f(z_q), half for k = 0, over the first axis of ``samples``."""
    count = len(theta)
    c = (2 / count) * np.cos(np.outer(np.arange(count), theta)) @ samples
    c[0] /= 2
    return c


def degree_for(c: np.ndarray, scale: float, tolerance: float) -> int:
    """The fewest terms whose remainder, Σ |c_k| over those left out, stays within tolerance × scale."""
    size = np.where(np.abs(c) < _NOISE * scale, 0.0, np.abs(c))
    tail = np.cumsum(size[::-1])[::-1]
    return max(1, int(np.sum(tail > tolerance * scale)))


@lru_cache(maxsize=1024)
def coefficients(t1: float, function: Function, derivative: str, tolerance: float) -> tuple[float, ...]:
    """c_0 … c_{K−1} with f(M) = Σ c_k T_k(X), in float64: t1 rounded to float32 alone would cost 5e-7."""
    theta, z = nodes(t1, derivative)
    c = cosine_transform(solution_of(z, t1, function), theta)
    scale = 1.0 + t1 if function == "full" else 1.0  # max |f| on [−1, 0], at z = 0
    return tuple(c[: degree_for(c, scale, tolerance)].tolist())
