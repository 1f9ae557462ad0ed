"""CGNN's propagation layer: a graph ODE from its input to its ending time."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from cgnn.dynamics.operator import Propagation
from cgnn.dynamics.problem import LinearODE
from cgnn.dynamics.solvers import solve
from cgnn.errors import UserError
from cgnn.models.cgnn_weight import OrthogonalWeight
from cgnn.models.graph_cache import GraphCache
from cgnn.paper.fidelity import Fidelity

Variant = Literal["continuous", "discrete", "no_h0"]
VARIANTS = ("continuous", "discrete", "no_h0")


class CGNNConv(nn.Module):
    r"""The continuous propagation of `"Continuous Graph Neural Networks" <https://arxiv.org/abs/1912.00967>`_.

    .. math::
        \mathbf{H}'(t) = (\mathbf{A} - \mathbf{I})\mathbf{H}(t) + \mathbf{H}(t)(\mathbf{W} - \mathbf{I}) + \mathbf{E},
        \quad \mathbf{H}(0) = \mathbf{E}

        \mathbf{A} = \tfrac{\alpha}{2}
        \left(\mathbf{I} + \mathbf{D}^{-1/2}(\mathbf{Adj} + \gamma\mathbf{I})\mathbf{D}^{-1/2}\right)

    solved at :math:`t_1`; without ``weight`` the term with :math:`\mathbf{W}` is absent. ``fidelity`` holds the
    points on which the released code differs from this equation, and the solver.

    Args:
        channels: d, columns of the input and of the output.
        num_nodes: α is learned for each of so many nodes; None for a single α, usable on any graph.
        t1: ending time.
        alpha: tabulated start of α.
        gamma: self-loop weight.
        beta: strength of the orthogonality update of ``weight``.
        weight: whether channels interact through W.
        variant: ``continuous``; ``discrete`` for unit Euler steps of this equation; ``no_h0`` without the source term.
        fidelity: switches; by default those of the released code.
        replicas: None, or R independent copies side by side on an input (n, R, d).
        cached: keep the normalised graph while ``edge_index`` stays the same object, unmodified.

    Shapes:
        input (n, d), edge_index (2, m), edge_weight (m); output (n, d). With replicas (n, R, d).
    """

    def __init__(
        self,
        channels: int,
        num_nodes: int | None = None,
        *,
        t1: float,
        alpha: float = 0.95,
        gamma: float = 1.0,
        beta: float = 0.5,
        weight: bool = False,
        variant: Variant = "continuous",
        fidelity: Fidelity | None = None,
        replicas: int | None = None,
        cached: bool = True,
    ) -> None:
        super().__init__()
        if variant not in VARIANTS:
            raise UserError(f"variant: found {variant!r}, expected one of {', '.join(VARIANTS)}")
        if weight and variant != "continuous":
            raise UserError(f"variant: found {variant!r} with weight=True, expected 'continuous', as in the paper")
        self.fidelity = fidelity or Fidelity()
        if self.fidelity.alpha == "tabulated" and not 0 < alpha < 1:
            raise UserError(f"alpha: found {alpha}, expected a value strictly between 0 and 1")
        self.channels, self.num_nodes, self.replicas = channels, num_nodes, replicas
        self.t1, self.start, self.gamma, self.beta = float(t1), float(alpha), float(gamma), float(beta)
        self.variant, self.cached = variant, cached
        shape = (num_nodes or 1,) if replicas is None else (num_nodes or 1, replicas)
        self.theta = nn.Parameter(torch.empty(shape))
        self.weight = OrthogonalWeight(self.state_width, beta, self.fidelity.weight_clamp, replicas) if weight else None
        self._cache: GraphCache[Propagation] = GraphCache()
        self.reset_parameters()

    @property
    def state_width(self) -> int:
        """Columns of the ODE's state: doubled with zeros under augmentation."""
        return self.channels * (2 if self.fidelity.augmentation == "zeros" else 1)

    def reset_parameters(self) -> None:
        """α to its start, W to the identity. Nothing here is random."""
        # released: θ starts at the tabulated value itself, so that 0.918 starts as σ(0.918) = 0.715.
        start = self.start if self.fidelity.alpha == "sigmoid" else math.log(self.start / (1 - self.start))
        nn.init.constant_(self.theta, start)
        if self.weight is not None:
            self.weight.reset_parameters()
        self._cache.clear()

    @property
    def alpha(self) -> Tensor:
        """α in (0, 1), one a node (and replica)."""
        return torch.sigmoid(self.theta)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        propagation = self.propagation(edge_index, edge_weight, x)
        alpha = self.alpha
        if alpha.shape[0] != x.shape[0]:
            if self.num_nodes is not None:
                raise UserError(
                    f"x: found {x.shape[0]} nodes, expected {self.num_nodes}; "
                    "with num_nodes=None one α serves any graph"
                )
            alpha = alpha.expand(x.shape[0], *alpha.shape[1:])
        if self.variant == "discrete":
            from cgnn.dynamics.discrete import propagate

            steps = 50 if self.fidelity.discrete_steps == "50" else round(self.t1)
            return propagate(propagation, x, alpha, steps, self.fidelity.discrete, self.fidelity.source_gradient)
        source: Literal["flows", "cut", "none"] = self.fidelity.source_gradient
        if self.variant == "no_h0":
            if self.fidelity.no_h0 == "printed":  # H' = (A − I)H(0), so H(t) = H(0) + t(A − I)H(0)
                held = x.detach() if source == "cut" else x
                return x + self.t1 * propagation.apply_M(alpha, held)
            source = "none"  # H' = (A − I)H(t)
        W = None if self.weight is None else self.weight()
        ode = LinearODE(propagation, x, alpha, W, source, self.state_width)
        return solve(self.fidelity.solver, ode, self.t1)

    def propagation(self, edge_index: Tensor, edge_weight: Tensor | None, like: Tensor) -> Propagation:
        """The normalised graph in the dtype and on the device of ``like``."""

        def build() -> Propagation:
            return Propagation.build(
                edge_index,
                edge_weight,
                num_nodes=like.shape[0],
                gamma=self.gamma,
                derivative=self.fidelity.derivative,
                dtype=like.dtype,
                device=like.device,
            )

        settings = (like.shape[0], like.dtype, like.device)
        return self._cache.get((edge_index, edge_weight), settings, build) if self.cached else build()

    def after_step(self) -> None:
        """After an optimiser step: U back towards the orthogonal matrices."""
        if self.weight is not None:
            self.weight.after_step()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.channels}, num_nodes={self.num_nodes}, t1={self.t1:g}, "
            f"alpha={self.start:g}, gamma={self.gamma:g}, weight={self.weight is not None}, "
            f"variant={self.variant!r}, solver={self.fidelity.solver!r})"
        )
