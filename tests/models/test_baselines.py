"""The baselines against PyG's layers, a dense computation and a more accurate solver."""

import copy
import pickle

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import APPNP as PyGAPPNP
from torch_geometric.nn import GATConv, GCNConv, SGConv

from cgnn.errors import UserError
from cgnn.models.appnp import APPNP
from cgnn.models.gat import GAT
from cgnn.models.gcn import GCN
from cgnn.models.gcn_residual import ResidualGCN
from cgnn.models.gode import GODE
from cgnn.models.sgc import SGC

NODES, FEATURES, CLASSES = 7, 5, 3


@pytest.fixture
def x() -> Tensor:
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(NODES, FEATURES, generator=generator)
    return dense * (dense > 0.4)


@pytest.fixture
def edge_index() -> Tensor:
    """A path that ends in a triangle, and the isolated node 6."""
    edges = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 2, 3, 4, 5, 5]])
    return torch.cat([edges, edges.flip(0)], dim=1)


def propagation(edge_index: Tensor) -> Tensor:
    adjacency = torch.eye(NODES)
    adjacency[edge_index[0], edge_index[1]] = 1
    scale = adjacency.sum(1).rsqrt()
    return scale[:, None] * adjacency * scale


MODELS = {
    "gcn": lambda: GCN(FEATURES, 4, CLASSES, layers=3),
    "gcn_residual_plain": lambda: GCN(FEATURES, 4, CLASSES, layers=4, residual=True),
    "gcn_residual": lambda: ResidualGCN(FEATURES, 4, CLASSES, layers=4),
    "gat": lambda: GAT(FEATURES, 4, CLASSES, layers=3, heads=2),
    "gcn_gode": lambda: GODE(FEATURES, 4, CLASSES, "gcn"),
    "gat_gode": lambda: GODE(FEATURES, 4, CLASSES, "gat", heads=2, activation="elu", derivative_dropout=0.5),
    "appnp": lambda: APPNP(FEATURES, 4, CLASSES, layers=3),
    "sgc": lambda: SGC(FEATURES, CLASSES),
}


@pytest.mark.parametrize("name", MODELS)
def test_sparse_and_dense_features_give_the_same_result(name: str, x: Tensor, edge_index: Tensor) -> None:
    model = MODELS[name]().eval()
    assert model(x, edge_index).shape == (NODES, CLASSES)
    torch.testing.assert_close(model(x.to_sparse_csr(), edge_index), model(x, edge_index))


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_has_a_gradient_and_a_state_dict_can_be_loaded(
    name: str, x: Tensor, edge_index: Tensor
) -> None:
    model, twin = MODELS[name](), MODELS[name]()
    model(x.to_sparse_csr(), edge_index).square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    twin.load_state_dict(model.state_dict())
    torch.testing.assert_close(twin.eval()(x, edge_index), model.eval()(x, edge_index))
    model.reset_parameters()
    assert not torch.equal(twin(x, edge_index), model(x, edge_index))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_uses_the_graph_it_is_given(name: str, x: Tensor, edge_index: Tensor) -> None:
    """Another edge_index, or one that was changed in place, must not be answered from a cache."""
    model = MODELS[name]().eval()
    first = model(x, edge_index)
    other = edge_index[:, 1:-1]
    other = torch.cat([other, torch.tensor([[6, 0], [0, 6]])], dim=1)
    found = model(x, other)
    assert not torch.allclose(found, first)
    twin = MODELS[name]().eval()
    twin.load_state_dict(model.state_dict())
    torch.testing.assert_close(found, twin(x, other))
    torch.testing.assert_close(model(x, edge_index), first)
    changed = edge_index.clone()
    torch.testing.assert_close(model(x, changed), first)
    changed[:, 0] = changed[:, -1]
    torch.testing.assert_close(model(x, changed), twin(x, changed.clone()))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_can_be_copied_and_pickled_after_a_forward_pass(name: str, x: Tensor, edge_index: Tensor) -> None:
    model = MODELS[name]().eval()
    expected = model(x.to_sparse_csr(), edge_index)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        torch.testing.assert_close(twin(x, edge_index), expected)


def test_gcn_agrees_with_the_dense_formula(x: Tensor, edge_index: Tensor) -> None:
    model = GCN(FEATURES, 4, CLASSES, layers=2).eval()
    P, (first, second) = propagation(edge_index), model.convs
    hidden = (P @ x @ first.lin.weight + first.bias).relu()
    torch.testing.assert_close(model(x, edge_index), P @ hidden @ second.lin.weight.T + second.bias)


def test_residual_connections_add_the_input_of_a_hidden_layer(x: Tensor, edge_index: Tensor) -> None:
    model = GCN(FEATURES, 4, CLASSES, layers=4, residual=True).eval()
    P, (first, second, third, last) = propagation(edge_index), model.convs
    hidden = (P @ x @ first.lin.weight + first.bias).relu()
    for conv in (second, third):
        hidden = (P @ hidden @ conv.lin.weight.T + conv.bias).relu() + hidden
    torch.testing.assert_close(model(x, edge_index), P @ hidden @ last.lin.weight.T + last.bias)


def test_two_layers_with_residual_connections_are_a_plain_gcn(x: Tensor, edge_index: Tensor) -> None:
    linked, plain = GCN(FEATURES, 4, CLASSES, residual=True).eval(), GCN(FEATURES, 4, CLASSES).eval()
    plain.load_state_dict(linked.state_dict())
    torch.testing.assert_close(linked(x, edge_index), plain(x, edge_index))


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_residual_gcn_agrees_with_the_dense_formula(layers: int, x: Tensor, edge_index: Tensor) -> None:
    model = ResidualGCN(FEATURES, 4, CLASSES, layers=layers).eval()
    P = propagation(edge_index)
    hidden = x @ model.encoder.weight + model.encoder.bias
    for conv in model.convs:
        hidden = hidden + (P @ hidden @ conv.lin.weight.T + conv.bias).relu()
    torch.testing.assert_close(model(x, edge_index), hidden @ model.decoder.weight.T + model.decoder.bias)


@pytest.mark.parametrize("directed", [False, True])
def test_sgc_agrees_with_pyg(directed: bool, x: Tensor, edge_index: Tensor) -> None:
    edges = edge_index[:, :6] if directed else edge_index
    ours, theirs = SGC(FEATURES, CLASSES, layers=3).eval(), SGConv(FEATURES, CLASSES, K=3)
    theirs.lin.weight.data, theirs.lin.bias.data = ours.lin.weight.data.T, ours.bias.data
    torch.testing.assert_close(ours(x, edges), theirs(x, edges))


@pytest.mark.parametrize("directed", [False, True])
def test_the_propagation_of_appnp_agrees_with_pyg(directed: bool, x: Tensor, edge_index: Tensor) -> None:
    edges = edge_index[:, :6] if directed else edge_index
    ours = APPNP(FEATURES, 4, CLASSES, layers=3, teleport=0.2).eval()
    start = ours.decoder((x @ ours.encoder.weight + ours.encoder.bias).relu())
    torch.testing.assert_close(ours(x, edges), PyGAPPNP(3, 0.2)(start, edges))


def test_appnp_drops_entries_of_the_whole_matrix_in_each_step(x: Tensor, edge_index: Tensor) -> None:
    """Each step drops entries of Â itself, so the mean over masks is the propagation without dropout at any depth."""
    model = APPNP(FEATURES, 4, CLASSES, layers=6, edge_dropout=0.5, input_dropout=0, dropout=0)
    torch.manual_seed(0)
    draws = torch.stack([model(x, edge_index).detach() for _ in range(4000)])
    expected = model.eval()(x, edge_index)
    error = (draws.mean(dim=0) - expected).abs() / (draws.std(dim=0) / 4000**0.5 + 1e-6)
    assert draws.std(dim=0).max() > 0.01 and error.max() < 5


def test_appnp_refuses_edge_weights_that_need_a_gradient(x: Tensor, edge_index: Tensor) -> None:
    with pytest.raises(UserError, match="edge_weight: APPNP has no gradient"):
        APPNP(FEATURES, 4, CLASSES)(x, edge_index, torch.rand(edge_index.shape[1], requires_grad=True))


def test_the_weight_decay_of_appnp_applies_only_to_the_first_weights() -> None:
    model = APPNP(FEATURES, 4, CLASSES)
    first, others = model.parameter_groups(0.005)
    assert first["params"] == [model.encoder.weight] and first["weight_decay"] == 0.005
    assert len(others["params"]) == 3 and others["weight_decay"] == 0


def test_gcn_and_gat_agree_with_stacks_of_pyg_layers(x: Tensor, edge_index: Tensor) -> None:
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


def test_the_first_layer_is_initialised_as_in_pyg() -> None:
    """The bound is Glorot's √(6/(in + out)), not the 1/√in of nn.Linear."""
    torch.manual_seed(0)
    weight = GCN(300, 100, CLASSES).convs[0].lin.weight
    assert weight.abs().max().item() == pytest.approx((6 / 400) ** 0.5, rel=0.01)


@pytest.mark.parametrize("derivative", ["gcn", "gat"])
def test_gode_is_close_to_the_exact_solution_with_few_steps(derivative: str, x: Tensor, edge_index: Tensor) -> None:
    from torchdiffeq import odeint

    torch.manual_seed(1)
    model = GODE(FEATURES, 8, CLASSES, derivative, heads=2, activation="softplus").eval()
    edges = model.edges(x, edge_index)
    start = model.encoder(x, *edges).relu()
    state = odeint(lambda t, state: model.slope(state, edges), start, torch.tensor([0.0, 1.0]), method="dopri5")[-1]
    expected = model.decoder(state, *edges)
    torch.testing.assert_close(model(x, edge_index), expected, rtol=0.02, atol=0.02)
    errors = []
    for steps in (1, 4):
        model.steps = steps
        errors.append((model(x, edge_index) - expected).abs().max().item())
    assert errors[1] < errors[0] / 20, "RK4's error falls with the fourth power of the step"


@pytest.mark.parametrize("activation", ["relu", "softplus", "elu", "tanh"])
def test_the_derivative_of_gode_is_two_layers_with_an_activation_in_between(
    activation: str, x: Tensor, edge_index: Tensor
) -> None:
    model = GODE(FEATURES, 8, CLASSES, activation=activation)
    P, state, (first, second) = propagation(edge_index), torch.randn(NODES, 8), model.convs
    sigma = {"relu": nn.ReLU(), "softplus": nn.Softplus(), "elu": nn.ELU(), "tanh": nn.Tanh()}[activation]
    masks = (torch.rand(NODES, 8), torch.rand(NODES, 8))
    hidden = sigma(P @ (masks[0] * state) @ first.lin.weight.T + first.bias)
    expected = P @ (masks[1] * hidden) @ second.lin.weight.T + second.bias
    torch.testing.assert_close(model.slope(state, model.edges(x, edge_index), masks), expected)


def test_gode_draws_one_mask_per_forward_pass(x: Tensor, edge_index: Tensor) -> None:
    model = GODE(FEATURES, 8, CLASSES, derivative_dropout=0.5, input_dropout=0.0, dropout=0.0, steps=3)
    seen: list[object] = []
    slope = model.slope
    model.slope = lambda state, edges, masks=None: (seen.append(masks), slope(state, edges, masks))[1]  # type: ignore[method-assign]
    model(x, edge_index)
    model(x, edge_index)
    assert len(seen) == 24 and len({id(masks) for masks in seen}) == 2, "3 steps of RK4 evaluate 12 times per pass"
    first, second = seen[0]  # type: ignore[misc]
    assert set(first.unique().tolist()) <= {0.0, 2.0} and not torch.equal(first, second)
    model.eval()
    assert model.masks(torch.ones(NODES, 8)) is None


def test_gode_with_end_time_zero_is_a_two_layer_gcn(x: Tensor, edge_index: Tensor) -> None:
    model, gcn = GODE(FEATURES, 8, CLASSES, t1=0.0).eval(), GCN(FEATURES, 8, CLASSES).eval()
    gcn.convs[0].load_state_dict(model.encoder.state_dict())
    gcn.convs[1].load_state_dict(model.decoder.state_dict())
    torch.testing.assert_close(model(x, edge_index), gcn(x, edge_index))
