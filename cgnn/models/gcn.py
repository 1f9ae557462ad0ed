"""GCN (Kipf & Welling, ICLR 2017) on PyTorch Geometric's layer, at any depth."""

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgnn.models.gcn_layer import Propagation, cached_propagation, gcn_layer
from cgnn.models.graph_cache import GraphCache
from cgnn.models.random_streams import dropout as quick_dropout
from cgnn.models.sparse_layer import with_sparse_input
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


class GCN(nn.Module):
    r""":math:`H_{l+1} = \mathrm{ReLU}(\hat A\,\mathrm{dropout}(H_l) W_l + b_l)`, without the ReLU in the last layer.

    With ``residual``, hidden layers of equal width add their input (appendix B of the GCN paper):
    :math:`H_{l+1} = \mathrm{ReLU}(\hat A H_l W_l + b_l) + H_l`.

    ``fused`` selects how messages are computed, by sparse products or by PyG's gather and scatter; the result is the
    same.

    Shapes: x (n, F), sparse CSR or dense; edge_index (2, E) with both directions of an edge; result (n, C).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        layers: int = 2,
        input_dropout: float = 0.5,
        dropout: float = 0.5,
        residual: bool = False,
        fused: bool = True,
    ) -> None:
        super().__init__()
        widths = [in_channels, *[hidden] * (layers - 1), out_channels]
        # Â is the same in all layers and computed once here; `cached=True` would keep one copy per layer.
        layer = gcn_layer(fused)
        self.convs = nn.ModuleList(layer(before, after, normalize=False) for before, after in pairwise(widths))
        # The dropout that CGNN uses has the same distribution and takes a quarter of the time.
        self._drop = quick_dropout if fused else functional.dropout
        with_sparse_input(self.convs[0], input_dropout)
        self.dropout, self.residual, self.fused = dropout, residual, fused
        self._propagation: GraphCache[Propagation] = GraphCache()

    def reset_parameters(self) -> None:
        for conv in self.convs:
            conv.reset_parameters()  # type: ignore[operator]
        self._propagation.clear()

    def parameter_groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """The paper's L2 term applies only to the first layer's parameters."""
        later = [parameter for conv in self.convs[1:] for parameter in conv.parameters()]
        groups: list[dict[str, Any]] = [{"params": list(self.convs[0].parameters()), "weight_decay": weight_decay}]
        return groups + ([{"params": later, "weight_decay": 0.0}] if later else [])

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        dtype = next(self.parameters()).dtype
        propagation = cached_propagation(self._propagation, edge_index, edge_weight, x, dtype, self.fused)
        hidden = self.convs[0](x, *propagation)
        for conv in self.convs[1:]:
            activated = hidden.relu()
            dropped = self._drop(activated, self.dropout, self.training)
            hidden = conv(dropped, *propagation)
            if self.residual and conv is not self.convs[-1]:
                # ReLU(ÂHW + b) + H is not negative, so the ReLU above does not change it.
                hidden = torch.relu(hidden) + activated
        return hidden


def build(
    data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, residual: bool = False, fused: bool = True
) -> GCN:
    return GCN(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        layers=hyperparameters.layers,
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
        residual=residual,
        fused=fused,
    )
