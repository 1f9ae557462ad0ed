"""Train CGNN on a PyG ``Data`` object: ``python examples/train_cgnn.py [dataset] [epochs]``.

You can use any PyG dataset: replace ``pyg_data(...)`` with ``Planetoid(root, "Cora")[0]``. Here the graph is this
project's own checksummed download, or ``synthetic``, which is generated and needs no network access.

Bag-of-words features are mostly zeros. ``to_sparse_csr()`` keeps them sparse in the encoder, in the forward and in the
backward pass: on Cora a training step takes 6.4 ms instead of 58.6 ms (one thread).
"""

import sys

import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from cgnn import CGNN
from cgnn.datasets.registry import obtain_graph


def pyg_data(name: str) -> Data:
    graph = obtain_graph(name)
    x = torch.from_numpy(graph.features.toarray())
    data = Data(x / x.sum(1, keepdim=True).clamp(min=1e-9), to_undirected(torch.from_numpy(graph.edges)))
    data.y, data.num_classes = torch.from_numpy(graph.labels), graph.num_classes
    data.train, data.test = (torch.from_numpy(getattr(graph.fixed_split, part)) for part in ("train", "test"))
    return data


def main(name: str = "cora", epochs: str = "100") -> float:
    data = pyg_data(name)
    x = data.x.to_sparse_csr()
    model = CGNN(data.num_features, 16, data.num_classes, data.num_nodes, t1=12.1, alpha=0.918, gamma=0.555)
    optimiser = torch.optim.RMSprop(model.parameters(), lr=4.7e-3, weight_decay=5e-4)
    for _ in range(int(epochs)):
        model.train()
        optimiser.zero_grad()
        scores = model(x, data.edge_index)
        torch.nn.functional.cross_entropy(scores[data.train], data.y[data.train]).backward()
        optimiser.step()
        model.after_step()  # needed only with weight=True
    with torch.no_grad():
        predicted = model.eval()(x, data.edge_index).argmax(1)
    accuracy = (predicted[data.test] == data.y[data.test]).float().mean().item()
    print(f"{name}: test accuracy {accuracy:.1%} after {epochs} epochs\n{model}")
    return accuracy


if __name__ == "__main__":
    main(*sys.argv[1:])
