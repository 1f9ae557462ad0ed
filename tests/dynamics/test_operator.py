"""Â and the operators based on it, on graphs small enough to check by hand."""

import pytest
import torch

from cgnn.dynamics.operator import Propagation, normalised_adjacency
from cgnn.errors import UserError

TRIANGLE = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])


def test_a_path_of_three_nodes_agrees_with_the_definition():
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    found = normalised_adjacency(edges, None, 3, 0.5, torch.float64).to_dense()
    a, b = 1 / 3, 1 / (1.5 * 2.5) ** 0.5
    expected = torch.tensor([[a, b, 0], [b, 0.2, b], [0, b, a]], dtype=torch.float64)
    assert torch.allclose(found, expected)


def test_the_normalisation_agrees_with_pyg(graph):
    gcn_norm = pytest.importorskip("torch_geometric.nn.conv.gcn_conv").gcn_norm
    index, weight = gcn_norm(graph.edge_index, None, graph.n, dtype=torch.float64)  # γ = 1
    expected = torch.sparse_coo_tensor(index, weight, (graph.n, graph.n)).to_dense()
    found = normalised_adjacency(graph.edge_index, None, graph.n, 1.0, torch.float64).to_dense()
    assert torch.allclose(found, expected)


def test_an_isolated_node_has_a_row_of_zeros_without_self_loops():
    for gamma, kept in [(0.3, 1.0), (0.0, 0.0)]:
        assert normalised_adjacency(TRIANGLE, None, 4, gamma).to_dense()[3].tolist() == [0, 0, 0, kept]


@pytest.mark.parametrize("gamma", [0.0, 0.7])
def test_every_diagonal_entry_is_stored(graph, gamma):
    matrix = normalised_adjacency(graph.edge_index, None, graph.n, gamma)
    row = torch.repeat_interleave(torch.arange(graph.n), matrix.crow_indices().diff())
    assert int((row == matrix.col_indices()).sum()) == graph.n


def test_edge_weights_count_and_parallel_edges_add_up():
    once = normalised_adjacency(TRIANGLE, torch.tensor([2.0, 2, 1, 1, 1, 1]), 3, 0.5).to_dense()
    twice = torch.cat([TRIANGLE, TRIANGLE[:, :2]], 1)
    assert torch.allclose(once, normalised_adjacency(twice, None, 3, 0.5).to_dense())


def test_a_sparse_adjacency_matrix_can_replace_an_edge_list():
    edge_weight = torch.tensor([2.0, 2, 1, 1, 1, 1])
    matrix = torch.sparse_coo_tensor(TRIANGLE, edge_weight, (3, 3))
    expected = normalised_adjacency(TRIANGLE, edge_weight, 3, 0.5).to_dense()
    for layout in (matrix, matrix.coalesce().to_sparse_csr()):
        assert torch.equal(normalised_adjacency(layout, None, 3, 0.5).to_dense(), expected)


@pytest.mark.parametrize("derivative", ["paper", "released"])
def test_M_and_A_agree_with_the_printed_equations(graph, oracle, derivative):
    alpha = torch.rand(graph.n, dtype=torch.float64, requires_grad=True)
    H = torch.randn(graph.n, 3, dtype=torch.float64, requires_grad=True)
    operator = Propagation.build(
        graph.edge_index, num_nodes=graph.n, gamma=0.4, derivative=derivative, dtype=torch.float64
    )
    A = alpha[:, None] / 2 * (torch.eye(graph.n) + oracle.adjacency(graph.edge_index, graph.n, 0.4))
    assert torch.allclose(operator.apply_M(alpha, H), oracle.M(graph.edge_index, graph.n, 0.4, alpha, derivative) @ H)
    assert torch.allclose(operator.apply_A(alpha, H), A @ H)
    assert torch.autograd.gradcheck(operator.apply_M, (alpha, H))
    assert torch.autograd.gradgradcheck(operator.apply_M, (alpha, H))


@pytest.mark.parametrize("derivative", ["paper", "released"])
def test_the_eigenvalues_of_M_lie_between_minus_one_and_zero(graph, oracle, derivative):
    alpha = torch.rand(graph.n, dtype=torch.float64)
    values = torch.linalg.eigvals(oracle.M(graph.edge_index, graph.n, 0.4, alpha, derivative))
    assert float(values.imag.abs().max()) < 1e-7
    assert float(values.real.min()) >= -1 - 1e-9 and float(values.real.max()) <= 1e-9


@pytest.mark.parametrize(
    "edge_index, edge_weight, gamma, message",
    [
        (torch.tensor([[0, 1], [1, 2]]), None, 1.0, "to_undirected"),
        (torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), 1.0, "to_undirected"),
        (torch.tensor([[0, 9], [9, 0]]), None, 1.0, "found node 9, expected numbers from 0 to 2"),
        (torch.tensor([0, 1]), None, 1.0, r"expected \(2, number of edges\)"),
        (TRIANGLE, torch.ones(5), 1.0, "5 weights for 6 edges"),
        (TRIANGLE, -torch.ones(6), 1.0, "negative weight"),
        (TRIANGLE, None, -0.5, "gamma: found -0.5"),
    ],
)
def test_the_error_says_why_an_input_is_not_a_valid_graph(edge_index, edge_weight, gamma, message):
    with pytest.raises(UserError, match=message):
        normalised_adjacency(edge_index, edge_weight, 3, gamma)
