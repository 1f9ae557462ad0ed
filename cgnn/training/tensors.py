"""A graph made ready for a model: normalised sparse features and both directions of every edge, built once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from cgnn.datasets.graph import Graph
from cgnn.datasets.splits import Split
from cgnn.dynamics.sparse import csr_tensor
from cgnn.errors import UserError


@dataclass(frozen=True)
class GraphTensors:
    """What ``model(x, edge_index)`` takes, and the sizes that ``build`` needs. ``x`` is CSR, n×F."""

    x: Tensor
    edge_index: Tensor
    labels: Tensor
    num_classes: int

    @property
    def num_nodes(self) -> int:
        return self.x.size(0)

    @property
    def num_features(self) -> int:
        return self.x.size(1)


@dataclass(frozen=True)
class SplitTensors:
    """Index tensors of one split a replica, replicas first: train (R, a), evaluated (R, b), validation before test."""

    train: Tensor
    train_labels: Tensor
    evaluated: Tensor
    evaluated_labels: Tensor
    num_validation: int
    num_test: int

    @property
    def replicas(self) -> int:
        return self.train.size(0)


def normalised_features(features: sparse.csr_array, how: str) -> sparse.csr_array:
    """``rows``: each row divided by its sum. ``binary_rows``: made 0/1 first. A row of zeros stays one."""
    result = sparse.csr_array(features, dtype=np.float32, copy=True)
    if how == "binary_rows":
        result.data[:] = result.data != 0
    sums = result.sum(axis=1)
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
    result.data *= np.repeat(scale, np.diff(result.indptr))
    return result


def graph_tensors(graph: Graph, features: str, device: torch.device) -> GraphTensors:
    """Move a graph to the device, features normalised as the ``features`` switch says."""
    normalised = normalised_features(graph.features, features)
    x = csr_tensor(
        torch.from_numpy(normalised.indptr.astype(np.int64)),
        torch.from_numpy(normalised.indices.astype(np.int64)),
        torch.from_numpy(normalised.data),
        normalised.shape,
    )
    both = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    # Sorted by target: PyG's scatter then writes each node's sum in one go.
    both = both[:, np.lexsort((both[0], both[1]))]
    labels = torch.from_numpy(graph.labels)
    edge_index = torch.from_numpy(np.ascontiguousarray(both))
    return GraphTensors(x.to(device), edge_index.to(device), labels.to(device), graph.num_classes)


def split_tensors(data: GraphTensors, splits: Sequence[Split]) -> SplitTensors:
    """Stack the splits of replicas that train side by side (one of them, if alone)."""
    for split in splits:
        if min(len(split.train), len(split.validation), len(split.test)) == 0:
            raise UserError(f"split {split.name}: train, validation and test must each hold at least one node")
        nodes = np.concatenate([split.train, split.validation, split.test])
        if nodes.min() < 0 or nodes.max() >= data.num_nodes:
            raise UserError(
                f"split {split.name}: names node {nodes.max()}, the graph has {data.num_nodes}; made for another graph?"
            )
    train = torch.from_numpy(np.stack([split.train for split in splits])).to(data.x.device)
    evaluated = torch.from_numpy(np.stack([np.concatenate([s.validation, s.test]) for s in splits])).to(data.x.device)
    if (data.labels[train] < 0).any() or (data.labels[evaluated] < 0).any():
        raise UserError(
            f"split {splits[0].name}: names a node whose label is unknown (-1); draw splits from labelled nodes"
        )
    return SplitTensors(
        train,
        data.labels[train],
        evaluated,
        data.labels[evaluated],
        num_validation=len(splits[0].validation),
        num_test=len(splits[0].test),
    )
