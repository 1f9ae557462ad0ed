"""Build a Graph from Planetoid's eight files per dataset (Yang et al. 2016).

``x, y`` are the training nodes, ``allx, ally`` all nodes except the test nodes, ``tx, ty`` the test nodes in
the order of ``test.index``, and ``graph`` the neighbours of each node.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from cgnn.datasets.graph import Graph, canonical_features, undirected_edges
from cgnn.datasets.splits import Split
from cgnn.datasets.unpickle import read_pickle

SOURCE = "Planetoid (Yang et al. 2016)"
SUFFIXES = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
VALIDATION = 500


class Raw(NamedTuple):
    """The content of the files, with features and labels for all nodes."""

    features: sparse.csr_array
    labels: np.ndarray
    edges: np.ndarray
    train: int
    test: np.ndarray
    num_classes: int


def assemble(name: str, files: Mapping[str, Path]) -> Graph:
    """Cora, Citeseer or Pubmed with the fixed split: the nodes of x, the 500 after them, the test nodes."""
    raw = read(files, {suffix: f"ind.{name}.{suffix}" for suffix in SUFFIXES})
    split = Split(
        name="fixed",
        train=np.arange(raw.train),
        validation=np.arange(raw.train, raw.train + VALIDATION),
        test=np.sort(raw.test),
    )
    return Graph(
        name=name,
        source=SOURCE,
        features=raw.features,
        edges=raw.edges,
        labels=raw.labels,
        num_classes=raw.num_classes,
        fixed_split=split,
    )


def read(files: Mapping[str, Path], names: Mapping[str, str]) -> Raw:
    """Read the files. If ``ally`` is absent, its labels are unknown except for those in ``y``."""
    content = {suffix: read_pickle(files[names[suffix]]) for suffix in names if suffix != "test.index"}
    test = np.array(files[names["test.index"]].read_text().split(), dtype=np.int64)
    neighbours = content["graph"]
    nodes, known = len(neighbours), content["allx"].shape[0]

    # Row i of allx is node i; row j of tx is node test[j]. Nodes in neither (15 of Citeseer, known as its
    # isolated test nodes, and most of NELL) keep empty rows and unknown labels.
    rows = np.concatenate([np.arange(known), test])
    stacked = sparse.coo_array(sparse.vstack([content["allx"], content["tx"]]))
    features = sparse.csr_array(
        (stacked.data, (rows[stacked.row], stacked.col)), shape=(nodes, content["allx"].shape[1])
    )
    labels = np.full(nodes, -1, dtype=np.int64)
    labels[test] = class_of(content["ty"])
    first = content.get("ally", content["y"])
    labels[: len(first)] = class_of(first)

    degrees = np.fromiter((len(neighbours[node]) for node in range(nodes)), dtype=np.int64, count=nodes)
    targets = np.fromiter((other for node in range(nodes) for other in neighbours[node]), dtype=np.int64)
    return Raw(
        features=canonical_features(features),
        labels=labels,
        edges=undirected_edges(np.repeat(np.arange(nodes), degrees), targets, nodes),
        train=content["y"].shape[0],
        test=test,
        num_classes=content["y"].shape[1],
    )


def class_of(one_hot: np.ndarray) -> np.ndarray:
    """The class of each one-hot row, -1 where the row is empty."""
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)
