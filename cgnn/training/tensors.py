"""Tensors of a graph for a model: normalised sparse features and both directions of every edge, built once.

Internally, nodes are in reverse Cuthill–McKee order, which puts neighbours close together in memory, so that a sparse
product reads fewer cache lines. This is not visible outside: splits are translated when they become tensors, and
``original_order`` restores the order of values per node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from scipy import sparse
from scipy.sparse import csgraph
from torch import Tensor

from cgnn.datasets.graph import Graph, check_row_sums
from cgnn.datasets.splits import Split
from cgnn.dynamics.sparse import csr_tensor
from cgnn.errors import UserError
from cgnn.paper.fidelity import Fidelity, preset

Values = TypeVar("Values", np.ndarray, Tensor)


@dataclass(frozen=True)
class GraphTensors:
    """What ``model(x, edge_index)`` takes, and the sizes that ``build`` needs. ``x`` is CSR, n×F.

    Row i belongs to node ``order[i]`` of the graph; node v is row ``position[v]``.
    """

    x: Tensor
    edge_index: Tensor
    labels: Tensor
    num_classes: int
    order: np.ndarray
    position: np.ndarray

    @property
    def num_nodes(self) -> int:
        return self.x.size(0)

    @property
    def num_features(self) -> int:
        return self.x.size(1)

    def original_order(self, values: Values, axis: int = -1) -> Values:
        """Values per node (α of every replica, logits with ``axis=0``) in the graph's original order of nodes."""
        return values[(slice(None),) * (axis % values.ndim) + (self.position,)]  # type: ignore[return-value]


@dataclass(frozen=True)
class SplitTensors:
    """Row numbers of one split per replica, replicas first: train (R, a), evaluated (R, b), validation before test."""

    train: Tensor
    train_labels: Tensor
    evaluated: Tensor
    evaluated_labels: Tensor
    num_validation: int
    num_test: int

    @property
    def replicas(self) -> int:
        return self.train.size(0)


def fidelity_for(graph: Graph, name: str, **switches: str) -> Fidelity:
    """The preset called ``name`` for this graph.

    For the paper's datasets the preset determines how features are normalised; other graphs define it themselves.
    An explicit switch replaces both.
    """
    own = {"features": graph.features_mode} if graph.features_mode else {}
    return preset(name, **{**own, **switches})


def normalised_features(features: sparse.csr_array, how: str) -> sparse.csr_array:
    """``as_given``: unchanged. ``rows``: each row divided by its sum. ``binary_rows``: converted to 0/1 first.

    A row of zeros stays zero.
    """
    result = sparse.csr_array(features, dtype=np.float32, copy=True)
    if how == "as_given":
        return result
    if how == "binary_rows":
        result.data[:] = result.data != 0
    sums = result.sum(axis=1)
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
    result.data *= np.repeat(scale, np.diff(result.indptr))
    return result


def graph_tensors(graph: Graph, features: str, device: torch.device) -> GraphTensors:
    """Move a graph to the device, with features normalised according to the ``features`` switch."""
    if graph.features_mode:  # the paper's datasets have rows of zeros, which the released code does not change
        check_row_sums(graph.features, features, graph.name)
    adjacency = sparse.coo_array(
        (np.ones(graph.num_edges, dtype=np.int8), tuple(graph.edges)), shape=(graph.num_nodes, graph.num_nodes)
    )
    order = csgraph.reverse_cuthill_mckee((adjacency + adjacency.T).tocsr(), symmetric_mode=True).astype(np.int64)
    position = np.argsort(order)
    normalised = normalised_features(graph.features, features)[order]
    x = csr_tensor(
        torch.from_numpy(normalised.indptr.astype(np.int64)),
        torch.from_numpy(normalised.indices.astype(np.int64)),
        torch.from_numpy(normalised.data),
        normalised.shape,
    )
    edges = position[graph.edges]
    both = np.concatenate([edges, edges[::-1]], axis=1)
    # Sorted by target, so that PyG's scatter writes each node's sum consecutively.
    both = both[:, np.lexsort((both[0], both[1]))]
    labels = torch.from_numpy(graph.labels[order])
    edge_index = torch.from_numpy(np.ascontiguousarray(both))
    return GraphTensors(
        x.to(device), edge_index.to(device), labels.to(device), graph.num_classes, order=order, position=position
    )


def split_tensors(data: GraphTensors, splits: Sequence[Split]) -> SplitTensors:
    """Stack the splits of replicas that are trained side by side (or of a single replica)."""
    for split in splits:
        if min(len(split.train), len(split.validation), len(split.test)) == 0:
            raise UserError(f"split {split.name}: train, validation and test must each contain at least one node")
        nodes = np.concatenate([split.train, split.validation, split.test])
        if nodes.min() < 0 or nodes.max() >= data.num_nodes:
            raise UserError(
                f"split {split.name}: contains node {nodes.max()}, but the graph has {data.num_nodes} nodes; "
                "was it made for another graph?"
            )
    train, evaluated = (
        torch.from_numpy(data.position[np.stack(nodes)]).to(data.x.device)
        for nodes in (
            [split.train for split in splits],
            [np.concatenate([split.validation, split.test]) for split in splits],
        )
    )
    if (data.labels[train] < 0).any() or (data.labels[evaluated] < 0).any():
        raise UserError(
            f"split {splits[0].name}: contains a node whose label is unknown (-1); draw splits from labelled nodes"
        )
    return SplitTensors(
        train,
        data.labels[train],
        evaluated,
        data.labels[evaluated],
        num_validation=len(splits[0].validation),
        num_test=len(splits[0].test),
    )
