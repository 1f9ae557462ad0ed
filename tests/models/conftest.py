"""Small graphs for the models. They use one thread, because a second one would only wait for the first."""

import pytest
import torch

from cgnn.datasets.synthetic import Parameters, generate
from cgnn.training.tensors import GraphTensors, graph_tensors

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_data() -> GraphTensors:
    """The tensors of a graph with 40 nodes and two classes."""
    graph = generate("tiny", Parameters(nodes=40, classes=2, features=10, words=3.0))
    return graph_tensors(graph, "rows", torch.device("cpu"))
