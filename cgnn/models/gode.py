"""GODE (Zhuang et al. 2020): an ODE whose derivative is a graph neural network. The CGNN paper quotes its results."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from torchdiffeq import odeint

from cgnn.errors import UserError
from cgnn.models.attention import AttentionPattern, gat_layer
from cgnn.models.gat import cached_edges
from cgnn.models.gcn_layer import Propagation, cached_propagation, gcn_layer
from cgnn.models.graph_cache import GraphCache
from cgnn.models.random_streams import dropout as quick_dropout
from cgnn.models.sparse_layer import with_sparse_input
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "softplus": functional.softplus,
    "elu": functional.elu,
    "tanh": Tensor.tanh,
}


class GODE(nn.Module):
    r"""A GNN whose hidden layers are an ODE: layer, ReLU, the ODE to :math:`t_1`, layer.

    .. math:: H' = g_2(\mathrm{drop}_2(\sigma(g_1(\mathrm{drop}_1(H)))))

    All four layers are GCN or GAT layers, and :math:`g_1, g_2` have the same parameters at every t. Dropout inside the
    derivative draws one mask per forward pass, so that within a pass the derivative depends only on the state.
    The solver takes ``steps`` steps of RK4, each of which evaluates eight layers.

    Args:
        in_channels, hidden, out_channels: columns of x, of the ODE, of the output (class scores before softmax).
        derivative: gcn or gat.
        t1: ending time.
        steps: number of steps of the solver.
        activation: σ, one of relu, softplus, elu, tanh.
        derivative_dropout: probability of drop₁ and drop₂.
        heads: heads of GAT's hidden layers; together they have ``hidden`` columns.
        input_dropout, dropout: dropout before the first and the last layer. With GAT, ``dropout`` also applies to the
            attention coefficients of these two layers.
        fused: as in GCN and GAT.

    Shapes: x (n, F), sparse CSR or dense; edge_index (2, E) with both directions of an edge; result (n, C).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        derivative: str = "gcn",
        t1: float = 1.0,
        steps: int = 2,
        activation: str = "relu",
        derivative_dropout: float = 0.0,
        heads: int = 8,
        input_dropout: float = 0.5,
        dropout: float = 0.5,
        fused: bool = True,
    ) -> None:
        super().__init__()
        self.derivative, self.t1, self.steps, self.dropout, self.fused = derivative, t1, steps, dropout, fused
        self.activation: Callable[[Tensor], Tensor] = ACTIVATIONS[activation]
        self.derivative_dropout = derivative_dropout
        gcn, gat = gcn_layer(fused), gat_layer(fused)
        if derivative == "gcn":
            self.encoder: nn.Module = gcn(in_channels, hidden, normalize=False)
            self.convs = nn.ModuleList(gcn(hidden, hidden, normalize=False) for _ in range(2))
            self.decoder: nn.Module = gcn(hidden, out_channels, normalize=False)
        else:
            if hidden % heads:
                raise UserError(f"hidden: found {hidden}, expected a multiple of heads = {heads}")
            shared = {"heads": heads, "add_self_loops": False}
            self.encoder = gat(in_channels, hidden // heads, dropout=dropout, **shared)
            self.convs = nn.ModuleList(gat(hidden, hidden // heads, **shared) for _ in range(2))
            self.decoder = gat(hidden, out_channels, heads=1, dropout=dropout, add_self_loops=False)
        # The dropout that CGNN uses has the same distribution and takes a quarter of the time.
        self._drop = quick_dropout if fused else functional.dropout
        with_sparse_input(self.encoder, input_dropout)
        self._propagation: GraphCache[Propagation] = GraphCache()
        self._edges: GraphCache[Tensor | AttentionPattern] = GraphCache()

    def reset_parameters(self) -> None:
        for module in (self.encoder, *self.convs, self.decoder):
            module.reset_parameters()  # type: ignore[operator]
        self._propagation.clear()
        self._edges.clear()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        edges = self.edges(x, edge_index, edge_weight)
        state = self.encoder(x, *edges).relu()
        masks = self.masks(state)
        if self.t1 > 0:
            times = state.new_tensor([0.0, self.t1])
            options = {"step_size": self.t1 / self.steps}
            state = odeint(
                lambda t, state: self.slope(state, edges, masks), state, times, method="rk4", options=options
            )[-1]
        return self.decoder(self._drop(state, self.dropout, self.training), *edges)

    def edges(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> tuple[Any, ...]:
        """The arguments of each layer after its state."""
        dtype = next(self.parameters()).dtype
        if self.derivative == "gcn":
            return cached_propagation(self._propagation, edge_index, edge_weight, x, dtype, self.fused)
        return (cached_edges(self._edges, edge_index, x, dtype, self.fused),)

    def masks(self, state: Tensor) -> tuple[Tensor, Tensor] | None:
        """Factors of drop₁ and drop₂ for one forward pass."""
        if not self.training or self.derivative_dropout <= 0:
            return None
        ones = state.new_ones(state.shape)
        first = self._drop(ones, self.derivative_dropout, True)
        return first, self._drop(ones, self.derivative_dropout, True)

    def slope(self, state: Tensor, edges: tuple[Any, ...], masks: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """H', for the result of :meth:`edges` and :meth:`masks`."""
        first, second = self.convs
        hidden = self.activation(first(state if masks is None else state * masks[0], *edges))
        return second(hidden if masks is None else hidden * masks[1], *edges)


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, derivative: str, fused: bool = True) -> GODE:
    own = dict(hyperparameters.own)
    return GODE(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        derivative=derivative,
        t1=hyperparameters.t1,
        steps=int(own["solver_steps"]),
        activation=str(own["activation"]),
        derivative_dropout=float(own["derivative_dropout"]),
        heads=hyperparameters.heads,
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
        fused=fused,
    )
