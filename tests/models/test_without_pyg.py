"""Fused models do without PyTorch Geometric, whose import takes seconds, and compute what it computes."""

import subprocess
import sys

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
def test_the_normalisation_is_pygs_to_the_bit(weighted):
    weight = torch.rand(EDGES.shape[1], generator=torch.Generator().manual_seed(0)) if weighted else None
    edges, values = gcn_norm(EDGES, weight, NODES, torch.float32)
    expected_edges, expected = pyg_norm(EDGES, weight, NODES, dtype=torch.float32)
    assert torch.equal(edges, expected_edges) and torch.equal(values, expected)


def test_its_gradient_reaches_learned_weights():
    weight = torch.rand(EDGES.shape[1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: gcn_norm(EDGES, w, NODES, torch.float64)[1], (weight,))


def test_self_loops_are_pygs():
    assert torch.equal(with_self_loops(EDGES, NODES), add_self_loops(remove_self_loops(EDGES)[0], num_nodes=NODES)[0])


@pytest.mark.parametrize("shape", [(4, 7), (1, 8, 3)])
def test_the_initialisation_is_pygs_to_the_bit(shape):
    ours, theirs = torch.empty(shape), torch.empty(shape)
    for fill, weight in ((glorot, ours), (pyg_glorot, theirs)):
        torch.manual_seed(5)
        fill(weight)
    assert torch.equal(ours, theirs)


def test_a_fused_model_is_built_without_importing_pyg():
    code = (
        "import sys\n"
        "from cgnn.models.gcn import GCN\nfrom cgnn.models.gat import GAT\nfrom cgnn.models.gode import GODE\n"
        "GCN(5, 4, 3), GAT(5, 4, 3), GODE(5, 4, 3)\n"
        "sys.exit('imported PyG' if 'torch_geometric' in sys.modules else 0)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
