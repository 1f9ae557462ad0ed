import numpy as np
import pytest
import torch
from scipy import sparse

from cgnn.datasets.graph import Graph
from cgnn.datasets.splits import Split
from cgnn.errors import UserError
from cgnn.training.tensors import graph_tensors, normalised_features, split_tensors

FEATURES = sparse.csr_array(np.array([[0.0, 2.0, 6.0], [0.0, 0.0, 0.0], [5.0, 0.0, 0.0]], dtype=np.float32))


def test_rows_are_divided_by_their_sums_and_empty_rows_stay_empty() -> None:
    expected = [[0, 0.25, 0.75], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(normalised_features(FEATURES, "rows").toarray(), expected)


def test_the_released_code_makes_features_binary_first() -> None:
    expected = [[0, 0.5, 0.5], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(normalised_features(FEATURES, "binary_rows").toarray(), expected)
    assert FEATURES.data.max() == 6, "the graph itself must not change"


def test_edges_go_both_ways_and_features_stay_sparse(small_graph: Graph) -> None:
    data = graph_tensors(small_graph, "rows", torch.device("cpu"))
    assert data.x.layout == torch.sparse_csr
    adjacency = torch.zeros(data.num_nodes, data.num_nodes)
    adjacency[data.edge_index[0], data.edge_index[1]] = 1
    assert adjacency.equal(adjacency.T) and int(adjacency.sum()) == 2 * small_graph.num_edges
    expected = normalised_features(small_graph.features, "rows").toarray()
    np.testing.assert_array_equal(data.x.to_dense().numpy(), expected)


def nodes(*indices: int) -> np.ndarray:
    return np.array(indices, dtype=np.int64)


def test_a_split_of_another_graph_or_without_test_nodes_is_refused(small_graph: Graph) -> None:
    data = graph_tensors(small_graph, "rows", torch.device("cpu"))
    with pytest.raises(UserError, match="names node 900, the graph has 200"):
        split_tensors(data, [Split("far", nodes(1), nodes(2), nodes(900))])
    with pytest.raises(UserError, match="at least one node"):
        split_tensors(data, [Split("empty", nodes(1), nodes(2), nodes())])
