"""The three-term recurrences of the exact solver: forward on the state, backward on its gradient.

A series has K coefficients c_0 … c_{K−1}, each a number (without weights) or a matrix (with weights,
acting on the state from the right). States are flat, (n, d) or (n, R·d). The α here is α/b, scaled so
that X = I − 2 D_α R has its spectrum in [−1, 1]. No function here is recorded by autograd, except ``times``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.sparse import add_sparse_product, sparse_product

#: c_0 … c_{K−1}: floats, or a tensor (K, d, d), or (K, R, d, d) for replicas.
Series = Sequence[float] | Tensor


def add_scaled_(y: Tensor, x: Tensor, c: float | Tensor) -> Tensor:
    """y += x c"""
    if not isinstance(c, Tensor):
        return y.add_(x, alpha=c)
    if c.dim() == 2:
        return y.addmm_(x, c)
    return y.add_(torch.einsum("nri,rij->nrj", x.view(x.shape[0], c.shape[0], -1), c).reshape(x.shape))


def scaled(x: Tensor, c: float | Tensor) -> Tensor:
    """x c"""
    if not isinstance(c, Tensor):
        return x * c
    return x @ c if c.dim() == 2 else add_scaled_(torch.zeros_like(x), x, c)


def times(x: Tensor, c: float | Tensor) -> Tensor:
    """x c for x (n, d) or (n, R, d), recorded by autograd."""
    if not isinstance(c, Tensor):
        return x * c
    return x @ c if c.dim() == 2 else torch.einsum("nri,rij->nrj", x, c)


def remainders(c: Series) -> Series:
    """Σ_{j≥k} c_j for every k."""
    if isinstance(c, Tensor):
        return c.flip(0).cumsum(0).flip(0)
    total, sums = 0.0, []
    for ck in reversed(c):
        total += ck
        sums.append(total)
    return sums[::-1]


def spread(alpha: Tensor, shape: Sequence[int]) -> Tensor:
    """α as a factor of the flat state: (n, 1), or (n, R·d) with each replica's α over its d columns."""
    if len(shape) == 2:
        return alpha.unsqueeze(-1)
    return alpha.reshape(shape[0], -1, 1).expand(shape).reshape(shape[0], -1)


@dataclass
class Trace:
    """What the forward pass stores for the gradients of α and of the coefficients."""

    P: list[Tensor] = field(default_factory=list)  # P_0 … P_{K−2}, or only the last
    delta: list[Tensor] = field(default_factory=list)  # Δ_1 … Δ_{K−1}, or only the last


def run_series(
    propagation: Propagation, E: Tensor, alpha: Tensor, c: Series, keep_P: bool, keep_delta: bool
) -> tuple[Tensor, Trace]:
    """H = Σ c_k T_k(X)E, by Δ_{k+1} = Δ_k − α P_k and P_{k+1} = P_k + 4R Δ_{k+1}."""
    rest = remainders(c)
    H = scaled(E, rest[0])
    if len(c) == 1:
        return H, Trace()
    P = sparse_product(propagation.R4, E)
    delta = P.mul(alpha).mul_(-0.5)  # Δ_1 = (X − I)E = −½ α P_0
    add_scaled_(H, delta, rest[1])
    trace = Trace([P], [delta])
    for k in range(2, len(c)):
        P = add_sparse_product(P, propagation.R4, delta, out=None if keep_P else P)
        delta = delta.addcmul(alpha, P, value=-1) if keep_delta else delta.addcmul_(alpha, P, value=-1)
        add_scaled_(H, delta, rest[k])
        if keep_P:
            trace.P.append(P)
        if keep_delta:
            trace.delta.append(delta)
    return H, trace


def reversed_trace(
    propagation: Propagation, alpha: Tensor, P: Tensor, delta: Tensor, terms: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """(P_{k}, Δ_{k+1}) for k = K−2 … 0, computed from the last pair by running the recurrence backwards."""
    P, delta = P.clone(), delta.clone()
    for _ in range(terms - 2):
        yield P, delta
        delta.addcmul_(alpha, P)  # Δ_k = Δ_{k+1} + α P_k
        add_sparse_product(P, propagation.R4, delta, scale=-1, out=P)  # P_{k−1} = P_k − 4R Δ_k
    yield P, delta


class TransposedStep:
    """2X^T b_{k+1} − b_{k+2}, with X^T = I − 2 R D_α stored as one matrix if all columns share α."""

    def __init__(self, propagation: Propagation, alpha: Tensor, shape: Sequence[int]) -> None:
        self.R4 = propagation.R4
        self.folded = propagation.transposed_two_x(alpha) if len(shape) == 2 else None
        self.alpha = spread(alpha, shape)

    def __call__(self, b1: Tensor, b2: Tensor | None) -> Tensor:
        """The step, written in place to b2; None means zero."""
        if self.folded is not None:
            if b2 is None:
                return sparse_product(self.folded, b1)
            return add_sparse_product(b2, self.folded, b1, beta=-1, out=b2)
        b2 = torch.zeros_like(b1) if b2 is None else b2
        add_sparse_product(b2, self.R4, b1 * self.alpha, beta=-1, scale=-1, out=b2)
        return b2.add_(b1, alpha=2)


def clenshaw(
    step: TransposedStep, g: Tensor, c: Series, P: Iterator[Tensor] | None = None
) -> tuple[Tensor, Tensor | None]:
    """Σ_k T_k(X^T) g c_k and, if P_{K−2} … P_0 are given, ½ b_1 P_0 + Σ_{k≥1} b_{k+1} P_k elementwise.

    b_k = g c_k + 2X^T b_{k+1} − b_{k+2}
    """
    if isinstance(c, Tensor):
        c = c.mT  # the adjoint of a coefficient acting from the right
    if len(c) == 1:
        return scaled(g, c[0]), None
    dot: Tensor | None = None
    b1: Tensor = scaled(g, c[-1])
    b2: Tensor | None = None
    for k in range(len(c) - 2, 0, -1):
        if P is not None:
            dot = b1 * next(P) if dot is None else dot.addcmul_(b1, next(P))
        b1, b2 = add_scaled_(step(b1, b2), g, c[k]), b1
    if P is not None:
        last = next(P)
        dot = (b1 * last).mul_(0.5) if dot is None else dot.addcmul_(b1, last, value=0.5)
    # c_0 g + X^T b_1 − b_2
    total = step(b1, None).mul_(0.5)
    if b2 is not None:
        total.sub_(b2)
    return add_scaled_(total, g, c[0]), dot
