"""The exact solver: H(t1) = f(M)E as a Chebyshev series in X, with its gradient written by hand.

Forward. T_0 = E, T_1 = XE, T_{k+1} = 2X T_k − T_{k−1}, H = Σ T_k c_k. With X = I − (2/b) D_α R, b ≥ max α, the
recurrence runs on the differences Δ_k = T_k − T_{k−1} and on P_k = 4R T_k,

    Δ_{k+1} = Δ_k − (α/b) P_k      P_{k+1} = P_k + 4R Δ_{k+1}      H = Σ_k Δ_k (c_k + c_{k+1} + …),   Δ_0 = E

(half of P_0 in Δ_1). This takes one sparse product and two passes per term, loses no digits where X is close to
I, and yields the P_k, which are all that the gradient of α needs.

Backward. Clenshaw's recurrence on the incoming gradient ḡ: b_k = ḡ c_k + 2X^T b_{k+1} − b_{k+2}, then
dE = ḡ c_0 + X^T b_1 − b_2 and b·dα = −½ b_1·P_0 − Σ_{k≥1} b_{k+1}·P_k, row by row. The P_k are either stored or
recomputed backwards from the last (P_k = P_{k+1} − 4R Δ_{k+1}, Δ_k = Δ_{k+1} + (α/b) P_k). Recomputing makes the
memory independent of t1 and takes one more product per term. The gradient is that of the series itself, not of a
second ODE.

If the source's gradient is cut, dE is the series of e^{zt} alone; dα is still the full gradient.

With weights the coefficients are matrices, functions of W (``matrix_coefficients``). Since the columns
appended by augmentation start at zero and are discarded, only the leading d × d block of each is
needed, and the doubled state adds no cost.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cgnn.dynamics.coefficients import Function, coefficients, default_tolerance, spectral_bound
from cgnn.dynamics.matrix_coefficients import matrix_coefficients
from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.problem import LinearODE
from cgnn.dynamics.recurrence import (
    Series,
    TransposedStep,
    clenshaw,
    remainders,
    reversed_trace,
    run_series,
    spread,
    times,
)
from cgnn.dynamics.sparse import without_autocast


def solve(ode: LinearODE, t1: float, *, recompute: bool = False, tolerance: float | None = None) -> Tensor:
    """H(t1), (n, d), or (n, R, d) for R replicas, which share one wide product per term.

    Args:
        ode (LinearODE): the equation.
        t1 (float): ending time, at least 0.
        recompute (bool): compute the P_k again in the backward pass instead of keeping them.
        tolerance (float, optional): error of the truncated series, relative to the largest value of f; by default 1e-6
            in float32 and 1e-14 in float64.
    """
    if ode.propagation.learned is not None:
        return _solve_with_learned_edges(ode, t1, tolerance)
    full, start, bound = _series(ode, t1, tolerance)
    value, C = (None, full) if isinstance(full, Tensor) else (full, None)
    return _Series.apply(ode.E, ode.alpha, C, ode.propagation, value, start, bound, recompute)


def solve_recomputing(ode: LinearODE, t1: float, *, tolerance: float | None = None) -> Tensor:
    """H(t1) with memory that does not grow with t1 (unless edge weights require a gradient)."""
    return solve(ode, t1, recompute=True, tolerance=tolerance)


def _series(ode: LinearODE, t1: float, tolerance: float | None) -> tuple[Series, Series | None, float]:
    """The coefficients of the solution, those of e^{zt} alone if the source's gradient is cut, and b."""
    tolerance = default_tolerance(ode.E.dtype) if tolerance is None else tolerance
    derivative, bound = ode.propagation.derivative, spectral_bound(ode.alpha)
    main: Function = "exponential" if ode.source == "none" else "full"
    cut = ode.source == "cut"
    if ode.weight is None:
        start = coefficients(t1, "exponential", derivative, bound, tolerance) if cut else None
        return coefficients(t1, main, derivative, bound, tolerance), start, bound
    C, C_start = matrix_coefficients(ode.weight, ode.E.shape[-1], t1, main, derivative, bound, tolerance, cut)
    for_start = None if C_start is None else _for_replicas(C_start.to(ode.E.dtype), ode.E)
    return _for_replicas(C.to(ode.E.dtype), ode.E), for_start, bound


def _solve_with_learned_edges(ode: LinearODE, t1: float, tolerance: float | None) -> Tensor:
    """The same series through autograd, which also gives the gradient of the edge weights; memory grows with √t1."""
    c, start, bound = _series(ode, t1, tolerance)
    if start is None:
        return _recorded_series(ode, ode.E, c, bound)
    # E − E.detach() is zero: the second series only adds the gradient of E through e^{zt}.
    E = ode.E.detach()
    return _recorded_series(ode, E, c, bound) + _recorded_series(ode, ode.E - E, start, bound)


def _recorded_series(ode: LinearODE, E: Tensor, c: Series, bound: float) -> Tensor:
    """Σ c_k T_k(X)E by the recurrence of the module's docstring, recorded by autograd."""
    alpha, rest = (ode.alpha / bound).unsqueeze(-1), remainders(c)
    H = times(E, rest[0])
    if len(c) == 1:
        return H
    P = ode.propagation.product(E)
    delta = -0.5 * alpha * P
    H = H + times(delta, rest[1])
    for k in range(2, len(c)):
        P = P + ode.propagation.product(delta)
        delta = delta - alpha * P
        H = H + times(delta, rest[k])
    return H


def _for_replicas(C: Tensor, E: Tensor) -> Tensor:
    """Repeat the coefficients for each replica if all replicas share one W."""
    return C.unsqueeze(1).expand(-1, E.shape[1], -1, -1) if E.dim() == 3 and C.dim() == 3 else C


class _Series(torch.autograd.Function):
    """Σ T_k(X) E c_k for numbers ``value`` or matrices ``C``; ``start``, if given, makes dE another series."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        E: Tensor,
        alpha: Tensor,
        C: Tensor | None,
        propagation: Propagation,
        value: Series | None,
        start: Series | None,
        bound: float,
        recompute: bool,
    ) -> Tensor:
        c = value if C is None else C
        assert c is not None
        _, wants_alpha, wants_C, *_ = ctx.needs_input_grad
        flat = E.reshape(E.shape[0], -1).contiguous()
        alpha = alpha / bound
        store = not recompute
        H, trace = run_series(propagation, flat, spread(alpha, E.shape), c, wants_alpha and store, wants_C and store)
        ctx.propagation, ctx.value, ctx.start, ctx.bound, ctx.recompute = propagation, value, start, bound, recompute
        ctx.counts = len(c), len(trace.P), len(trace.delta)
        needed = wants_alpha or wants_C
        ctx.save_for_backward(alpha, C, flat if wants_C else None, *(trace.P + trace.delta if needed else []))
        return H.view(E.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        with without_autocast(gradient.device):
            return _Series.gradients(ctx, gradient)

    @staticmethod
    def gradients(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        alpha, C, E, *saved = ctx.saved_tensors
        wants_E, wants_alpha, wants_C, *_ = ctx.needs_input_grad
        terms, kept, _ = ctx.counts
        g = gradient.reshape(gradient.shape[0], -1).contiguous()
        step = TransposedStep(ctx.propagation, alpha, gradient.shape)
        c = ctx.value if C is None else C
        P: Any = reversed(saved[:kept])
        deltas: Any = reversed(saved[kept:])
        if ctx.recompute and saved:
            trace = reversed_trace(ctx.propagation, spread(alpha, gradient.shape), saved[0], saved[1], terms)
            moments: list[Tensor] = []
            P = _noting_moments(trace, gradient, moments) if wants_C else (p for p, _ in trace)
        dE = d_alpha = dC = None
        if wants_alpha:
            dE, dot = clenshaw(step, g, c, P if terms > 1 else None)
            rows = torch.zeros_like(alpha) if dot is None else dot.view(gradient.shape).sum(-1).mul_(-1 / ctx.bound)
            d_alpha = rows if rows.dim() == alpha.dim() else rows.sum(-1)
        if wants_C:
            if ctx.recompute:
                if not wants_alpha:
                    list(P)  # runs the trace and records the moments
                ordered = moments[::-1] if terms > 1 else []
            else:
                ordered = [_moment(delta, gradient) for delta in deltas][::-1]
            # H = Σ_k Δ_k (c_k + c_{k+1} + …), so dc_k = Σ_{j≤k} Δ_j^T ḡ
            dC = torch.stack([_moment(E, gradient), *ordered]).cumsum(0)
        if wants_E and (dE is None or ctx.start is not None):
            dE, _ = clenshaw(step, g, c if ctx.start is None else ctx.start)
        return (
            dE.view(gradient.shape) if wants_E and dE is not None else None,
            d_alpha,
            dC,
            None,
            None,
            None,
            None,
            None,
        )


def _moment(delta: Tensor, gradient: Tensor) -> Tensor:
    """Δ^T ḡ: (d, d), or (R, d, d)."""
    if gradient.dim() == 2:
        return delta.mT @ gradient
    return torch.einsum("nri,nrj->rij", delta.view(gradient.shape), gradient)


def _noting_moments(trace: Any, gradient: Tensor, moments: list[Tensor]) -> Any:
    for P, delta in trace:
        moments.append(_moment(delta, gradient))
        yield P
