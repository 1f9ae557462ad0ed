"""GCN with residual layers at any depth, for the paper's last appendix table."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from cgnn.models.gcn_layer import Propagation, cached_propagation, gcn_layer
from cgnn.models.graph_cache import GraphCache
from cgnn.models.random_streams import dropout as quick_dropout
from cgnn.models.sparse_input import SparseLinear
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


class ResidualGCN(nn.Module):
    r"""Linear encoder, ``layers`` residual GCN layers, linear decoder.

    .. math::
        H_0 = \mathrm{dropout}(X) W_e + b_e, \quad
        H_{l+1} = H_l + \mathrm{ReLU}(\hat A\,\mathrm{dropout}(H_l) W_l + b_l), \quad
        Y = H_L W_d + b_d

    The paper does not describe its construction. The construction of Kipf & Welling (appendix B of the GCN paper), with
    residual connections between hidden layers only, is the model ``gcn_residual_plain``; at 16 layers, where the paper
    reports 76.8 %, it often fails to learn.

    Shapes: x (n, F), sparse CSR or dense; edge_index (2, E) with both directions of an edge; result (n, C).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        layers: int = 2,
        input_dropout: float = 0.5,
        dropout: float = 0.0,
        fused: bool = True,
    ) -> None:
        super().__init__()
        layer = gcn_layer(fused)
        self.encoder = SparseLinear(in_channels, hidden, dropout=input_dropout)
        self.convs = nn.ModuleList(layer(hidden, hidden, normalize=False) for _ in range(layers))
        self.decoder = nn.Linear(hidden, out_channels)
        self._drop = quick_dropout if fused else functional.dropout
        self.dropout, self.fused = dropout, fused
        self._propagation: GraphCache[Propagation] = GraphCache()

    def reset_parameters(self) -> None:
        for module in (self.encoder, *self.convs, self.decoder):
            module.reset_parameters()  # type: ignore[operator]
        self._propagation.clear()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        hidden = self.encoder(x)
        propagation = cached_propagation(self._propagation, edge_index, edge_weight, x, hidden.dtype, self.fused)
        for conv in self.convs:
            hidden = hidden + conv(self._drop(hidden, self.dropout, self.training), *propagation).relu()
        return self.decoder(hidden)


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, fused: bool = True) -> ResidualGCN:
    return ResidualGCN(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        layers=hyperparameters.layers,
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
        fused=fused,
    )
