"""GODE (Zhuang et al. 2020): an ODE whose derivative is a graph neural network. The paper quotes it, we run it."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv
from torchdiffeq import odeint

from cgnn.models.attention import FusedGATConv
from cgnn.models.gat import gat_edges
from cgnn.models.gcn_layer import FusedGCNConv, gcn_propagation
from cgnn.models.random_streams import dropout as quick_dropout
from cgnn.models.sparse_layer import with_sparse_input
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters

#: Two steps of RK4 to t1 = 1, that is sixteen layers a pass; tests hold it within 2 % of dopri5 at the start.
STEP = 0.5


class GODE(nn.Module):
    r"""A GNN whose hidden layers are an ODE: layer, ReLU → :math:`H' = g_2(\mathrm{ReLU}(g_1(H)))` to t1 → layer.

    All four layers are GCN's or GAT's. :math:`g_1, g_2` have the same parameters at every t, and no dropout, which
    would make the derivative a different one at each evaluation. ``fused`` is GCN's and GAT's switch.

    Shapes: x (n, F), sparse CSR or dense; edge_index (2, E) with both directions of an edge; result (n, C).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        derivative: str = "gcn",
        t1: float = 1.0,
        heads: int = 8,
        input_dropout: float = 0.5,
        dropout: float = 0.5,
        fused: bool = True,
    ) -> None:
        super().__init__()
        self.derivative, self.t1, self.dropout, self.fused = derivative, t1, dropout, fused
        gcn, gat = (FusedGCNConv, FusedGATConv) if fused else (GCNConv, GATConv)
        if derivative == "gcn":
            self.encoder: nn.Module = gcn(in_channels, hidden, normalize=False)
            self.convs = nn.ModuleList(gcn(hidden, hidden, normalize=False) for _ in range(2))
            self.decoder: nn.Module = gcn(hidden, out_channels, normalize=False)
        else:
            if hidden % heads:
                raise ValueError(f"hidden = {hidden} channels cannot be shared out over {heads} heads")
            shared = {"heads": heads, "add_self_loops": False}
            self.encoder = gat(in_channels, hidden // heads, dropout=dropout, **shared)
            self.convs = nn.ModuleList(gat(hidden, hidden // heads, **shared) for _ in range(2))
            self.decoder = gat(hidden, out_channels, heads=1, dropout=dropout, add_self_loops=False)
        # The same dropout from random bits at a quarter of the price, as CGNN has it.
        self._drop = quick_dropout if fused else functional.dropout
        with_sparse_input(self.encoder, input_dropout)
        self._edges: tuple[Any, ...] | None = None

    def reset_parameters(self) -> None:
        for module in (self.encoder, *self.convs, self.decoder):
            module.reset_parameters()
        self._edges = None

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        if self._edges is None:
            nodes, dtype = x.size(0), next(self.parameters()).dtype
            if self.derivative == "gcn":
                self._edges = gcn_propagation(edge_index, edge_weight, nodes, dtype, self.fused)
            else:
                self._edges = (gat_edges(edge_index, nodes, dtype, self.fused),)
        edges = self._edges
        state = self.encoder(x, *edges).relu()
        if self.t1 > 0:
            times = state.new_tensor([0.0, self.t1])
            state = odeint(self.slope, state, times, method="rk4", options={"step_size": min(STEP, self.t1)})[-1]
        return self.decoder(self._drop(state, self.dropout, self.training), *edges)

    def slope(self, t: Tensor, state: Tensor) -> Tensor:
        """H' = g2(ReLU(g1(H))), on the graph of the last forward pass."""
        assert self._edges is not None
        first, second = self.convs
        return second(first(state, *self._edges).relu(), *self._edges)


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, derivative: str, fused: bool = True) -> GODE:
    return GODE(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        derivative=derivative,
        t1=hyperparameters.t1,
        heads=hyperparameters.heads,
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
        fused=fused,
    )
