"""CGNN's propagation layer: a graph ODE from its input to its ending time."""

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from cgnn.dynamics.operator import Propagation, check_graph_type
from cgnn.dynamics.problem import LinearODE
from cgnn.dynamics.solvers import solve
from cgnn.dynamics.sparse import without_autocast
from cgnn.errors import UserError
from cgnn.models.cgnn_weight import OrthogonalWeight
from cgnn.models.eager import check_device, check_is_tensor, outside_compiled_graphs, working_dtype
from cgnn.models.graph_cache import GraphCache
from cgnn.paper.fidelity import Fidelity, preset

Variant = Literal["continuous", "discrete", "no_h0"]
VARIANTS = ("continuous", "discrete", "no_h0")


class CGNNConv(nn.Module):
    r"""The continuous propagation of `"Continuous Graph Neural Networks" <https://arxiv.org/abs/1912.00967>`_.

    .. math::
        \mathbf{H}'(t) = (\mathbf{A} - \mathbf{I})\mathbf{H}(t) + \mathbf{H}(t)(\mathbf{W} - \mathbf{I}) + \mathbf{E},
        \quad \mathbf{H}(0) = \mathbf{E}

        \mathbf{A} = \tfrac{\alpha}{2}
        \left(\mathbf{I} + \mathbf{D}^{-1/2}(\mathbf{Adj} + \gamma\mathbf{I})\mathbf{D}^{-1/2}\right)

    solved at :math:`t_1`, where :math:`\mathbf{E}` is the layer's input; without ``weight`` the term with
    :math:`\mathbf{W}` is absent. ``fidelity`` selects the solver and, where the released code differs from this
    equation, which of the two is used.

    Args:
        channels (int): d, the columns of the input and of the output, or -1 to take them from the first input.
        num_nodes (int, optional): number of nodes, each with its learned α, as in the paper. By default one α is shared
            by all nodes, and the layer works on any graph.
        t1 (float): ending time, at least 0.
        alpha (float): initial value of α, as in the paper's tables.
        gamma (float): weight of each node's self-loop, at least 0.
        beta (float): strength of the orthogonality update of ``weight``, in [0, 0.5].
        weight (bool): whether channels interact through W.
        variant (str): ``"continuous"``; ``"discrete"`` for unit Euler steps of this equation;
            ``"no_h0"`` without the source term.
        fidelity (Fidelity or str, optional): the switches, or the name of a preset, ``"paper"`` or ``"released"``. By
            default those of the released code, except that the gradient flows through the source term.
        replicas (int, optional): hold R independent copies side by side, on an input (n, R, d).
        cached (bool): keep the normalised graph while ``edge_index`` and ``edge_weight`` are the same, unmodified
            tensors.

    Shapes:
        - **input:** x (n, d), with replicas (n, R, d); edge_index (2, m) or a sparse adjacency matrix (n, n);
          edge_weight (m), optional
        - **output:** as x

    Example:
        >>> conv = CGNNConv(16, t1=12.0)
        >>> H = conv(x, edge_index)
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
        fidelity: Fidelity | str | None = None,
        replicas: int | None = None,
        cached: bool = True,
    ) -> None:
        super().__init__()
        if variant not in VARIANTS:
            raise UserError(f"variant: found {variant!r}, expected one of {', '.join(VARIANTS)}")
        if weight and variant != "continuous":
            raise UserError(f"variant: found {variant!r} with weight=True, expected 'continuous', as in the paper")
        self.fidelity = preset(fidelity) if isinstance(fidelity, str) else fidelity or Fidelity()
        if not isinstance(self.fidelity, Fidelity):
            raise UserError(f"fidelity: found {fidelity!r}, expected a Fidelity or the name of a preset")
        check_size("channels", channels, lazy=True)
        if channels == -1 and weight:
            raise UserError("channels: found -1 with weight=True, expected a number, because it is the size of W")
        check_size("num_nodes", num_nodes, optional=True)
        check_size("replicas", replicas, optional=True)
        check_number("t1", t1, t1 >= 0, "an ending time of at least 0")
        check_number("gamma", gamma, gamma >= 0, "a self-loop weight of at least 0")
        check_number("beta", beta, 0 <= beta <= 0.5, "a number in [0, 0.5]")
        tabulated = self.fidelity.alpha == "tabulated"
        check_number("alpha", alpha, not tabulated or 0 < alpha < 1, "a value strictly between 0 and 1")
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
        """Columns of the ODE's state: twice ``channels`` if it is augmented with zeros."""
        return self.channels * (2 if self.fidelity.augmentation == "zeros" else 1)

    def reset_parameters(self) -> None:
        """Set α and W to their initial values and clear the cached graph. Nothing here is random."""
        # released: θ starts at the tabulated value itself, so that 0.918 starts as σ(0.918) = 0.715.
        start = self.start if self.fidelity.alpha == "sigmoid" else math.log(self.start / (1 - self.start))
        nn.init.constant_(self.theta, start)
        if self.weight is not None:
            self.weight.reset_parameters()
        self._cache.clear()

    @property
    def alpha(self) -> Tensor:
        """α in (0, 1): (n,), or (1,) if it is shared by all nodes; with replicas a second axis R."""
        return torch.sigmoid(self.theta)

    @outside_compiled_graphs
    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        r"""Solve the ODE from :math:`\mathbf{H}(0) = \mathbf{E} =` ``x`` to :math:`t_1`.

        Args:
            x (Tensor): (n, d), with replicas (n, R, d). float16 and bfloat16 are computed in float32 and cast back.
            edge_index (Tensor, EdgeIndex or SparseTensor): both directions of every edge, (2, m), or a symmetric sparse
                adjacency matrix (n, n), whose values are weights.
            edge_weight (Tensor, optional): (m,), finite, at least 0, equal in both directions. If it requires a
                gradient, the gradient is computed, and the graph is normalised at every call.

        Returns:
            Tensor: :math:`\mathbf{H}(t_1)`, of the shape, dtype and device of ``x``.

        Raises:
            UserError: a directed graph, weights that are negative or not finite, a wrong shape, or tensors on another
                device than the module.
        """
        check_is_tensor(x)
        self._check_input(x, edge_index, edge_weight)
        with without_autocast(x.device):
            return self._propagate(x.to(working_dtype(x.dtype)), edge_index, edge_weight).to(x.dtype)

    def _check_input(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None) -> None:
        axes = "(n, d)" if self.replicas is None else f"(n, {self.replicas}, d)"
        if x.dim() != axes.count(",") + 1 or (self.replicas is not None and x.shape[1] != self.replicas):
            raise UserError(f"x: found shape {tuple(x.shape)}, expected {axes}")
        if x.layout != torch.strided:
            raise UserError("x: found a sparse tensor, expected a dense one; CGNN takes sparse features")
        if not x.is_floating_point():
            raise UserError(f"x: found {x.dtype}, expected a floating-point dtype")
        if self.channels == -1:
            self.channels = x.shape[-1]
        if x.shape[-1] != self.channels:
            raise UserError(f"x: found {x.shape[-1]} columns, expected {self.channels}")
        if self.num_nodes not in (None, x.shape[0]):
            raise UserError(
                f"x: found {x.shape[0]} nodes, expected {self.num_nodes}; use num_nodes=None for graphs of any size"
            )
        check_graph_type(edge_index)
        check_device("x", x, self.theta)
        for name, tensor in (("edge_index", edge_index), ("edge_weight", edge_weight)):
            if isinstance(tensor, Tensor):
                check_device(name, tensor, self.theta)
        if edge_weight is not None and edge_weight.requires_grad and self.variant == "discrete":
            raise UserError(
                "edge_weight: requires a gradient, which variant='discrete' does not compute; "
                "use edge_weight.detach() or variant='continuous'"
            )

    def _propagate(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None) -> Tensor:
        propagation = self.propagation(edge_index, edge_weight, x)
        alpha = torch.sigmoid(self.theta.to(x.dtype))
        if self.num_nodes is None:
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
        W = None if self.weight is None else self.weight().to(x.dtype)
        ode = LinearODE(propagation, x, alpha, W, source, self.state_width)
        return solve(self.fidelity.solver, ode, self.t1)

    def propagation(self, edge_index: Any, edge_weight: Tensor | None, like: Tensor) -> Propagation:
        """The normalised graph in the dtype and on the device of ``like``, whose rows are the nodes."""

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

        # A SparseTensor of torch_sparse is not a tensor itself, but keeps the three tensors that it consists of.
        graph = (edge_index,) if isinstance(edge_index, Tensor) else edge_index.coo()
        settings = (like.shape[0], like.dtype, like.device)
        return self._cache.get((*graph, edge_weight), settings, build) if self.cached else build()

    def after_step(self) -> None:
        """Move U of ``weight`` towards the orthogonal matrices; call it after each optimiser step."""
        if self.weight is not None:
            self.weight.after_step()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.channels}, num_nodes={self.num_nodes}, t1={self.t1:g}, "
            f"alpha={self.start:g}, gamma={self.gamma:g}, weight={self.weight is not None}, "
            f"variant={self.variant!r}, solver={self.fidelity.solver!r})"
        )


def check_size(name: str, value: Any, optional: bool = False, lazy: bool = False) -> None:
    """Check a constructor argument that is a count: an integer ≥ 1, or None or -1 where those are allowed."""
    if (optional and value is None) or (lazy and value == -1):
        return
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        also = "".join([" or None" if optional else "", " or -1 to take it from the first input" if lazy else ""])
        raise UserError(f"{name}: found {value!r}, expected an integer of at least 1{also}")


def check_number(name: str, value: Any, good: bool, expected: str) -> None:
    """Check a constructor argument that is a finite number within bounds."""
    if not (good and math.isfinite(value)):
        raise UserError(f"{name}: found {value!r}, expected {expected}")


def check_probability(name: str, value: float) -> None:
    """Check a dropout rate."""
    check_number(name, value, 0 <= value < 1, "a probability in [0, 1)")
