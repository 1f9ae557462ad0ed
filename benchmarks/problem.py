"""The input of every contestant: one graph and its fixed split as tensors."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from cgnn.datasets.graph import Graph, undirected_edges
from cgnn.datasets.registry import obtain_graph
from cgnn.datasets.splits import Split, random_split
from cgnn.training.tensors import GraphTensors, SplitTensors, graph_tensors, split_tensors

#: Cora's classes and vocabulary, and its words and neighbours per node.
CLASSES, VOCABULARY, WORDS, DEGREE = 7, 1433, 18, 3.9
#: Nodes per community.
COMMUNITY = 100


@dataclass(frozen=True)
class Problem:
    """A node classification task. Features are binarised and row-normalised, as in the released code."""

    dataset: str
    data: GraphTensors
    split: SplitTensors

    @property
    def train(self) -> Tensor:
        return self.split.train[0]

    @property
    def validation(self) -> Tensor:
        return self.split.evaluated[0, : self.split.num_validation]

    @property
    def test(self) -> Tensor:
        return self.split.evaluated[0, self.split.num_validation :]


def as_problem(graph: Graph) -> Problem:
    if not isinstance(graph.fixed_split, Split):
        raise ValueError(f"{graph.name} has no fixed split")
    data = graph_tensors(graph, "binary_rows", torch.device("cpu"))
    return Problem(graph.name, data, split_tensors(data, [graph.fixed_split]))


def load_problem(dataset: str) -> Problem:
    """A dataset of the paper, fetched and verified through the cache that the workflow uses."""
    return as_problem(obtain_graph(dataset))


def synthetic_problem(nodes: int) -> Problem:
    """A random graph: a planted partition with Cora's classes, vocabulary, and words and neighbours per node.

    Its seven classes are the only structure, so the neighbours of a node are spread over a seventh of all nodes.
    """
    parameters = {"nodes": nodes, "classes": CLASSES, "features": VOCABULARY, "degree": DEGREE, "words": float(WORDS)}
    return as_problem(obtain_graph("synthetic", parameters=parameters))


def community_graph(nodes: int, seed: int = 0) -> Graph:
    """Communities of 100 nodes of one class, nine tenths of the edges inside them, nodes numbered at random.

    The same sizes as :func:`synthetic_problem`, with the locality that real networks have. Drawn with little memory, so
    that ten million nodes are possible.
    """
    rng = np.random.default_rng(seed)
    members = rng.permutation(nodes)
    position, labels = np.empty_like(members), np.empty_like(members)
    position[members] = np.arange(nodes)
    labels[members] = np.arange(nodes) * CLASSES // nodes
    source = rng.integers(nodes, size=round(nodes * DEGREE / 2))
    start = position[source] // COMMUNITY * COMMUNITY
    inside = members[start + rng.integers(np.minimum(COMMUNITY, nodes - start))]
    target = np.where(rng.random(len(source)) < 0.9, inside, rng.integers(nodes, size=len(source)))
    distinct = source != target
    split = random_split(
        labels, dataset="community", name="fixed", validation=min(500, nodes // 4), test=min(1000, nodes // 4)
    )
    return Graph(
        name="community",
        source=f"communities of {COMMUNITY} nodes, seed {seed}",
        features=_words(labels, rng),
        edges=undirected_edges(source[distinct], target[distinct], nodes),
        labels=labels,
        num_classes=CLASSES,
        fixed_split=split,
    )


def community_problem(nodes: int) -> Problem:
    return as_problem(community_graph(nodes))


def _words(labels: np.ndarray, rng: np.random.Generator) -> sparse.csr_array:
    """``WORDS`` draws per node, three tenths of them from the block of its class; a word drawn twice counts once."""
    block = VOCABULARY // CLASSES
    shape = (len(labels), WORDS)
    columns = rng.integers(VOCABULARY, size=shape, dtype=np.int32)
    own = rng.random(shape, dtype=np.float32) < 0.3
    columns[own] = columns[own] % block
    columns += own * (labels.astype(np.int32) * block)[:, None]
    pointers = np.arange(0, columns.size + 1, WORDS, dtype=np.int32)
    matrix = sparse.csr_array(
        (np.ones(columns.size, dtype=np.float32), columns.ravel(), pointers), (shape[0], VOCABULARY)
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
