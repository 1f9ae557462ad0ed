"""CGNN and CGNNConv as they are used in PyG code."""

import pytest
import torch

from cgnn import CGNN, CGNNConv
from cgnn.errors import UserError
from cgnn.models.cgnn_weight import OrthogonalWeight
from cgnn.paper.fidelity import preset

VARIANTS = [
    {},
    {"weight": True},
    {"variant": "discrete"},
    {"variant": "no_h0"},
    {"variant": "no_h0", "fidelity": preset("released", no_h0="printed")},
    {"fidelity": preset("paper")},
    {"fidelity": preset("paper"), "weight": True},
    {"fidelity": preset("released", augmentation="none"), "weight": True},
    {"fidelity": preset("released", solver="exact_recompute")},
    {"fidelity": preset("released", solver="rk4")},
]


def model(graph, **options):
    torch.manual_seed(3)
    settings = {"t1": 2.0, "alpha": 0.9, "gamma": 0.5, "input_dropout": 0.0} | options
    return CGNN(5, 4, 3, graph.n, **settings)


def features(graph, dtype=torch.float32):
    return (torch.rand(graph.n, 5, dtype=dtype) * (torch.rand(graph.n, 5) < 0.6)).to(dtype)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_variant_learns_in_either_precision(ordinary, options, dtype):
    net = model(ordinary, **options).to(dtype)
    x, y = features(ordinary, dtype), torch.tensor([0, 1, 2, 0, 1, 2])
    optimiser = torch.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        out = net(x, ordinary.edge_index)
        loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        optimiser.step()
        net.after_step()
        losses.append(loss.item())
    assert out.shape == (ordinary.n, 3) and out.dtype == dtype
    assert losses[-1] < losses[0]
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in net.parameters())


@pytest.mark.parametrize("layout", ["csr", "coo", "csc"])
def test_sparse_features_give_the_output_and_gradient_of_dense_ones(ordinary, layout):
    net, x = model(ordinary), features(ordinary)
    sparse = {"csr": x.to_sparse_csr, "coo": x.to_sparse_coo, "csc": x.to_sparse_csc}[layout]()
    expected, found = net(x, ordinary.edge_index), net(sparse, ordinary.edge_index)
    assert torch.allclose(found, expected, atol=1e-5)
    g = torch.randn_like(found)
    for a, b in zip(
        torch.autograd.grad(found, list(net.parameters()), g),
        torch.autograd.grad(expected, list(net.parameters()), g),
        strict=True,
    ):
        assert torch.allclose(a, b, atol=1e-4)


def test_edge_weights_change_the_result_and_ones_do_not(ordinary):
    conv, x = CGNNConv(2, ordinary.n, t1=3.0), torch.randn(ordinary.n, 2)
    plain = conv(x, ordinary.edge_index)
    ones = torch.ones(ordinary.edge_index.shape[1])
    assert torch.allclose(conv(x, ordinary.edge_index, ones), plain)
    half = ones.numel() // 2  # the second half of the list has the edges of the first half in the other direction
    weights = torch.rand(half).repeat(2) + 0.1
    assert not torch.allclose(conv(x, ordinary.edge_index, weights), plain)


def test_alpha_starts_as_the_preset_says(ordinary):
    released = CGNNConv(2, ordinary.n, t1=1.0, alpha=0.918)
    paper = CGNNConv(2, ordinary.n, t1=1.0, alpha=0.918, fidelity=preset("paper"))
    assert released.alpha.shape == (ordinary.n,)
    assert torch.allclose(released.alpha, torch.tensor(0.715), atol=5e-4)  # σ(0.918)
    assert torch.allclose(paper.alpha, torch.tensor(0.918))


def test_a_single_alpha_can_be_used_with_any_graph(ordinary, oracle):
    conv = CGNNConv(2, t1=4.0)
    assert conv.theta.shape == (1,)
    assert conv(torch.randn(ordinary.n, 2), ordinary.edge_index).shape == (ordinary.n, 2)
    assert conv(torch.randn(3, 2), oracle.undirected((0, 1), (1, 2))).shape == (3, 2)


def test_the_graph_is_normalised_again_only_if_it_changes(ordinary, monkeypatch):
    from cgnn.dynamics.operator import Propagation

    built = []
    original = Propagation.build.__func__
    monkeypatch.setattr(
        Propagation, "build", classmethod(lambda cls, *a, **k: (built.append(1), original(cls, *a, **k))[1])
    )
    conv, x = CGNNConv(2, ordinary.n, t1=1.0), torch.randn(ordinary.n, 2)
    edges = ordinary.edge_index.clone()
    first = conv(x, edges)
    conv(x, edges)
    assert len(built) == 1
    edges[:, edges.eq(4).any(0)] = 0  # changed in place: the same object, but another graph
    assert not torch.allclose(conv(x, edges), first)
    conv(x.double(), edges)
    conv(x, edges.clone())
    assert len(built) == 4
    uncached = CGNNConv(2, ordinary.n, t1=1.0, cached=False)
    uncached(x, edges)
    uncached(x, edges)
    assert len(built) == 6


def test_reset_parameters_restores_the_initial_state_from_a_seed(ordinary):
    net = model(ordinary, weight=True)
    start = {k: v.clone() for k, v in net.state_dict().items()}
    with torch.no_grad():
        for p in net.parameters():
            p.add_(1)
    net.reset_parameters([torch.Generator().manual_seed(5)])
    first = {k: v.clone() for k, v in net.state_dict().items()}
    net.reset_parameters([torch.Generator().manual_seed(5)])
    assert all(torch.equal(v, first[k]) for k, v in net.state_dict().items())
    for name in ("conv.theta", "conv.weight.U", "conv.weight.M"):
        assert torch.equal(first[name], start[name])
    assert not torch.equal(first["encoder.weight"], start["encoder.weight"])


def test_the_repr_lists_the_settings(ordinary):
    text = repr(model(ordinary, weight=True))
    options = "num_nodes=6, t1=2, alpha=0.9, gamma=0.5, weight=True, variant='continuous', solver='exact'"
    assert f"CGNNConv(4, {options})" in text
    assert "SparseLinear(5, 4" in text


#: Tolerances for scores and parameters after five training steps, relative to the largest entry of a tensor, as stated
#: in docs/library.md. Measured with default and AVX2 kernels on Cora: 1.7e-5 and 3.8e-4 in float32.
SIDE_BY_SIDE_TOLERANCE = {torch.float32: (1e-4, 2e-3), torch.float64: (1e-9, 1e-8)}


def train_five_steps(x, edge_index, y, seeds, replicas, make):
    """The scores, (n, R, C) or (n, C), and the parameters after five steps; each replica has its own random streams."""
    net = make(replicas)
    net.reset_parameters([torch.Generator().manual_seed(seed) for seed in seeds])
    net.set_generators([torch.Generator().manual_seed(100 + seed) for seed in seeds])
    optimiser = torch.optim.RMSprop(net.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(5):
        optimiser.zero_grad()
        out = net(x, edge_index)
        each = [out] if replicas is None else out.unbind(1)
        sum(torch.nn.functional.cross_entropy(one[: len(y)], y) for one in each).backward()
        optimiser.step()
        net.after_step()
    return net.eval()(x, edge_index).detach(), dict(net.named_parameters())


def check_side_by_side(x, edge_index, y, make, same):
    scores, parameters = train_five_steps(x, edge_index, y, [1, 2, 3], 3, make)
    score_tolerance, parameter_tolerance = SIDE_BY_SIDE_TOLERANCE[scores.dtype]
    for r, seed in enumerate([1, 2, 3]):
        alone, expected = train_five_steps(x, edge_index, y, [seed], None, make)
        same(scores[:, r], alone, score_tolerance)
        for name, value in expected.items():
            found = parameters[name][:, r] if name == "conv.theta" else parameters[name][r]
            same(found, value, parameter_tolerance)
    assert not torch.allclose(scores[:, 0], scores[:, 1], rtol=1e-2), "replicas must differ"


EVERY_KIND = pytest.mark.parametrize("options", [{}, {"weight": True}, {"variant": "discrete"}], ids=str)


@pytest.mark.numerics
@EVERY_KIND
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", SIDE_BY_SIDE_TOLERANCE)
def test_a_replica_trained_side_by_side_equals_the_same_replica_alone_within_tolerance(
    ordinary, same, options, sparse, dtype
):
    x = features(ordinary, dtype)

    def make(replicas):
        return model(ordinary, input_dropout=0.5, dropout=0.3, replicas=replicas, **options).to(dtype)

    y = torch.tensor([0, 1, 2, 0, 1, 2])
    check_side_by_side(x.to_sparse_csr() if sparse else x, ordinary.edge_index, y, make, same)


@pytest.mark.numerics
@EVERY_KIND
def test_replicas_side_by_side_are_within_the_same_tolerance_on_cora(dataset, same, options):
    graph = dataset("cora")
    x = torch.from_numpy(graph.features.toarray()).float()
    x = (x / x.sum(1, keepdim=True)).to_sparse_csr()
    edges = torch.from_numpy(graph.edges)
    y = torch.from_numpy(graph.labels).long()[:140]  # the fixed split trains on the first 140 nodes

    def make(replicas):
        settings = {"t1": 12.1, "alpha": 0.918, "gamma": 0.555, "dropout": 0.3}
        return CGNN(1433, 16, 7, 2708, replicas=replicas, **settings, **options)

    check_side_by_side(x, torch.cat([edges, edges.flip(0)], 1), y, make, same)


@pytest.mark.numerics
@EVERY_KIND
def test_training_twice_from_one_seed_gives_the_same_bytes(ordinary, options):
    def make(replicas):
        return model(ordinary, input_dropout=0.5, dropout=0.3, **options)

    x, y = features(ordinary).to_sparse_csr(), torch.tensor([0, 1, 2, 0, 1, 2])
    first, again = (train_five_steps(x, ordinary.edge_index, y, [1], None, make) for _ in range(2))
    assert torch.equal(first[0], again[0])
    assert all(torch.equal(value, again[1][name]) for name, value in first[1].items())


@pytest.mark.parametrize("solver", ["exact", "exact_recompute", "dopri5", "dopri5_adjoint", "rk4"])
@pytest.mark.parametrize("weight", [False, True])
def test_solvers_are_interchangeable_in_the_model(ordinary, same, solver, weight):
    x, outputs = features(ordinary, torch.float64), []
    for name in ("exact", solver):
        net = model(ordinary, fidelity=preset("released", solver=name), weight=weight).double()
        out = net(x, ordinary.edge_index)
        outputs.append([out, *torch.autograd.grad(out.square().sum(), list(net.parameters()))])
    for a, b in zip(*outputs, strict=True):
        same(b, a, 1e-3 if solver == "rk4" else 1e-5)


def test_without_weights_augmentation_changes_nothing(ordinary):
    x = features(ordinary)
    out = [
        model(ordinary, fidelity=preset("released", augmentation=a))(x, ordinary.edge_index) for a in ("none", "zeros")
    ]
    assert torch.equal(*out)


def test_the_orthogonality_update_moves_U_towards_an_orthogonal_matrix():
    weight = OrthogonalWeight(6, beta=0.5)
    with torch.no_grad():
        weight.U.add_(0.05 * torch.randn(6, 6))
    U = weight.U.detach().clone()
    weight.after_step()
    assert torch.allclose(weight.U, 1.5 * U - 0.5 * U @ U.T @ U, atol=1e-6)
    for _ in range(5):
        weight.after_step()
    assert torch.allclose(weight.U @ weight.U.T, torch.eye(6), atol=1e-5)


@pytest.mark.parametrize("clamp, lowest, highest", [("closed", 0.0, 1.0), ("open", 1e-4, 1 - 1e-4)])
def test_eigenvalues_of_W_are_clamped(clamp, lowest, highest):
    weight = OrthogonalWeight(2, clamp=clamp)
    with torch.no_grad():
        weight.M.copy_(torch.tensor([-3.0, 7.0]))
    assert torch.allclose(weight().diagonal(), torch.tensor([lowest, highest]))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"variant": "sideways"}, "variant: found 'sideways', expected one of continuous, discrete, no_h0"),
        ({"variant": "discrete", "weight": True}, "with weight=True"),
        ({"alpha": 1.5, "fidelity": preset("paper")}, "alpha: found 1.5"),
    ],
)
def test_the_error_names_a_wrong_setting(ordinary, options, message):
    with pytest.raises(UserError, match=message):
        model(ordinary, **options)


def test_the_error_names_a_wrong_shape(ordinary):
    net = model(ordinary)
    with pytest.raises(UserError, match="features: found 9 columns, expected 5"):
        net(torch.randn(ordinary.n, 9), ordinary.edge_index)
    with pytest.raises(UserError, match="x: found 9 nodes, expected 6"):
        net(torch.randn(9, 5), ordinary.edge_index)


def test_discrete_steps_and_no_h0_follow_their_switches(ordinary, oracle):
    x = torch.randn(ordinary.n, 2, dtype=torch.float64)

    def conv(variant, **switches):
        layer = CGNNConv(
            2, ordinary.n, t1=3.0, alpha=0.8, gamma=0.5, variant=variant, fidelity=preset("paper", **switches)
        )
        return layer.double()(x, ordinary.edge_index)

    alpha = torch.full((ordinary.n,), 0.8, dtype=torch.float64)
    M = oracle.M(ordinary.edge_index, ordinary.n, 0.5, alpha, "paper")
    A = M + torch.eye(ordinary.n)
    powers = [torch.linalg.matrix_power(A, i) for i in range(51)]
    assert torch.allclose(conv("discrete", discrete_steps="t1"), sum(powers[:4]) @ x, atol=1e-6)
    assert torch.allclose(conv("discrete", discrete_steps="50"), sum(powers) @ x, atol=1e-5)
    assert torch.allclose(conv("no_h0", no_h0="discussion"), torch.linalg.matrix_exp(3 * M) @ x, atol=1e-6)
    assert torch.allclose(conv("no_h0", no_h0="printed"), x + 3 * M @ x, atol=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is available")
@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("replicas", [None, 2])
def test_a_gpu_gives_the_result_of_the_cpu(ordinary, options, replicas):
    net, x = model(ordinary, replicas=replicas, **options), features(ordinary)
    expected = net(x, ordinary.edge_index)
    found = net.cuda()(x.to_sparse_csr().cuda(), ordinary.edge_index.cuda())
    assert torch.allclose(found.cpu(), expected, atol=1e-4)


def test_importing_cgnn_does_not_import_torch(modules_after):
    assert "torch" not in modules_after("import cgnn")
