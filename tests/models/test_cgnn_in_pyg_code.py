"""What PyG users do with a layer: copy, average, pickle, compile and autocast it, batch graphs, learn edge weights."""

import copy
import io
import pickle
import shutil
import warnings

import pytest
import torch
from torch.nn import functional
from torch_geometric import EdgeIndex
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import dropout_edge, to_torch_csr_tensor, to_undirected

from cgnn import CGNN, CGNNConv, Fidelity
from cgnn.errors import UserError
from cgnn.models.cgnn_weight import OrthogonalWeight
from cgnn.paper.fidelity import PRESETS, preset

NODES = 6
EDGES = to_undirected(torch.tensor([[0, 1, 2, 3, 0, 3, 4], [1, 2, 3, 0, 2, 4, 5]]))
Y = torch.tensor([0, 1, 2, 0, 1, 2])
KINDS = [{}, {"weight": True}, {"variant": "discrete"}, {"fidelity": "paper"}]
of_every_kind = pytest.mark.parametrize("options", KINDS, ids=str)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(11)


def features(sparse=True):
    x = torch.rand(NODES, 5) * (torch.rand(NODES, 5) < 0.6)
    return x.to_sparse_csr() if sparse else x


def trained(**options):
    """A model after two steps on sparse features, so that every cache is filled."""
    net = CGNN(5, 4, 3, **{"num_nodes": NODES, "t1": 2.0, "gamma": 0.5, **options})
    x, optimiser = features(), torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        optimiser.zero_grad()
        functional.cross_entropy(net(x, EDGES), Y).backward()
        optimiser.step()
        net.after_step()
    return net.eval(), x


@of_every_kind
def test_a_trained_model_can_be_copied_and_the_copy_is_independent(options):
    net, x = trained(**options)
    twin, expected = copy.deepcopy(net), net(x, EDGES)
    assert torch.equal(twin(x, EDGES), expected)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.mul_(0.5)
    assert not torch.allclose(twin(x, EDGES), expected) and torch.equal(net(x, EDGES), expected)


@of_every_kind
def test_a_trained_model_can_be_pickled_and_saved(options):
    net, x = trained(**options)
    expected, file = net(x, EDGES), io.BytesIO()
    assert torch.equal(pickle.loads(pickle.dumps(net))(x, EDGES), expected)
    torch.save(net, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False)(x, EDGES), expected)


@of_every_kind
def test_the_state_dict_contains_only_parameters_and_can_be_loaded(options):
    net, x = trained(**options)
    other = CGNN(5, 4, 3, NODES, t1=2.0, gamma=0.5, **options).eval()
    other.load_state_dict(net.state_dict())
    assert set(net.state_dict()) == {name for name, _ in net.named_parameters()}
    assert torch.equal(other(x, EDGES), net(x, EDGES))


def test_averaged_models_have_the_mean_of_the_parameters(same_numbers):
    net, x = trained()
    averaged = torch.optim.swa_utils.AveragedModel(net)
    starts = [p.detach().clone() for p in net.parameters()]
    averaged.update_parameters(net)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    averaged.update_parameters(net)
    for found, start in zip(averaged.module.parameters(), starts, strict=True):
        same_numbers(found, start + 0.5)
    assert averaged(x, EDGES).shape == (NODES, 3)


@pytest.fixture
def same_numbers():
    return lambda found, expected: torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("options", [{}, {"weight": True}], ids=str)
def test_torch_compile_works_from_the_first_call(options, sparse, same_numbers):
    torch._dynamo.reset()
    net = CGNN(5, 4, 3, NODES, t1=2.0, input_dropout=0.0, **options)
    x = features(sparse)
    compiled = torch.compile(copy.deepcopy(net), backend="aot_eager")
    found, expected = compiled(x, EDGES), net(x, EDGES)
    same_numbers(found, expected)
    functional.cross_entropy(found, Y).backward()
    functional.cross_entropy(expected, Y).backward()
    for a, b in zip(compiled.parameters(), net.parameters(), strict=True):
        same_numbers(a.grad, b.grad)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch's default compiler needs g++")
def test_torch_compile_works_with_its_default_backend(same_numbers):
    torch._dynamo.reset()
    net = CGNN(5, 4, 3, NODES, t1=2.0).eval()
    x = features()
    same_numbers(torch.compile(net)(x, EDGES), net(x, EDGES))


@pytest.mark.parametrize("sparse", [False, True])
@of_every_kind
def test_autocast_to_bfloat16_computes_in_float32_internally(options, sparse):
    net, x = CGNN(5, 4, 3, NODES, t1=2.0, input_dropout=0.0, **options), features(sparse)
    expected = net(x, EDGES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = net(x, EDGES)
        functional.cross_entropy(found.float(), Y).backward()  # a backward pass under autocast must work too
    torch.testing.assert_close(found.float(), expected, rtol=0.05, atol=0.05)  # bfloat16 has three digits
    assert all(p.grad is not None and p.grad.isfinite().all() for p in net.parameters())


@of_every_kind
def test_the_layer_computes_half_precision_inputs_in_float32(options):
    conv = CGNNConv(4, NODES, t1=5.0, **options)
    x = torch.randn(NODES, 4).bfloat16()
    expected = conv(x.float(), EDGES).bfloat16()
    assert torch.equal(conv(x, EDGES), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(conv(x.float(), EDGES), conv(x.float(), EDGES).float())
    assert conv.bfloat16()(x, EDGES).dtype == torch.bfloat16


def test_a_preset_can_be_given_by_name(same_numbers):
    x = torch.randn(NODES, 4)
    for name in PRESETS:
        same_numbers(CGNNConv(4, t1=2.0, fidelity=name)(x, EDGES), CGNNConv(4, t1=2.0, fidelity=preset(name))(x, EDGES))
    with pytest.raises(UserError, match="preset: found 'papers', expected one of released, paper"):
        CGNNConv(4, t1=2.0, fidelity="papers")
    with pytest.raises(UserError, match="fidelity: found 3, expected a Fidelity or the name of a preset"):
        CGNN(5, 4, 3, t1=2.0, fidelity=3)


def test_the_default_is_the_released_preset_with_a_gradient_through_the_source_term():
    x = torch.rand(NODES, 4)
    gradients = {}
    for name, fidelity in {
        "default": None,
        "flows": preset("released", source_gradient="flows"),
        "cut": "released",
    }.items():
        E = x.clone().requires_grad_()
        CGNNConv(4, t1=3.0, fidelity=fidelity)(E, EDGES).square().sum().backward()
        gradients[name] = E.grad
    assert torch.equal(gradients["default"], gradients["flows"])
    assert not torch.allclose(gradients["default"], gradients["cut"], rtol=0.1)
    assert CGNNConv(4, t1=3.0).fidelity == Fidelity() == preset("released", source_gradient="flows")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("replicas", [None, 2])
def test_the_number_of_input_channels_can_be_inferred_from_the_first_input(sparse, replicas):
    net = CGNN(-1, 4, 3, t1=2.0, replicas=replicas)
    x = features(sparse)
    net(x, EDGES).sum().backward()
    assert net.encoder.in_features == 5 and net.encoder.weight.shape[-2:] == (5, 4)
    bound = 5**-0.5  # nn.Linear's start
    assert net.encoder.weight.abs().max() <= bound and net.encoder.weight.std() > bound / 4
    other = CGNN(-1, 4, 3, t1=2.0, replicas=replicas)  # loads into a model that has not seen data yet
    other.load_state_dict(net.state_dict())
    assert torch.equal(other.eval()(x, EDGES), net.eval()(x, EDGES))
    conv = CGNNConv(-1, t1=2.0)
    assert conv(torch.rand(NODES, 7), EDGES).shape == (NODES, 7) and conv.channels == 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CGNN(-1, 4, 3, t1=2.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_error_names_a_tensor_on_another_device(sparse):
    net, x = CGNN(5, 4, 3, NODES, t1=2.0), features(False)
    elsewhere = torch.empty(NODES, 5, device="meta")
    if sparse:
        elsewhere = torch.sparse_coo_tensor(
            torch.empty(2, 3, dtype=torch.long), torch.empty(3), (NODES, 5), device="meta"
        )
    with pytest.raises(
        UserError, match=r"x: found on device meta, expected cpu, where the module is; move one of them"
    ):
        net(elsewhere, EDGES)
    with pytest.raises(UserError, match="edge_index: found on device meta"):
        net(x, EDGES.to("meta"))
    with pytest.raises(UserError, match="edge_weight: found on device meta"):
        net(x, EDGES, torch.ones(EDGES.shape[1], device="meta"))
    with pytest.raises(UserError, match="x: found on device meta"):
        CGNNConv(5, t1=2.0)(torch.empty(NODES, 5, device="meta"), EDGES)


def test_a_mini_batch_gives_the_same_results_as_single_graphs(same_numbers):
    path = to_undirected(torch.tensor([[0, 1], [1, 2]]))
    graphs = [Data(x=torch.rand(n, 5), edge_index=edges) for n, edges in ((NODES, EDGES), (3, path), (2, path[:, :2]))]
    net = CGNN(5, 4, 3, t1=2.0).eval()
    for _ in range(2):  # the second epoch uses a cache filled by the first
        for start, batch in zip((0, 2), DataLoader(graphs, batch_size=2), strict=True):
            expected = torch.cat([net(graph.x, graph.edge_index) for graph in graphs[start : start + 2]])
            same_numbers(net(batch.x, batch.edge_index), expected)


WEIGHTS = torch.rand(EDGES.shape[1] // 2, generator=torch.Generator().manual_seed(0))


def symmetric_weights(half):
    """One weight per undirected edge, in the order of EDGES."""
    once = EDGES[:, EDGES[0] < EDGES[1]].T.tolist()
    return torch.stack([half[once.index(sorted(edge))] for edge in EDGES.T.tolist()])


def test_every_representation_of_a_graph_gives_the_same_result(same_numbers):
    weights = symmetric_weights(WEIGHTS)
    conv, x = CGNNConv(4, t1=3.0), torch.randn(NODES, 4)
    plain, weighted = conv(x, EDGES), conv(x, EDGES, weights)
    csr = to_torch_csr_tensor(EDGES, weights, (NODES, NODES))
    index = EdgeIndex(EDGES, sparse_size=(NODES, NODES), is_undirected=True)
    same_numbers(conv(x, index), plain)
    same_numbers(conv(x, index, weights), weighted)
    same_numbers(conv(x, to_torch_csr_tensor(EDGES, size=(NODES, NODES))), plain)
    for matrix in (csr, csr.to_sparse_coo(), csr.to_sparse_csc()):
        same_numbers(conv(x, matrix), weighted)
    with pytest.raises(UserError, match="edge_index: found list, expected a tensor"):
        conv(x, EDGES.tolist())


def test_a_sparse_tensor_of_torch_sparse_can_be_used_as_a_graph(same_numbers):
    SparseTensor = pytest.importorskip("torch_sparse").SparseTensor
    weights = symmetric_weights(WEIGHTS)
    conv, x = CGNNConv(4, t1=3.0), torch.randn(NODES, 4)
    for value in (None, weights):
        adjacency = SparseTensor(row=EDGES[0], col=EDGES[1], value=value, sparse_sizes=(NODES, NODES))
        same_numbers(conv(x, adjacency.t()), conv(x, EDGES, value))
        kept = conv._cache._held
        conv(x, adjacency), conv(x, adjacency)
        assert conv._cache._held is not kept


SOLVERS = ["exact", "exact_recompute", "dopri5", "dopri5_adjoint", "rk4"]


@pytest.mark.parametrize("source", ["flows", "cut"])
@pytest.mark.parametrize("options", [{}, {"weight": True}, {"variant": "no_h0"}], ids=str)
@pytest.mark.parametrize("derivative", ["paper", "released"])
def test_edge_weights_can_be_learned(options, source, derivative):
    """Compares with finite differences for one weight per undirected edge."""
    fidelity = preset("released", source_gradient=source, derivative=derivative)
    conv = CGNNConv(2, NODES, t1=3.0, fidelity=fidelity, **options).double()
    x = torch.randn(NODES, 2, dtype=torch.float64)
    half = (WEIGHTS.double() + 0.1).requires_grad_()

    def solve(half):
        return conv(x, EDGES, symmetric_weights(half))

    assert torch.autograd.gradcheck(solve, (half,), atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("source", ["flows", "cut"])
@pytest.mark.parametrize("weight", [False, True])
def test_learned_edge_weights_change_no_other_gradient_and_all_solvers_agree(solver, source, weight):
    x, half = torch.randn(NODES, 2, dtype=torch.float64), WEIGHTS.double() + 0.1

    def gradients(solver, learned):
        fidelity = preset("paper", source_gradient=source, solver=solver)
        conv = CGNNConv(2, NODES, t1=2.0, weight=weight, fidelity=fidelity).double()
        E, w = x.clone().requires_grad_(), half.clone().requires_grad_(learned)
        out = conv(E, EDGES, symmetric_weights(w))
        out.pow(3).sum().backward()
        found = {"x": E.grad, "out": out.detach(), **{name: p.grad for name, p in conv.named_parameters()}}
        return found, w.grad

    constant, _ = gradients(solver, learned=False)
    learned, dw = gradients(solver, learned=True)
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if solver == "rk4" else {"rtol": 1e-5, "atol": 1e-6}
    for name in constant:
        torch.testing.assert_close(learned[name], constant[name], **tolerance)
    torch.testing.assert_close(dw, gradients("exact", learned=True)[1], rtol=2e-3, atol=2e-4)


def test_replicas_learn_edge_weights_too(same_numbers):
    # In float64, because a small gradient may be a difference of large terms.
    conv, x = CGNNConv(2, t1=3.0, replicas=2).double(), torch.randn(NODES, 2, 2, dtype=torch.float64)
    half = (WEIGHTS.double() + 0.1).requires_grad_()
    (together,) = torch.autograd.grad(conv(x, EDGES, symmetric_weights(half)).square().sum(), half)
    alone = CGNNConv(2, t1=3.0).double()
    parts = [alone(x[:, r], EDGES, symmetric_weights(half)).square().sum() for r in range(2)]
    same_numbers(together, torch.autograd.grad(sum(parts), half)[0])


def test_inputs_that_require_an_unsupported_gradient_are_refused():
    weights = symmetric_weights(WEIGHTS.clone().requires_grad_())
    with pytest.raises(UserError, match="edge_weight: requires a gradient, which variant='discrete' does not compute"):
        CGNNConv(4, t1=3.0, variant="discrete")(torch.randn(NODES, 4), EDGES, weights)
    with pytest.raises(UserError, match="sparse features that require a gradient"):
        CGNN(5, 4, 3, t1=2.0)(features().requires_grad_(), EDGES)


def test_edges_can_be_dropped_at_every_step(same_numbers):
    conv, x = CGNNConv(4, t1=3.0), torch.randn(NODES, 4)
    outputs = []
    for _ in range(5):
        edges, _ = dropout_edge(EDGES, p=0.4, force_undirected=True)
        outputs.append(conv(x, edges))
        same_numbers(outputs[-1], CGNNConv(4, t1=3.0)(x, edges.clone()))
    assert any(not torch.allclose(outputs[0], other) for other in outputs[1:])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"hidden": 0}, "hidden: found 0, expected an integer of at least 1"),
        ({"hidden": 2.5}, "hidden: found 2.5, expected an integer"),
        ({"in_channels": 0}, "in_channels: found 0, expected an integer of at least 1 or -1"),
        ({"out_channels": -1}, "out_channels: found -1"),
        ({"num_nodes": 0}, "num_nodes: found 0, expected an integer of at least 1 or None"),
        ({"dropout": 2}, r"dropout: found 2, expected a probability in \[0, 1\)"),
        ({"input_dropout": -0.1}, "input_dropout: found -0.1"),
        ({"t1": -1.0}, "t1: found -1.0, expected an ending time of at least 0"),
        ({"t1": float("nan")}, "t1: found nan"),
        ({"gamma": -0.5}, "gamma: found -0.5"),
        ({"beta": 2.0}, r"beta: found 2.0, expected a number in \[0, 0.5\]"),
        ({"alpha": float("inf")}, "alpha: found inf"),
        ({"replicas": 0}, "replicas: found 0"),
    ],
)
def test_constructor_arguments_are_checked(arguments, message):
    with pytest.raises(UserError, match=message):
        CGNN(**{"in_channels": 5, "hidden": 4, "out_channels": 3, "t1": 2.0, **arguments})


@pytest.mark.parametrize(
    "x, weights, message",
    [
        (torch.rand(NODES, 4), torch.full((EDGES.shape[1],), torch.nan), "edge_weight: found NaN"),
        (torch.rand(NODES, 4), torch.full((EDGES.shape[1],), torch.inf), "edge_weight: found an infinite weight"),
        (torch.rand(NODES, 9), None, "x: found 9 columns, expected 4"),
        (torch.rand(NODES), None, r"x: found shape \(6,\), expected \(n, d\)"),
        (torch.rand(NODES, 2, 4), None, r"x: found shape \(6, 2, 4\), expected \(n, d\)"),
        (torch.ones(NODES, 4, dtype=torch.long), None, "x: found torch.int64"),
        (torch.rand(NODES, 4).to_sparse_csr(), None, "x: found a sparse tensor"),
    ],
)
def test_inputs_of_the_layer_are_checked(x, weights, message):
    with pytest.raises(UserError, match=message):
        CGNNConv(4, t1=2.0)(x, EDGES, weights)


@pytest.mark.parametrize("edges", [EDGES.float(), -EDGES])
def test_node_numbers_must_be_integers_and_not_negative(edges):
    with pytest.raises(UserError, match="edge_index: found"):
        CGNNConv(4, t1=2.0)(torch.rand(NODES, 4), edges)


@pytest.mark.parametrize("clamp", ["open", "closed"])
def test_every_eigenvalue_of_W_has_a_gradient_after_initialisation(clamp):
    weight = OrthogonalWeight(4, clamp=clamp)
    (weight() * torch.eye(4)).sum().backward()
    assert torch.equal(weight.M.grad, torch.ones(4))
    assert clamp == "closed" or (weight.M < 1).all()


def test_training_with_the_paper_preset_changes_W():
    net = CGNN(5, 4, 3, NODES, t1=2.0, weight=True, fidelity="paper")
    start, x = net.conv.weight.M.detach().clone(), features()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    functional.cross_entropy(net(x, EDGES), Y).backward()
    optimiser.step()
    assert (start != net.conv.weight.M)[:4].all()
