"""APPNP (Klicpera, Bojchevski & Günnemann, ICLR 2019): predict from the features, then propagate the predictions."""

from typing import Any

import torch
from torch import Tensor, nn

from cgnn.errors import UserError
from cgnn.models.gcn_layer import gcn_norm
from cgnn.models.graph_cache import GraphCache
from cgnn.models.random_streams import dropout as quick_dropout
from cgnn.models.sparse_input import SparseInput, SparseLinear, sparse_times_dense
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


class APPNP(nn.Module):
    r"""Two linear layers, then ``layers`` steps towards personalised PageRank.

    .. math::
        Z_0 = \mathrm{dropout}(\mathrm{ReLU}(\mathrm{dropout}(X) W_1 + b_1)) W_2 + b_2, \quad
        Z_{k+1} = (1 - \tau)\,\mathrm{dropout}(\hat A) Z_k + \tau Z_0

    Without dropout of Â the propagation is that of PyG's layer. With dropout the two differ: in each step, PyG's layer
    drops edges from those that the previous step kept, so that almost none are left after ten steps; the paper's code
    always drops from the full Â.

    Args:
        teleport: τ, the probability of a restart (the paper's α).
        edge_dropout: probability of dropping an entry of Â.

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
        self._propagation: GraphCache[SparseInput] = GraphCache()

    def reset_parameters(self) -> None:
        self.encoder.reset_parameters()
        self.decoder.reset_parameters()
        self._propagation.clear()

    def parameter_groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """The paper's L2 term applies only to the first layer's weights."""
        first = self.encoder.weight
        others = [parameter for parameter in self.parameters() if parameter is not first]
        return [{"params": [first], "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        hidden = quick_dropout(self.encoder(x).relu(), self.dropout, self.training)
        start = self.decoder(hidden)
        settings = (x.size(0), start.dtype)
        matrix = self._propagation.get(
            (edge_index, edge_weight), settings, lambda: _matrix(edge_index, edge_weight, start)
        )
        Z, p = start, self.edge_dropout if self.training else 0.0
        for _ in range(self.steps):
            Z = (1 - self.teleport) * sparse_times_dense(matrix, Z, p) + self.teleport * start
        return Z


def _matrix(edge_index: Tensor, edge_weight: Tensor | None, like: Tensor) -> SparseInput:
    """GCN's Â for the nodes and the dtype of ``like``."""
    if edge_weight is not None and edge_weight.requires_grad:
        raise UserError("edge_weight: APPNP has no gradient with respect to edge weights; pass edge_weight.detach()")
    nodes = like.size(0)
    (source, target), weight = gcn_norm(edge_index, edge_weight, nodes, like.dtype)
    place = torch.stack([target, source])  # out_i = Σ_j w_(j→i) z_j: the target is the row
    return SparseInput.build(torch.sparse_coo_tensor(place, weight, (nodes, nodes), check_invariants=False))


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
