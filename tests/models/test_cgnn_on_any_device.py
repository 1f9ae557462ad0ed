"""No tensor is created on the CPU if the data is on another device; tested without a GPU.

Inside ``Elsewhere`` every tensor that is created without an explicit device is a meta tensor, which has no data. An
operation on it and the data on the CPU fails, as an operation on a CPU tensor and data on CUDA would.
"""

from typing import get_args, get_type_hints

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from cgnn.datasets.synthetic import Parameters, generate
from cgnn.dynamics.operator import normalised_adjacency
from cgnn.models.registry import MODELS, build, entry
from cgnn.paper.fidelity import PRESETS, Fidelity, preset
from cgnn.paper.hyperparameters import override, published
from cgnn.training.loop import train
from cgnn.training.tensors import graph_tensors, split_tensors

CPU = torch.device("cpu")
SOLVERS = get_args(get_type_hints(Fidelity)["solver"])
TRAININGS = [
    pytest.param(
        model, name, solver, side_by_side, id=f"{model}-{name}-{solver}-{'replicas' if side_by_side else 'one'}"
    )
    for model in MODELS
    for name in PRESETS
    for solver in (SOLVERS if entry(model).family == "cgnn" and "variant" not in entry(model).options else ["exact"])
    for side_by_side in ([False, True] if entry(model).side_by_side and solver == "exact" else [False])
]


class Elsewhere(TorchFunctionMode):
    """Like ``torch.device("meta")``, except for sparse matrices, which are on the device of their components."""

    CREATE = tuple(f for f in _device_constructors() if not f.__name__.startswith("sparse_"))

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in self.CREATE and kwargs.get("device") is None:
            kwargs["device"] = "meta"
        return function(*args, **kwargs)


@pytest.fixture(scope="module")
def graph():
    return generate("small", Parameters(nodes=60, classes=3, features=12, words=4.0))


def settings(model):
    return override(published("cora", "fixed", model), epochs=2, hidden=8, t1=1)


@pytest.mark.parametrize("model, name, solver, side_by_side", TRAININGS)
def test_a_training_creates_every_tensor_on_the_device_of_its_data(graph, model, name, solver, side_by_side):
    seeds = [1, 2] if side_by_side else [1]
    data = graph_tensors(graph, "rows", CPU)
    splits = split_tensors(data, [graph.fixed_split] * len(seeds))
    net = build(model, data, settings(model), preset(name, solver=solver), seeds)
    with Elsewhere():
        assert torch.zeros(1).is_meta
        trace = train(net, data, splits, settings(model))
    assert trace.train_loss.isfinite().all() and trace.train_loss.device == CPU


@pytest.mark.parametrize("model", [name for name in MODELS if entry(name).profile_options])
def test_a_profiled_model_creates_every_tensor_on_the_device_of_its_data(graph, model):
    data = graph_tensors(graph, "rows", CPU)
    net = build(model, data, settings(model), preset("released"), [1], **entry(model).profile_options)
    with Elsewhere():
        assert train(net, data, split_tensors(data, [graph.fixed_split]), settings(model)).train_loss.isfinite().all()


def test_the_graph_is_normalised_on_the_device_of_its_edges():
    edges = torch.tensor([[0, 1], [1, 0]])
    with torch.device("meta"):  # as under torch.set_default_device
        found = normalised_adjacency(edges, None, 2, 1.0)
    assert torch.equal(found.to_dense(), torch.full((2, 2), 0.5))
