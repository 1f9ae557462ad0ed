"""What every contestant gets: one graph and its fixed split as tensors."""

from dataclasses import dataclass

import torch
from torch import Tensor

from cgnn.datasets.graph import Graph
from cgnn.datasets.registry import obtain_graph
from cgnn.datasets.splits import Split
from cgnn.training.tensors import GraphTensors, SplitTensors, graph_tensors, split_tensors


@dataclass(frozen=True)
class Problem:
    """A node classification task. Features are binarised and row-normalised, as the released code has them."""

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
    """A planted partition with Cora's classes, vocabulary, words and neighbours a node."""
    parameters = {"nodes": nodes, "classes": 7, "features": 1433, "degree": 3.9, "words": 18.0}
    return as_problem(obtain_graph("synthetic", parameters=parameters))
