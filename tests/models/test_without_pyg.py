"""Fused models do not import PyTorch Geometric, which takes seconds, and agree with it."""

import pytest
import torch
from torch_geometric.nn.conv.gcn_conv import gcn_norm as pyg_norm
from torch_geometric.nn.inits import glorot as pyg_glorot
from torch_geometric.utils import add_self_loops, remove_self_loops

from cgnn.models.gat import with_self_loops
from cgnn.models.gcn_layer import gcn_norm
from cgnn.models.sparse_layer import glorot

#: Directed, with an edge twice, a self-loop at node 2, and node 5 is isolated.
EDGES, NODES = torch.tensor([[0, 1, 2, 3, 0, 2, 0], [1, 2, 3, 4, 4, 2, 1]]), 6


@pytest.mark.parametrize("weighted", [False, True])
def test_the_normalisation_of_gcn_is_bit_identical_to_pygs(weighted):
    weight = torch.rand(EDGES.shape[1], generator=torch.Generator().manual_seed(0)) if weighted else None
    edges, values = gcn_norm(EDGES, weight, NODES, torch.float32)
    expected_edges, expected = pyg_norm(EDGES, weight, NODES, dtype=torch.float32)
    assert torch.equal(edges, expected_edges) and torch.equal(values, expected)


def test_the_normalisation_has_a_gradient_for_edge_weights():
    weight = torch.rand(EDGES.shape[1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: gcn_norm(EDGES, w, NODES, torch.float64)[1], (weight,))


def test_self_loops_are_the_same_as_pygs():
    assert torch.equal(with_self_loops(EDGES, NODES), add_self_loops(remove_self_loops(EDGES)[0], num_nodes=NODES)[0])


@pytest.mark.parametrize("shape", [(4, 7), (1, 8, 3)])
def test_the_initialisation_is_bit_identical_to_pygs(shape):
    ours, theirs = torch.empty(shape), torch.empty(shape)
    for fill, weight in ((glorot, ours), (pyg_glorot, theirs)):
        torch.manual_seed(5)
        fill(weight)
    assert torch.equal(ours, theirs)


def test_a_fused_model_is_built_without_importing_pyg(modules_after):
    code = (
        "from cgnn.models.gcn import GCN; from cgnn.models.gat import GAT; from cgnn.models.gode import GODE\n"
        "GCN(5, 4, 3), GAT(5, 4, 3), GODE(5, 4, 3)"
    )
    assert "torch_geometric" not in modules_after(code)
