"""GCN, GAT and GODE against PyG's own layers, a dense computation and a finer solver."""

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GATConv, GCNConv

from cgnn.models.gat import GAT
from cgnn.models.gcn import GCN
from cgnn.models.gode import GODE

NODES, FEATURES, CLASSES = 7, 5, 3


@pytest.fixture
def x() -> Tensor:
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(NODES, FEATURES, generator=generator)
    return dense * (dense > 0.4)


@pytest.fixture
def edge_index() -> Tensor:
    """A path, a triangle on its end, and node 6 alone."""
    edges = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 2, 3, 4, 5, 5]])
    return torch.cat([edges, edges.flip(0)], dim=1)


def propagation(edge_index: Tensor) -> Tensor:
    adjacency = torch.eye(NODES)
    adjacency[edge_index[0], edge_index[1]] = 1
    scale = adjacency.sum(1).rsqrt()
    return scale[:, None] * adjacency * scale


MODELS = {
    "gcn": lambda: GCN(FEATURES, 4, CLASSES, layers=3),
    "gcn_residual": lambda: GCN(FEATURES, 4, CLASSES, layers=4, residual=True),
    "gat": lambda: GAT(FEATURES, 4, CLASSES, layers=3, heads=2),
    "gcn_gode": lambda: GODE(FEATURES, 4, CLASSES, "gcn"),
    "gat_gode": lambda: GODE(FEATURES, 4, CLASSES, "gat", heads=2),
}


@pytest.mark.parametrize("name", MODELS)
def test_sparse_and_dense_features_give_the_same(name: str, x: Tensor, edge_index: Tensor) -> None:
    model = MODELS[name]().eval()
    assert model(x, edge_index).shape == (NODES, CLASSES)
    torch.testing.assert_close(model(x.to_sparse_csr(), edge_index), model(x, edge_index))


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_gets_a_gradient_and_a_state_dict_goes_round(name: str, x: Tensor, edge_index: Tensor) -> None:
    model, twin = MODELS[name](), MODELS[name]()
    model(x.to_sparse_csr(), edge_index).square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    twin.load_state_dict(model.state_dict())
    torch.testing.assert_close(twin.eval()(x, edge_index), model.eval()(x, edge_index))
    model.reset_parameters()
    assert not torch.equal(twin(x, edge_index), model(x, edge_index))


def test_gcn_is_relu_of_propagated_products(x: Tensor, edge_index: Tensor) -> None:
    model = GCN(FEATURES, 4, CLASSES, layers=2).eval()
    P, (first, second) = propagation(edge_index), model.convs
    hidden = (P @ x @ first.lin.weight + first.bias).relu()
    torch.testing.assert_close(model(x, edge_index), P @ hidden @ second.lin.weight.T + second.bias)


def test_residual_links_add_what_a_hidden_layer_was_given(x: Tensor, edge_index: Tensor) -> None:
    model = GCN(FEATURES, 4, CLASSES, layers=4, residual=True).eval()
    P, (first, second, third, last) = propagation(edge_index), model.convs
    hidden = (P @ x @ first.lin.weight + first.bias).relu()
    for conv in (second, third):
        hidden = (P @ hidden @ conv.lin.weight.T + conv.bias).relu() + hidden
    torch.testing.assert_close(model(x, edge_index), P @ hidden @ last.lin.weight.T + last.bias)


def test_two_layers_with_residual_links_are_plain_gcn(x: Tensor, edge_index: Tensor) -> None:
    linked, plain = GCN(FEATURES, 4, CLASSES, residual=True).eval(), GCN(FEATURES, 4, CLASSES).eval()
    plain.load_state_dict(linked.state_dict())
    torch.testing.assert_close(linked(x, edge_index), plain(x, edge_index))


def test_gcn_and_gat_equal_stacks_of_pygs_layers(x: Tensor, edge_index: Tensor) -> None:
    gcn, layer = GCN(FEATURES, 4, CLASSES, layers=1).eval(), GCNConv(FEATURES, CLASSES)
    layer.lin.weight.data, layer.bias.data = gcn.convs[0].lin.weight.data.T, gcn.convs[0].bias.data
    torch.testing.assert_close(gcn(x, edge_index), layer(x, edge_index))

    gat = GAT(FEATURES, 4, CLASSES, heads=2, output_heads=3).eval()
    first, last = GATConv(FEATURES, 4, heads=2), GATConv(8, CLASSES, heads=3, concat=False)
    for ours, theirs in zip(gat.convs, (first, last), strict=True):
        state = ours.state_dict()
        if theirs is first:
            state["lin.weight"] = state["lin.weight"].T
        theirs.load_state_dict(state)
    expected = last(torch.nn.functional.elu(first(x, edge_index)), edge_index)
    torch.testing.assert_close(gat(x, edge_index), expected)


def test_the_first_layer_starts_as_pygs_does() -> None:
    """Glorot's bound √(6/(in + out)), where nn.Linear would start at 1/√in."""
    torch.manual_seed(0)
    weight = GCN(300, 100, CLASSES).convs[0].lin.weight
    assert weight.abs().max().item() == pytest.approx((6 / 400) ** 0.5, rel=0.01)


@pytest.mark.parametrize("derivative", ["gcn", "gat"])
def test_godes_few_steps_are_near_the_true_solution(derivative: str, x: Tensor, edge_index: Tensor) -> None:
    from torchdiffeq import odeint

    torch.manual_seed(1)
    model = GODE(FEATURES, 8, CLASSES, derivative, heads=2).eval()
    found = model(x, edge_index)
    assert model._edges is not None
    start = model.encoder(x, *model._edges).relu()
    state = odeint(model.slope, start, torch.tensor([0.0, 1.0]), method="dopri5")[-1]
    torch.testing.assert_close(found, model.decoder(state, *model._edges), rtol=0.02, atol=0.02)


def test_gode_without_time_is_a_two_layer_gcn(x: Tensor, edge_index: Tensor) -> None:
    model, gcn = GODE(FEATURES, 8, CLASSES, t1=0.0).eval(), GCN(FEATURES, 8, CLASSES).eval()
    gcn.convs[0].load_state_dict(model.encoder.state_dict())
    gcn.convs[1].load_state_dict(model.decoder.state_dict())
    torch.testing.assert_close(model(x, edge_index), gcn(x, edge_index))
