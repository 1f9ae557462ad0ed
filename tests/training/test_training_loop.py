"""The training loop against a plain one, its random streams, and replicas that fail."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from cgnn.datasets.graph import Graph
from cgnn.datasets.splits import Split, random_split
from cgnn.models import registry
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters, override, published
from cgnn.training.loop import make_optimizer, train
from cgnn.training.replicas import Outcome, Replica, train_replicas
from cgnn.training.tensors import GraphTensors, graph_tensors, split_tensors

CPU = torch.device("cpu")


def settings(model: str, **changes: object) -> Hyperparameters:
    found = published("cora", "fixed", model)
    assert found is not None
    return override(found, **{"epochs": 12, **changes})


def outcomes(graph: Graph, model: str, splits: dict[int, Split], together: bool, **changes: object) -> list[Outcome]:
    hyperparameters, fidelity = settings(model, **changes), Fidelity()
    data = graph_tensors(graph, "rows", CPU)
    build = partial(registry.build, model, data, hyperparameters, fidelity)
    replicas = [Replica(index, split, "small", model) for index, split in splits.items()]
    run = partial(train_replicas, selection="best_validation", side_by_side=together)
    return list(run(build, data, replicas, hyperparameters))


def assert_same(one: Outcome, other: Outcome) -> None:
    assert one.replica == other.replica and one.selected == other.selected
    assert one.curves is not None and other.curves is not None
    for name, curve in vars(one.curves).items():
        np.testing.assert_array_equal(curve, getattr(other.curves, name))


class Perceptron(nn.Module):
    """A deterministic model, so that two loops can be compared exactly."""

    def __init__(self, data: GraphTensors) -> None:
        super().__init__()
        self.layer = nn.Linear(data.num_features, data.num_classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.layer(x.to_dense())


@pytest.mark.parametrize(
    ("name", "optimizer"), [("adam", torch.optim.Adam), ("rmsprop", torch.optim.RMSprop)], ids=["adam", "rmsprop"]
)
def test_the_loop_agrees_with_a_plain_one(
    small_data: GraphTensors, small_split: Split, name: str, optimizer: type
) -> None:
    data, split = small_data, small_split
    torch.manual_seed(3)
    model = Perceptron(data)
    plain = nn.Linear(data.num_features, data.num_classes)
    plain.load_state_dict(model.layer.state_dict())
    trace = train(model, data, split_tensors(data, [split]), settings("cgnn", optimizer=name, lr=0.05, epochs=30))

    plain_optimizer = optimizer(plain.parameters(), lr=0.05, weight_decay=5e-4)
    x, labels = data.original_order(data.x.to_dense(), axis=0), data.original_order(data.labels)
    for epoch in range(30):
        plain_optimizer.zero_grad()
        loss = functional.cross_entropy(plain(x)[split.train], labels[split.train])
        loss.backward()
        plain_optimizer.step()
        predicted = plain(x).argmax(dim=1)
        torch.testing.assert_close(trace.train_loss[epoch, 0], loss.detach())
        assert trace.validation_correct[epoch, 0] == (predicted == labels)[split.validation].sum()
        assert trace.test_correct[epoch, 0] == (predicted == labels)[split.test].sum()


def test_weight_decay_applies_to_the_first_layer_of_gcn_and_to_all_parameters_of_cgnn(small_data: GraphTensors) -> None:
    data = small_data
    gcn = registry.build("gcn", data, settings("gcn"), Fidelity(), [0])
    decays = {id(p): g["weight_decay"] for g in make_optimizer(gcn, settings("gcn")).param_groups for p in g["params"]}
    assert {name: decays[id(p)] for name, p in gcn.named_parameters()} == {
        "convs.0.bias": 5e-4,
        "convs.0.lin.weight": 5e-4,
        "convs.1.bias": 0.0,
        "convs.1.lin.weight": 0.0,
    }
    cgnn = registry.build("cgnn", data, settings("cgnn"), Fidelity(), [0])
    (group,) = make_optimizer(cgnn, settings("cgnn")).param_groups
    assert group["weight_decay"] == 5e-4 and len(group["params"]) == len(list(cgnn.parameters())) == 5


def assert_close(one: Outcome, other: Outcome) -> None:
    """Compare with the tolerance that docs/library.md states for five steps side by side and alone."""
    assert one.replica == other.replica
    assert one.curves is not None and other.curves is not None
    assert one.alpha is not None and other.alpha is not None
    np.testing.assert_allclose(one.curves.train_loss, other.curves.train_loss, rtol=1e-4)
    np.testing.assert_allclose(one.alpha, other.alpha, rtol=2e-3)


@pytest.mark.numerics
@pytest.mark.parametrize("model", ["cgnn", "cgnn_weight", "cgnn_discrete", "cgnn_no_h0"])
def test_a_replica_trained_side_by_side_equals_the_same_replica_alone_within_tolerance(
    small_graph: Graph, small_split: Split, model: str
) -> None:
    splits = dict.fromkeys(range(3), small_split)
    together = outcomes(small_graph, model, splits, together=True, dropout=0.2, epochs=5)
    (alone,) = outcomes(small_graph, model, {1: small_split}, together=False, dropout=0.2, epochs=5)
    assert_close(together[1], alone)
    assert together[0].curves is not None and alone.curves is not None
    assert not np.allclose(together[0].curves.train_loss, alone.curves.train_loss, rtol=1e-3), "replicas must differ"


@pytest.mark.numerics
def test_side_by_side_each_replica_keeps_its_own_split(small_graph: Graph) -> None:
    draw = partial(random_split, small_graph.labels, dataset="small", per_class=5, validation=30, test=60)
    splits = {index: draw(name=f"random{index:02d}") for index in range(3)}
    together = outcomes(small_graph, "cgnn", splits, together=True, epochs=5)
    for one, other in zip(together, outcomes(small_graph, "cgnn", splits, together=False, epochs=5), strict=True):
        assert_close(one, other)


@pytest.mark.numerics
@pytest.mark.parametrize("model", ["cgnn", "cgnn_weight", "gcn", "gat"])
def test_the_same_training_twice_gives_the_same_bytes(small_graph: Graph, small_split: Split, model: str) -> None:
    first, again = (outcomes(small_graph, model, {0: small_split}, together=False, epochs=5)[0] for _ in range(2))
    assert_same(first, again)


@pytest.mark.parametrize("model", ["gcn", "gat", "gcn_gode"])
def test_a_replica_of_a_baseline_does_not_depend_on_earlier_ones(
    small_graph: Graph, small_split: Split, model: str
) -> None:
    three = outcomes(small_graph, model, dict.fromkeys(range(3), small_split), together=False, epochs=4)
    torch.rand(1000)  # the state of the global random generator must not matter either
    (alone,) = outcomes(small_graph, model, {2: small_split}, together=False, epochs=4)
    assert_same(three[2], alone)


class Exploding(nn.Module):
    """The output of bad replicas is NaN from the first epoch; the other replicas must not be affected."""

    def __init__(self, data: GraphTensors, bad: list[bool]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(data.num_features, len(bad), data.num_classes))
        self.factor = torch.tensor([float("nan") if explodes else 1.0 for explodes in bad])

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return torch.einsum("nf,frc->nrc", x.to_dense(), self.weight) * self.factor[:, None]


def test_a_diverged_replica_is_an_outcome_and_does_not_affect_the_others(
    small_data: GraphTensors, small_split: Split
) -> None:
    data = small_data
    replicas = [Replica(index, small_split, "small", "x") for index in range(2)]
    run = partial(train_replicas, selection="best_validation", side_by_side=True)
    good, bad = run(lambda seeds: Exploding(data, [False, True]), data, replicas, settings("cgnn"))
    assert (good.status, bad.status) == ("ok", "diverged")
    assert bad.selected is None and good.selected is not None
    (alone,) = run(lambda seeds: Exploding(data, [False]), data, replicas[:1], settings("cgnn"))
    assert_same(good, alone)


def test_a_diverged_training_ends_early(small_data: GraphTensors, small_split: Split) -> None:
    seen: list[int] = []
    replicas = [Replica(0, small_split, "small", "x")]
    run = partial(train_replicas, selection="best_validation", on_epoch=lambda: seen.append(1))
    (bad,) = run(lambda seeds: Exploding(small_data, [True]), small_data, replicas, settings("cgnn", epochs=400))
    assert bad.status == "diverged" and len(seen) < 100


def test_replicas_that_do_not_fit_into_memory_together_are_trained_one_by_one(
    small_data: GraphTensors, small_split: Split
) -> None:
    data, split = small_data, small_split

    def build(seeds: list[int]) -> nn.Module:
        if len(seeds) > 1:
            raise torch.OutOfMemoryError("three at once")
        if seeds[0] == Replica(2, split, "small", "x").seed("init"):
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return Perceptron(data)

    replicas = [Replica(index, split, "small", "x") for index in range(3)]
    run = partial(train_replicas, selection="best_validation", side_by_side=True)
    found = list(run(build, data, replicas, settings("cgnn")))
    assert [outcome.status for outcome in found] == ["ok", "ok", "out_of_memory"]


def test_any_other_error_is_raised(small_data: GraphTensors, small_split: Split) -> None:
    def build(seeds: list[int]) -> nn.Module:
        raise RuntimeError("shapes do not match")

    replicas = [Replica(0, small_split, "small", "x")]
    with pytest.raises(RuntimeError, match="shapes"):
        list(train_replicas(build, small_data, replicas, settings("cgnn"), selection="best_validation"))
