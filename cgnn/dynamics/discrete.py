"""CGNN discrete: steps of a linear propagation instead of the ODE.

    euler    H ← H + MH + E, the unit Euler step of H' = MH + E. With the paper's M = A − I this is the printed
             recursion H ← AH + H(0); with the released M = (α/2)(Â − I) it is H ← H + (α/2)(Â − I)H + E.
    hybrid   H ← AH + H(0) under either derivative, A = (α/2)(I + Â).
    appnp    H ← αÂH + (1 − α)H(0), the propagation of APPNP (Klicpera et al. 2019) with 1 − α as its teleport.

All start at H(0) = E.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.sparse import add_sparse_product, sparse_product
from cgnn.errors import UserError

Kind = Literal["euler", "hybrid", "appnp"]


@dataclass(frozen=True)
class _Rule:
    """H ← keep·H + sign·α∘(PH) + e∘E with P = identity·I + product·4R; e is 1 − α under ``restart``, else 1."""

    identity: float
    product: float
    keep: bool = False
    sign: float = 1.0
    restart: bool = False


_RULES = {
    ("euler", "paper"): _Rule(0, 0.25),  # A = D_α R
    ("euler", "released"): _Rule(0, 0.25, keep=True, sign=-1.0),  # M = −D_α R
    ("hybrid", "paper"): _Rule(0, 0.25),
    ("hybrid", "released"): _Rule(1, -0.25),  # (I + Â)/2 = I − R
    ("appnp", "paper"): _Rule(-1, 0.5, restart=True),  # Â = 2R − I
    ("appnp", "released"): _Rule(1, -0.5, restart=True),  # Â = I − 2R
}


def propagate(
    propagation: Propagation,
    E: Tensor,
    alpha: Tensor,
    steps: int,
    kind: Kind = "euler",
    source: Literal["flows", "cut"] = "flows",
) -> Tensor:
    """H after ``steps`` steps from H(0) = E; differentiable in E and α.

    ``source`` determines whether the gradient flows through the term with E that each Euler step adds, or only through
    H(0). In the other two kinds it always flows: otherwise only α^n of the gradient would reach E after n steps, which
    is less than weight decay removes. Memory grows with the number of steps, as in any deep network.

    Shapes: E (n, d) or (n, R, d); alpha (n,) or (n, R); result like E.
    """
    if steps < 0:
        raise UserError(f"discrete steps: found {steps}, expected at least 0")
    cut = source == "cut" and kind == "euler"
    return _Steps.apply(E, alpha, propagation, _RULES[kind, propagation.derivative], steps, cut)


class _Steps(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, E: Tensor, alpha: Tensor, propagation: Propagation, rule: _Rule, steps: int, cut: bool
    ) -> Tensor:
        factor = _per_row(alpha, E)
        source = (1 - factor) * E if rule.restart else E
        H, products = E, []
        for _ in range(steps):
            PH = _apply_P(propagation, rule, H)
            products.append(PH)
            H = torch.addcmul(H + source if rule.keep else source, factor, PH, value=rule.sign)
        needs_alpha = ctx.needs_input_grad[1]
        ctx.propagation, ctx.rule, ctx.steps, ctx.cut = propagation, rule, steps, cut
        ctx.save_for_backward(alpha, E if needs_alpha and rule.restart else None, *(products if needs_alpha else []))
        return H if steps else E.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        alpha, E, *products = ctx.saved_tensors
        rule, factor = ctx.rule, _per_row(alpha, gradient)
        g = gradient.contiguous()
        into_source = torch.zeros_like(g)  # Σ over steps of the gradient at the added term
        into_alpha = torch.zeros_like(g)
        for step in range(ctx.steps - 1, -1, -1):
            into_source.add_(g)
            if products:
                into_alpha.addcmul_(g, products[step], value=rule.sign)
            back = _apply_P(ctx.propagation, rule, g * factor)  # P is symmetric: (αP)^T ḡ = P(αḡ)
            g = g + rule.sign * back if rule.keep else rule.sign * back
        if E is not None:
            into_alpha.addcmul_(into_source, E, value=-1)
        d_alpha = None
        if ctx.needs_input_grad[1]:
            d_alpha = into_alpha.sum(-1)
            d_alpha = d_alpha.sum(-1) if d_alpha.dim() > alpha.dim() else d_alpha
        d_E = g if ctx.cut else g + ((1 - factor) * into_source if rule.restart else into_source)
        return d_E, d_alpha, None, None, None, None


def _per_row(alpha: Tensor, H: Tensor) -> Tensor:
    """α in a shape that broadcasts to H: one value per node, or one per node and replica."""
    return alpha.reshape(*alpha.shape, *[1] * (H.dim() - alpha.dim()))


def _apply_P(propagation: Propagation, rule: _Rule, H: Tensor) -> Tensor:
    flat = H.reshape(H.shape[0], -1).contiguous()
    if not rule.identity:
        return sparse_product(propagation.R4, flat).mul_(rule.product).view(H.shape)
    return add_sparse_product(flat, propagation.R4, flat, beta=rule.identity, scale=rule.product).view(H.shape)
