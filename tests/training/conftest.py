"""A small graph, so that a training takes little time, its tensors and its file."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cgnn.__main__ import main
from cgnn.datasets.graph import Graph, save_graph
from cgnn.datasets.splits import Split
from cgnn.datasets.synthetic import Parameters, generate
from cgnn.training.tensors import GraphTensors, graph_tensors

torch.set_num_threads(1)  # on such small graphs a second thread would only wait for the first


@pytest.fixture(scope="session")
def small_graph() -> Graph:
    return generate("small", Parameters(nodes=200, classes=3, features=60, words=8.0))


@pytest.fixture(scope="session")
def small_split(small_graph: Graph) -> Split:
    assert small_graph.fixed_split is not None
    return small_graph.fixed_split


@pytest.fixture
def small_data(small_graph: Graph) -> GraphTensors:
    return graph_tensors(small_graph, "rows", torch.device("cpu"))


@pytest.fixture(scope="session")
def small_file(small_graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "graph.npz"
    save_graph(small_graph, path)
    return path


@pytest.fixture
def train(small_file: Path, tmp_path: Path) -> Callable[..., Path]:
    """``train("--model", "gcn")`` runs the command on the small graph and returns the path of runs.csv."""

    def run(*arguments: str, out: str = "runs.csv", expect: int = 0) -> Path:
        words = ["train", "--dataset", "small", "--graph", str(small_file), "--out", str(tmp_path / out), *arguments]
        assert main(words) == expect
        return tmp_path / out

    return run
