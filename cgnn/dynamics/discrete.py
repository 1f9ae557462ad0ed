"""CGNN discrete: the propagation that the ODE is the continuous form of, H_{n+1} = A H_n + H_0."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.sparse import add_sparse_product, sparse_product
from cgnn.errors import UserError


def propagate(propagation: Propagation, E: Tensor, alpha: Tensor, steps: int) -> Tensor:
    """H_n = Σ_{i≤n} A^i E after n = ``steps`` steps, A = (α/2)(I + Â) in both presets.

    E is (n, d) or (n, R, d). The paper's equation has no separate source term whose gradient could be
    cut: E's gradient always flows. Memory grows with the steps, as in any deep network.
    """
    if steps < 0:
        raise UserError(f"discrete steps: found {steps}, expected at least 0")
    return _Steps.apply(E, alpha, propagation, steps)


class _Steps(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, E: Tensor, alpha: Tensor, propagation: Propagation, steps: int) -> Tensor:  # type: ignore[override]
        factor = _per_row(alpha, E)
        H, kept = E, []
        for _ in range(steps):
            B = _apply_B(propagation, H)
            kept.append(B)
            H = torch.addcmul(E, factor, B)  # H_{n+1} = H_0 + α B H_n, with A = D_α B
        ctx.propagation = propagation
        ctx.save_for_backward(alpha, *(kept if ctx.needs_input_grad[1] else []))
        ctx.steps = steps
        return H if steps else E.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        alpha, *kept = ctx.saved_tensors
        factor = _per_row(alpha, gradient)
        g = gradient.contiguous()
        dE = g.clone()
        dot = torch.zeros_like(g)
        for step in range(ctx.steps - 1, -1, -1):
            if kept:
                dot.addcmul_(g, kept[step])
            g = _apply_B(ctx.propagation, g * factor)  # A^T ḡ = B (α ḡ)
            dE.add_(g)
        rows = dot.sum(-1) if kept else None
        if rows is not None and rows.dim() > alpha.dim():
            rows = rows.sum(-1)
        if rows is None and ctx.needs_input_grad[1]:
            rows = torch.zeros_like(alpha)
        return dE, rows, None, None


def _per_row(alpha: Tensor, H: Tensor) -> Tensor:
    """α as a factor of H: one per node, or one per node and replica."""
    return alpha.reshape(*alpha.shape, *[1] * (H.dim() - alpha.dim()))


def _apply_B(propagation: Propagation, H: Tensor) -> Tensor:
    """BH with B = (I + Â)/2, which is R in the paper's preset and I − R in the released one."""
    flat = H.reshape(H.shape[0], -1).contiguous()
    if propagation.derivative == "paper":
        return sparse_product(propagation.R4, flat).mul_(0.25).view(H.shape)
    return add_sparse_product(flat, propagation.R4, flat, scale=-0.25).view(H.shape)
