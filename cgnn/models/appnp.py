"""APPNP (Klicpera, Bojchevski & Günnemann, ICLR 2019): predict from the features, then propagate the predictions."""

from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import APPNP as PyGPropagation

from cgnn.dynamics.operator import symmetric_product
from cgnn.models.gcn_layer import Propagation, cached_propagation
from cgnn.models.graph_cache import GraphCache
from cgnn.models.random_streams import dropout as quick_dropout
from cgnn.models.sparse_input import SparseLinear
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


class APPNP(nn.Module):
    r"""Two linear layers, then ``layers`` steps towards personalised PageRank.

    .. math::
        Z_0 = \mathrm{dropout}(\mathrm{ReLU}(\mathrm{dropout}(X) W_1 + b_1)) W_2 + b_2, \quad
        Z_{k+1} = (1 - \tau)\,\mathrm{dropout}(\hat A) Z_k + \tau Z_0

    The propagation is PyG's layer where edges are dropped, and a sparse product otherwise.

    Args:
        teleport: τ, the probability of a restart (the paper's α).
        edge_dropout: of Â, drawn anew in every step.

    Shapes: x (n, F), sparse CSR or dense; edge_index (2, E) with both directions of an edge; result (n, C).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        layers: int = 10,
        teleport: float = 0.1,
        edge_dropout: float = 0.5,
        input_dropout: float = 0.5,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.encoder = SparseLinear(in_channels, hidden, dropout=input_dropout)
        self.decoder = nn.Linear(hidden, out_channels)
        self.steps, self.teleport, self.edge_dropout, self.dropout = layers, teleport, edge_dropout, dropout
        self._pyg = PyGPropagation(layers, teleport, dropout=edge_dropout, normalize=False)
        self._fused: GraphCache[Propagation] = GraphCache()
        self._edges: GraphCache[Propagation] = GraphCache()

    def reset_parameters(self) -> None:
        self.encoder.reset_parameters()
        self.decoder.reset_parameters()
        self._fused.clear()
        self._edges.clear()

    def parameter_groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """The paper's L2 term acts on the first layer's weights alone."""
        first = self.encoder.weight
        others = [parameter for parameter in self.parameters() if parameter is not first]
        return [{"params": [first], "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        hidden = quick_dropout(self.encoder(x).relu(), self.dropout, self.training)
        start = self.decoder(hidden)
        if self.training and self.edge_dropout > 0:
            return self._pyg(start, *cached_propagation(self._edges, edge_index, edge_weight, x, start, fused=False))
        propagation = cached_propagation(self._fused, edge_index, edge_weight, x, start)
        if len(propagation) == 2:  # a directed graph, or weights that are learned
            return self._pyg(start, *propagation)
        Z = start
        for _ in range(self.steps):
            Z = (1 - self.teleport) * symmetric_product(propagation[0], Z) + self.teleport * start
        return Z


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity) -> APPNP:
    own = dict(hyperparameters.own)
    return APPNP(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        layers=hyperparameters.layers,
        teleport=float(own["teleport"]),
        edge_dropout=float(own["edge_dropout"]),
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
    )
