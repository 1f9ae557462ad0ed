"""The fused layers against PyG's: the same results, gradients and initialisation on any graph."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv

from cgnn.models.attention import AttentionPattern, FusedGATConv, _Attention
from cgnn.models.gat import GAT, with_self_loops
from cgnn.models.gcn import GCN
from cgnn.models.gcn_layer import FusedGCNConv, gcn_propagation
from cgnn.models.gcn_residual import ResidualGCN
from cgnn.models.gode import GODE
from cgnn.models.random_streams import dropout

pytestmark = pytest.mark.numerics

FEATURES, CLASSES = 5, 3
TOLERANCE = {torch.float64: {"rtol": 1e-10, "atol": 1e-10}, torch.float32: {"rtol": 1e-4, "atol": 1e-5}}

_ONE_WAY = torch.tensor([[0, 1, 2, 3, 3, 4, 0], [1, 2, 3, 4, 5, 5, 5]])
#: Edge lists and numbers of nodes. Node 6 is isolated; "parallel" has an edge twice and a self-loop.
GRAPHS = {
    "undirected": (torch.cat([_ONE_WAY, _ONE_WAY.flip(0)], dim=1), 7),
    "directed": (_ONE_WAY, 7),
    "parallel": (torch.cat([_ONE_WAY, torch.tensor([[0, 2], [1, 2]])], dim=1), 7),
    "one node": (torch.empty(2, 0, dtype=torch.long), 1),
}


def outcome(layer: nn.Module, nodes: int, dtype: torch.dtype, *edges: Any) -> list[Tensor | None]:
    """The result, and the gradients of x and all parameters, for a fixed x and a fixed random stream of dropout."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(nodes, FEATURES, dtype=dtype, generator=generator, requires_grad=True)
    torch.manual_seed(2)
    out = layer(x, *edges)
    out.backward(torch.randn(out.shape, dtype=dtype, generator=generator))
    return [out.detach(), x.grad, *(parameter.grad for parameter in layer.parameters())]


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_fused_gcn_layer_agrees_with_pyg(name: str, dtype: torch.dtype) -> None:
    edge_index, nodes = GRAPHS[name]
    torch.manual_seed(0)
    fused = FusedGCNConv(FEATURES, 4, normalize=False).to(dtype)
    torch.manual_seed(0)
    theirs = GCNConv(FEATURES, 4).to(dtype)
    expected = outcome(theirs, nodes, dtype, edge_index)
    propagation = gcn_propagation(edge_index, None, nodes, dtype)
    torch.testing.assert_close(outcome(fused, nodes, dtype, *propagation), expected, **TOLERANCE[dtype])


def test_a_graph_is_fused_when_its_matrix_is_symmetric_and_constant() -> None:
    edge_index, nodes = GRAPHS["undirected"]
    weight = torch.rand(edge_index.shape[1] // 2).repeat(2)
    lopsided = torch.rand(edge_index.shape[1])

    def is_fused(edges: Tensor, weight: Tensor | None) -> bool:
        return gcn_propagation(edges, weight, nodes, torch.float32)[0].layout == torch.sparse_csr

    assert is_fused(edge_index, None) and is_fused(edge_index, weight)
    assert not is_fused(edge_index, lopsided)
    assert not is_fused(edge_index, weight.clone().requires_grad_())
    assert not is_fused(GRAPHS["directed"][0], None)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("heads", [1, 8])
@pytest.mark.parametrize("concat", [True, False])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_a_fused_gat_layer_agrees_with_pyg(
    name: str, heads: int, concat: bool, training: bool, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge_index, nodes = GRAPHS[name]
    pattern = AttentionPattern(with_self_loops(edge_index, nodes), nodes, dtype)
    layers = []
    for layer in (FusedGATConv, GATConv):
        torch.manual_seed(0)
        made = layer(FEATURES, 4, heads=heads, concat=concat, dropout=0.6, add_self_loops=False)
        layers.append(made.to(dtype).train(training))
    found = outcome(layers[0], nodes, dtype, pattern)
    # Dropout removes the same edges if PyG gets them in the pattern's order and draws its mask in the same way.
    monkeypatch.setattr(functional, "dropout", dropout)
    expected = outcome(layers[1], nodes, dtype, torch.stack([pattern.source, pattern.target]))
    torch.testing.assert_close(found, expected, **TOLERANCE[dtype])


def test_a_node_without_edges_agrees_with_pyg() -> None:
    edge_index, nodes = GRAPHS["directed"]
    fused, theirs = FusedGATConv(FEATURES, 4, heads=2, residual=True), GATConv(FEATURES, 4, heads=2, residual=True)
    fused.add_self_loops = theirs.add_self_loops = False
    theirs.load_state_dict(fused.state_dict())
    pattern = AttentionPattern(edge_index, nodes)
    expected = outcome(theirs, nodes, torch.float32, torch.stack([pattern.source, pattern.target]))
    torch.testing.assert_close(outcome(fused, nodes, torch.float32, pattern), expected)


def test_many_parallel_edges_agree_with_pyg() -> None:
    edge_index = torch.zeros(2, 5, dtype=torch.long)
    fused, theirs = FusedGATConv(FEATURES, 4), GATConv(FEATURES, 4, add_self_loops=False)
    theirs.load_state_dict(fused.state_dict())
    expected = outcome(theirs, 1, torch.float32, edge_index)
    torch.testing.assert_close(outcome(fused, 1, torch.float32, AttentionPattern(edge_index, 1)), expected)


def test_large_logits_do_not_overflow() -> None:
    edge_index, nodes = GRAPHS["undirected"]
    pattern = AttentionPattern(with_self_loops(edge_index, nodes), nodes)
    a = 1e4 * torch.randn(nodes, 4, generator=torch.Generator().manual_seed(0))
    out = _Attention.apply(pattern, torch.ones(nodes, 2, 3), a, 0.2, 0.0)
    torch.testing.assert_close(out, torch.ones(nodes, 2, 3))


@pytest.mark.parametrize("name", GRAPHS)
def test_gradcheck_of_the_attention(name: str) -> None:
    edge_index, nodes = GRAPHS[name]
    pattern = AttentionPattern(with_self_loops(edge_index, nodes), nodes, torch.float64)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(nodes, 2, 3, dtype=torch.float64, generator=generator, requires_grad=True)
    a = torch.randn(nodes, 4, dtype=torch.float64, generator=generator, requires_grad=True)

    def attend(x: Tensor, a: Tensor) -> Tensor:
        torch.manual_seed(0)
        return _Attention.apply(pattern, x, a, 0.2, 0.5)

    assert torch.autograd.gradcheck(attend, (x, a))


MODELS: dict[str, Callable[[bool], nn.Module]] = {
    "gcn": lambda fused: GCN(FEATURES, 4, CLASSES, layers=3, fused=fused),
    "gcn_residual_plain": lambda fused: GCN(FEATURES, 4, CLASSES, layers=4, residual=True, fused=fused),
    "gcn_residual": lambda fused: ResidualGCN(FEATURES, 4, CLASSES, layers=4, fused=fused),
    "gat": lambda fused: GAT(FEATURES, 4, CLASSES, layers=3, heads=2, output_heads=3, fused=fused),
    "gcn_gode": lambda fused: GODE(FEATURES, 4, CLASSES, "gcn", fused=fused),
    "gat_gode": lambda fused: GODE(FEATURES, 4, CLASSES, "gat", heads=2, fused=fused),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", MODELS)
def test_a_fused_model_agrees_with_the_unfused_one(name: str, graph: str) -> None:
    """With the same seed their initialisation is the same too, and each can load the parameters of the other."""
    edge_index, nodes = GRAPHS[graph]
    found, expected = [], []
    for fused, outcomes in ((True, found), (False, expected)):
        torch.manual_seed(3)
        model = MODELS[name](fused).double().eval()
        outcomes += outcome(model, nodes, torch.float64, edge_index)
        other = MODELS[name](not fused).double().eval()
        other.load_state_dict(model.state_dict())
        outcomes.append(other(torch.ones(nodes, FEATURES, dtype=torch.float64), edge_index))
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
