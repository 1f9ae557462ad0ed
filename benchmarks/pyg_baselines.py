"""GCN and GAT as users of PyG run them: the layers on a `Data`-like pair (x, edge_index), PyG's example settings.

There are two forms: dense x as in PyG's examples, and sparse x, which the linear maps of PyG's GCNConv and GATConv
accept; dropout then applies to the stored values.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv

from benchmarks.problem import Problem


def sparse_dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Dropout on the stored values of a sparse tensor; zeros stay zeros either way."""
    if not training or p == 0:
        return x
    if x.layout == torch.sparse_csr:
        values = F.dropout(x.values(), p)
        return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape)
    return F.dropout(x, p)


class GCN(nn.Module):
    """Two GCNConv, 16 hidden units, the normalisation cached: PyG's `examples/gcn.py`."""

    def __init__(self, num_features: int, num_classes: int, hidden: int = 16, p: float = 0.5) -> None:
        super().__init__()
        self.p = p
        self.first = GCNConv(num_features, hidden, cached=True)
        self.second = GCNConv(hidden, num_classes, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = sparse_dropout(x, self.p, self.training)
        x = self.first(x, edge_index).relu()
        return self.second(F.dropout(x, self.p, self.training), edge_index)


class GAT(nn.Module):
    """Two GATConv, 8 heads of 8 units, dropout 0.6 on input and attention: PyG's `examples/gat.py`."""

    def __init__(self, num_features: int, num_classes: int, hidden: int = 8, heads: int = 8, p: float = 0.6) -> None:
        super().__init__()
        self.p = p
        self.first = GATConv(num_features, hidden, heads, dropout=p)
        self.second = GATConv(hidden * heads, num_classes, heads=1, concat=False, dropout=p)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = sparse_dropout(x, self.p, self.training)
        x = F.elu(self.first(x, edge_index))
        return self.second(F.dropout(x, self.p, self.training), edge_index)


class PygEpoch:
    """One epoch as in PyG's examples: a step, then one evaluation pass without gradients for both sets."""

    def __init__(self, problem: Problem, kind: str, sparse: bool) -> None:
        torch.manual_seed(0)
        self.problem = problem
        lr, model = {"gcn": (0.01, GCN), "gat": (0.005, GAT)}[kind]
        self.model = model(problem.data.num_features, problem.data.num_classes)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr, weight_decay=5e-4)
        self.features = problem.data.x if sparse else problem.data.x.to_dense()

    def __call__(self) -> tuple[float, float]:
        data, train = self.problem.data, self.problem.train
        self.model.train()
        self.optimizer.zero_grad()
        logits = self.model(self.features, data.edge_index)
        F.cross_entropy(logits[train], data.labels[train]).backward()
        self.optimizer.step()
        self.model.eval()
        with torch.no_grad():
            predicted = self.model(self.features, data.edge_index).argmax(dim=1)
        validation, test = (
            (predicted[nodes] == data.labels[nodes]).double().mean().item()
            for nodes in (self.problem.validation, self.problem.test)
        )
        return validation, test
