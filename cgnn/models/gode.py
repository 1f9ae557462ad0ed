"""GODE (Zhuang et al. 2020): an ODE whose derivative is a graph neural network. The paper quotes it, we run it."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torchdiffeq import odeint

from cgnn.fidelity import Fidelity
from cgnn.hyperparameters import Hyperparameters
from cgnn.models.gat import with_self_loops
from cgnn.models.sparse_input import SparseLinear

#: RK4 in two steps to t1 = 1: sixteen layers a pass. Halving the step changes a trained model's predictions on fewer
#: nodes than changing its seed does, and doubles the cost.
STEP = 0.5


class GODE(nn.Module):
    r"""x → dropout → linear, ReLU → :math:`H' = g_2(\mathrm{ReLU}(g_1(H)))` from 0 to t1 → dropout → linear.

    :math:`g_1, g_2` are GCN or GAT layers of equal width, with the same parameters at every t and without dropout,
    which would make the derivative a different one at each evaluation.
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
    ) -> None:
        super().__init__()
        self.encoder = SparseLinear(in_channels, hidden, dropout=input_dropout)
        self.derivative, self.t1, self.dropout = derivative, t1, dropout
        if derivative == "gcn":
            self.convs = nn.ModuleList(GCNConv(hidden, hidden, normalize=False) for _ in range(2))
        else:
            if hidden % heads:
                raise ValueError(f"hidden = {hidden} channels cannot be shared out over {heads} heads")
            self.convs = nn.ModuleList(
                GATConv(hidden, hidden // heads, heads=heads, add_self_loops=False) for _ in range(2)
            )
        self.decoder = nn.Linear(hidden, out_channels)
        self._edges: tuple[Tensor, ...] | None = None

    def reset_parameters(self) -> None:
        for module in (self.encoder, *self.convs, self.decoder):
            module.reset_parameters()
        self._edges = None

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        if self._edges is None:
            if self.derivative == "gcn":
                self._edges = gcn_norm(edge_index, edge_weight, x.size(0), dtype=self.decoder.bias.dtype)
            else:
                self._edges = (with_self_loops(edge_index, x.size(0)),)
        edges, (first, second) = self._edges, self.convs

        def slope(t: Tensor, state: Tensor) -> Tensor:
            return second(first(state, *edges).relu(), *edges)

        start = self.encoder(x).relu()
        times = start.new_tensor([0.0, self.t1])
        if self.t1 > 0:
            start = odeint(slope, start, times, method="rk4", options={"step_size": min(STEP, self.t1)})[-1]
        return self.decoder(functional.dropout(start, self.dropout, self.training))


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, derivative: str) -> GODE:
    return GODE(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        derivative=derivative,
        t1=hyperparameters.t1,
        heads=hyperparameters.heads,
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
    )
