"""PyTorch Geometric's layers on sparse features: the same encoder as CGNN's, so that comparisons are fair."""

from torch import nn
from torch_geometric.nn.inits import glorot, zeros

from cgnn.models.random_streams import Generators
from cgnn.models.sparse_input import SparseLinear


class GlorotSparseLinear(SparseLinear):
    """Our sparse linear map with the start that PyG's layers give theirs."""

    def reset_parameters(self, generators: Generators | None = None) -> None:
        glorot(self.weight)
        zeros(self.bias)


def with_sparse_input(conv: nn.Module, dropout: float) -> None:
    """Let ``conv`` (GCNConv, GATConv: anything that starts with ``self.lin(x)``) read sparse x, with dropout on it.

    The layer's own linear map is exchanged for ours; its propagation stays as it is.
    """
    dense = conv.lin
    conv.lin = GlorotSparseLinear(
        dense.in_channels,  # type: ignore[union-attr, arg-type]
        dense.out_channels,  # type: ignore[union-attr, arg-type]
        bias=False,
        dropout=dropout,
    )
