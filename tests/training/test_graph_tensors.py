"""The tensors of a graph: normalised features, the internal order of nodes, and splits."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from cgnn.__main__ import main
from cgnn.datasets.graph import Graph
from cgnn.datasets.own import graph_from_arrays
from cgnn.datasets.splits import Split
from cgnn.errors import UserError
from cgnn.models import registry
from cgnn.paper.fidelity import preset
from cgnn.paper.hyperparameters import published
from cgnn.training.replicas import Replica, train_replicas
from cgnn.training.tensors import GraphTensors, fidelity_for, graph_tensors, normalised_features, split_tensors

FEATURES = sparse.csr_array(np.array([[0.0, 2.0, 6.0], [0.0, 0.0, 0.0], [5.0, 0.0, 0.0]], dtype=np.float32))


def test_rows_are_divided_by_their_sums_and_empty_rows_stay_empty() -> None:
    expected = [[0, 0.25, 0.75], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(normalised_features(FEATURES, "rows").toarray(), expected)


def test_binary_rows_are_made_binary_before_they_are_normalised() -> None:
    expected = [[0, 0.5, 0.5], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(normalised_features(FEATURES, "binary_rows").toarray(), expected)
    assert FEATURES.data.max() == 6, "the graph itself must not change"


def test_edges_have_both_directions_and_features_stay_sparse(small_graph: Graph, small_data: GraphTensors) -> None:
    data = small_data
    assert data.x.layout == torch.sparse_csr
    adjacency = torch.zeros(data.num_nodes, data.num_nodes)
    adjacency[data.edge_index[0], data.edge_index[1]] = 1
    assert adjacency.equal(adjacency.T) and int(adjacency.sum()) == 2 * small_graph.num_edges
    original = data.original_order(data.original_order(adjacency, axis=0), axis=1)
    assert original[small_graph.edges[0], small_graph.edges[1]].all()
    expected = normalised_features(small_graph.features, "rows").toarray()
    np.testing.assert_array_equal(data.original_order(data.x.to_dense(), axis=0).numpy(), expected)
    np.testing.assert_array_equal(data.original_order(data.labels).numpy(), small_graph.labels)


def test_features_as_given_are_unchanged() -> None:
    real = sparse.csr_array(np.array([[-1.5, 2.0], [0.0, 0.25]], dtype=np.float32))
    np.testing.assert_array_equal(normalised_features(real, "as_given").toarray(), real.toarray())


def own(features: np.ndarray, mode: str = "as_given") -> Graph:
    arrays = {"features": features, "edges": np.array([[0, 1], [1, 2]]), "labels": np.array([0, 1, 0])}
    return graph_from_arrays("mine", **arrays, parts={}, where="mine", source="test", features_mode=mode)


REAL = np.array([[1.0, -3.0], [0.5, 0.5], [2.0, 1.0]])


@pytest.mark.parametrize("name", ["released", "paper"])
def test_a_users_own_graph_determines_how_its_features_are_normalised(small_graph: Graph, name: str) -> None:
    assert fidelity_for(small_graph, name) == preset(name)
    assert fidelity_for(own(REAL), name) == preset(name, features="as_given")
    assert fidelity_for(own(np.abs(REAL), "rows"), name) == preset(name, features="rows")
    assert fidelity_for(own(REAL), name, features="binary_rows").features == "binary_rows"


def test_the_error_names_rows_that_cannot_be_divided_by_their_sum() -> None:
    with pytest.raises(UserError, match=r"mine: the features of node 0 sum to zero or less \(node 0: -2\).*as_given"):
        graph_tensors(own(REAL), "rows", torch.device("cpu"))
    data = graph_tensors(own(REAL), "binary_rows", torch.device("cpu"))
    np.testing.assert_array_equal(data.x.to_dense().numpy(), np.full((3, 2), 0.5))
    with pytest.raises(UserError, match=r"nodes 0, 2 sum to zero or less \(node 0: 0\)"):
        graph_tensors(own(REAL * [[0], [1], [0]]), "binary_rows", torch.device("cpu"))


def test_neighbours_are_close_in_the_internal_order(small_graph: Graph, small_data: GraphTensors) -> None:
    data = small_data
    bandwidth = (data.edge_index[0] - data.edge_index[1]).abs().max()
    assert bandwidth < np.abs(small_graph.edges[0] - small_graph.edges[1]).max()
    np.testing.assert_array_equal(data.order[data.position], np.arange(200))


@pytest.mark.parametrize("model", registry.MODELS)
@pytest.mark.parametrize("name", ["released", "paper"])
def test_reordering_the_nodes_does_not_change_their_scores(small_graph: Graph, model: str, name: str) -> None:
    """The reference is the same model on tensors without any reordering."""
    fidelity = preset(name)
    data = graph_tensors(small_graph, fidelity.features, torch.device("cpu"))
    settings = published("cora", "fixed", model)
    assert settings is not None
    features = torch.from_numpy(normalised_features(small_graph.features, fidelity.features).toarray())
    both = np.concatenate([small_graph.edges, small_graph.edges[::-1]], axis=1)
    scores = []
    for x, edges in ((data.x, data.edge_index), (features.to_sparse_csr(), torch.from_numpy(both.copy()))):
        module = registry.build(model, data, settings, fidelity, [1]).eval()
        with torch.no_grad():
            scores.append(module(x, edges).reshape(200, -1))
    torch.testing.assert_close(data.original_order(scores[0], axis=0), scores[1], rtol=1e-4, atol=1e-5)


def test_a_split_and_values_per_node_keep_the_node_numbers_of_the_graph(
    small_graph: Graph, small_data: GraphTensors, small_split: Split
) -> None:
    data, split = small_data, small_split
    tensors = split_tensors(data, [split, split])
    for row in range(2):
        np.testing.assert_array_equal(data.order[tensors.train[row]], split.train)
        evaluated = data.order[tensors.evaluated[row]]
        np.testing.assert_array_equal(evaluated, np.concatenate([split.validation, split.test]))
        np.testing.assert_array_equal(tensors.evaluated_labels[row], small_graph.labels[evaluated])
    alpha = np.stack([data.order, data.order + 1000])  # (R, n): the value of a node is its number
    np.testing.assert_array_equal(data.original_order(alpha)[1], np.arange(1000, 1200))


class NodeNumberAsAlpha(torch.nn.Module):
    """A model whose α of a node is the node's number in the graph."""

    def __init__(self, data: GraphTensors) -> None:
        super().__init__()
        self.conv = torch.nn.Module()
        self.conv.alpha = torch.from_numpy(data.order.astype(np.float32))
        self.layer = torch.nn.Linear(data.num_features, data.num_classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.layer(x.to_dense())


def test_recorded_alpha_is_in_the_node_order_of_the_graph(small_data: GraphTensors, small_split: Split) -> None:
    settings = published("cora", "fixed", "cgnn")
    assert settings is not None
    replicas, model = [Replica(0, small_split, "small", "x")], NodeNumberAsAlpha(small_data)
    options = {"hyperparameters": replace(settings, epochs=1), "selection": "best_validation"}
    (outcome,) = train_replicas(lambda seeds: model, small_data, replicas, **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(outcome.alpha, np.arange(200))


def test_training_on_a_users_own_graph_uses_its_features_as_given(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    features = rng.normal(size=(60, 4)) + 3 * labels[:, None]
    edges = np.stack([np.arange(58), np.arange(2, 60)])
    np.savez(tmp_path / "my.npz", features=features, edges=edges, labels=labels)
    graph, out = tmp_path / "graph.npz", tmp_path / "runs.csv"
    assert main(["graph", "mine", "--path", str(tmp_path / "my.npz"), "--out", str(graph)]) == 0
    sizes = ["--per-class", "5", "--validation", "20", "--test", "20"]
    command = ["split", "--graph", str(graph), "--name", "random00", *sizes, "--out", str(tmp_path / "random00.json")]
    assert main(command) == 0
    train = ["train", "--dataset", "mine", "--graph", str(graph), "--splits", str(tmp_path), "--split", "random"]
    for switches, expected in ([], "as_given"), (["--switch", "features=binary_rows"], "binary_rows"):
        assert main([*train, "--model", "gcn", "--epochs", "2", *switches, "--out", str(out)]) == 0
        with open(out, newline="") as stream:
            assert [row["sw_features"] for row in csv.DictReader(stream)] == [expected]
        out.unlink()


def nodes(*indices: int) -> np.ndarray:
    return np.array(indices, dtype=np.int64)


def test_a_split_of_another_graph_or_without_test_nodes_is_refused(small_data: GraphTensors) -> None:
    with pytest.raises(UserError, match="contains node 900, but the graph has 200 nodes"):
        split_tensors(small_data, [Split("far", nodes(1), nodes(2), nodes(900))])
    with pytest.raises(UserError, match="at least one node"):
        split_tensors(small_data, [Split("empty", nodes(1), nodes(2), nodes())])
