"""The exact solver: H(t1) = f(M)E as a Chebyshev series in X, with its gradient written by hand.

Forward. T_0 = E, T_1 = XE, T_{k+1} = 2X T_k − T_{k−1}, H = Σ c_k T_k. With X = I − 2 D_α R the recurrence
is run on the differences Δ_k = T_k − T_{k−1} and on P_k = 4R T_k,

    Δ_{k+1} = Δ_k − α P_k      P_{k+1} = P_k + 4R Δ_{k+1}      H = Σ_k (c_k + c_{k+1} + …) Δ_k,   Δ_0 = E

(half of P_0 in Δ_1), which is one sparse product and two passes a term, loses no digits where X is near
I, and leaves behind the P_k, all that the gradient of α needs.

Backward. Clenshaw's recurrence on the incoming gradient ḡ: b_k = c_k ḡ + 2X^T b_{k+1} − b_{k+2}, then
dE = c_0 ḡ + X^T b_1 − b_2 and dα = −½ b_1·P_0 − Σ_{k≥1} b_{k+1}·P_k, row by row. The P_k are kept, or run
backwards from the last (P_k = P_{k+1} − 4R Δ_{k+1}, Δ_k = Δ_{k+1} + α P_k): memory free of t1 for one
more product a term. The gradient is that of the series itself, not of a second ODE.

When the source's gradient is cut, dE is the series of e^{zt} alone; dα is still the full one.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cgnn.dynamics.coefficients import coefficients, default_tolerance
from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.problem import LinearODE
from cgnn.dynamics.sparse import add_sparse_product, sparse_product


def solve(ode: LinearODE, t1: float, *, recompute: bool = False, tolerance: float | None = None) -> Tensor:
    """H(t1), (n, d) or (n, R, d)."""
    E, alpha, W = ode.E, ode.alpha, ode.weight
    if E.dim() == 3 and E.device.type == "cpu":
        # One after another: as quick as side by side on a CPU, and the same bits as alone.
        weights = [None] * E.shape[1] if W is None else W.unbind(0) if W.dim() == 3 else [W] * E.shape[1]
        alphas = alpha.unbind(1) if alpha.dim() == 2 else [alpha] * E.shape[1]
        columns = zip(E.unbind(1), alphas, weights, strict=True)
        alone = [LinearODE(ode.propagation, e, a, w, ode.source, ode.width) for e, a, w in columns]
        return torch.stack([solve(one, t1, recompute=recompute, tolerance=tolerance) for one in alone], dim=1)
    return solve_together(ode, t1, recompute=recompute, tolerance=tolerance)


def solve_recomputing(ode: LinearODE, t1: float, *, tolerance: float | None = None) -> Tensor:
    """H(t1) with memory that does not grow with t1."""
    return solve(ode, t1, recompute=True, tolerance=tolerance)


def solve_together(ode: LinearODE, t1: float, *, recompute: bool = False, tolerance: float | None = None) -> Tensor:
    """All replicas in one wide product: the way to fill a GPU."""
    if ode.weight is not None:
        from cgnn.dynamics.chebyshev_weighted import solve_weighted

        return solve_weighted(ode, t1, recompute=recompute, tolerance=tolerance)
    tolerance = default_tolerance(ode.E.dtype) if tolerance is None else tolerance
    derivative = ode.propagation.derivative
    exponential = coefficients(t1, "exponential", derivative, tolerance)
    value = exponential if ode.source == "none" else coefficients(t1, "full", derivative, tolerance)
    start = exponential if ode.source == "cut" else value
    return _Series.apply(ode.E, ode.alpha, ode.propagation, value, start, recompute)


def column_shape(alpha: Tensor, E: Tensor) -> Tensor:
    """α as a factor of the flattened state: (n, 1), or (n, R·d) with each replica's α over its d columns."""
    if E.dim() == 2:
        return alpha.unsqueeze(-1)
    return alpha.reshape(E.shape[0], -1, 1).expand(E.shape).reshape(E.shape[0], -1)


class _Series(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        E: Tensor,
        alpha: Tensor,
        propagation: Propagation,
        value: tuple[float, ...],
        start: tuple[float, ...],
        recompute: bool,
    ) -> Tensor:
        flat = E.reshape(E.shape[0], -1).contiguous()
        factor = column_shape(alpha, E)
        keep = ctx.needs_input_grad[1] and not recompute
        H, products, last = run_series(propagation, flat, factor, value, keep)
        ctx.propagation, ctx.value, ctx.start, ctx.recompute = propagation, value, start, recompute
        ctx.save_for_backward(alpha, *(products if keep else last if ctx.needs_input_grad[1] else ()))
        return H.view(E.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        alpha, *saved = ctx.saved_tensors
        flat = gradient.reshape(gradient.shape[0], -1).contiguous()
        step = TransposedStep(ctx.propagation, alpha, gradient)
        dE = d_alpha = None
        same = ctx.value == ctx.start
        if ctx.needs_input_grad[1]:
            factor = column_shape(alpha, gradient)
            products = reversed_products(ctx.propagation, factor, *saved, terms=len(ctx.value)) if ctx.recompute else reversed(saved)
            dot = torch.zeros_like(flat)
            dE = clenshaw(step, flat, ctx.value, products, dot)
            rows = dot.view(gradient.shape).sum(-1)
            d_alpha = (rows if rows.dim() == alpha.dim() else rows.sum(-1)).neg_()
        if ctx.needs_input_grad[0] and not (same and dE is not None):
            dE = clenshaw(step, flat, ctx.start)
        return dE.view(gradient.shape) if ctx.needs_input_grad[0] and dE is not None else None, d_alpha, None, None, None, None


def run_series(
    propagation: Propagation, E: Tensor, alpha: Tensor, c: tuple[float, ...], keep: bool
) -> tuple[Tensor, list[Tensor], tuple[Tensor, ...]]:
    """H, then P_0 … P_{K−2} if kept, then the last P and Δ, from which they can be run backwards."""
    remaining = [sum(c[k:]) for k in range(len(c))]  # Σ_{j≥k} c_j
    H = E * remaining[0]
    if len(c) == 1:
        return H, [], ()
    R4 = propagation.R4
    P = sparse_product(R4, E)
    products = [P]
    delta = P.mul(alpha).mul_(-0.5)  # Δ_1 = (X − I)E = −½ α P_0
    H.add_(delta, alpha=remaining[1])
    for weight in remaining[2:]:
        P = add_sparse_product(P, R4, delta, out=None if keep else P)  # P_k = P_{k−1} + 4R Δ_k
        if keep:
            products.append(P)
        delta.addcmul_(alpha, P, value=-1)  # Δ_{k+1} = Δ_k − α P_k
        H.add_(delta, alpha=weight)
    return H, products if keep else [], (P, delta)


def reversed_products(propagation: Propagation, alpha: Tensor, P: Tensor | None = None, delta: Tensor | None = None, *, terms: int):  # type: ignore[no-untyped-def]
    """P_{K−2}, …, P_0, from the last P and Δ."""
    if P is None or delta is None:
        return
    P, delta = P.clone(), delta.clone()
    for _ in range(terms - 2):
        yield P
        delta.addcmul_(alpha, P)  # Δ_k = Δ_{k+1} + α P_k
        add_sparse_product(P, propagation.R4, delta, scale=-1, out=P)  # P_{k−1} = P_k − 4R Δ_k
    yield P


class TransposedStep:
    """b ↦ 2X^T b_{k+1} − b_{k+2}, written over b_{k+2}."""

    def __init__(self, propagation: Propagation, alpha: Tensor, like: Tensor) -> None:
        self.R4 = propagation.R4
        self.folded = propagation.transposed_two_x(alpha) if like.dim() == 2 else None
        self.alpha = None if like.dim() == 2 else column_shape(alpha, like)

    def __call__(self, b1: Tensor, b2: Tensor) -> Tensor:
        if self.folded is not None:
            return add_sparse_product(b2, self.folded, b1, beta=-1, out=b2)
        add_sparse_product(b2, self.R4, b1 * self.alpha, beta=-1, scale=-1, out=b2)  # replicas differ in α
        return b2.add_(b1, alpha=2)

    def half(self, b1: Tensor, b2: Tensor) -> Tensor:
        """X^T b_1 − b_2, the last step."""
        two = self(b1, torch.zeros_like(b1))
        return torch.sub(two.mul_(0.5), b2, out=two)


def clenshaw(step: TransposedStep, g: Tensor, c: tuple[float, ...], products=None, dot: Tensor | None = None) -> Tensor:  # type: ignore[no-untyped-def]
    """Σ c_k T_k(X^T) g; on the way ½ b_1 P_0 + Σ b_{k+1} P_k is added to ``dot``."""
    if len(c) == 1:
        return g * c[0]
    b1, b2 = g * c[-1], torch.zeros_like(g)
    for ck in reversed(c[1:-1]):
        if dot is not None:
            dot.addcmul_(b1, next(products))
        b1, b2 = step(b1, b2).add_(g, alpha=ck), b1
    if dot is not None:
        dot.addcmul_(b1, next(products), value=0.5)
    return step.half(b1, b2).add_(g, alpha=c[0])
