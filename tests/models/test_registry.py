import subprocess
import sys

import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv

from cgnn.datasets.synthetic import Parameters, generate
from cgnn.errors import UserError
from cgnn.models.registry import MODELS, build, entry, modules_of
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import override, published
from cgnn.paper.reported import load_reported
from cgnn.pipeline.fingerprint import import_closure
from cgnn.training.loop import train
from cgnn.training.tensors import graph_tensors, split_tensors


def test_every_model_the_paper_reports_is_there() -> None:
    reported = load_reported().raw
    assert {*reported["fixed_split_accuracy"], *reported["random_split_accuracy"]} <= set(MODELS)
    assert {"cgnn_no_h0", "gcn_residual"} <= set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns_an_easy_graph(model: str) -> None:
    graph = generate(
        "easy", Parameters(nodes=120, classes=3, features=30, homophily=1.0, word_homophily=1.0, words=5.0)
    )
    assert graph.fixed_split is not None
    settings = published("cora", "fixed", model)
    assert settings is not None
    settings = override(settings, epochs=25, lr=0.02, t1=1, hidden=8, input_dropout=0, dropout=0)
    data = graph_tensors(graph, "rows", torch.device("cpu"))
    trace = train(
        build(model, data, settings, Fidelity(), [1]), data, split_tensors(data, [graph.fixed_split]), settings
    )
    assert trace.train_loss[-1, 0] < 0.8 * trace.train_loss[0, 0]
    assert trace.test_correct[:, 0].max() > 0.8 * len(graph.fixed_split.test)


@pytest.mark.parametrize("model", [name for name in MODELS if MODELS[name].axis == "layers"])
@pytest.mark.parametrize("layers", [1, 2, 16])
def test_discrete_models_are_built_at_any_depth(model: str, layers: int) -> None:
    graph = generate("tiny", Parameters(nodes=40, classes=2, features=10, words=3.0))
    settings = published("cora", "fixed", model)
    assert settings is not None
    data = graph_tensors(graph, "rows", torch.device("cpu"))
    module = build(model, data, override(settings, layers=layers), Fidelity(), [0])
    assert len(module.convs) == layers
    assert module(data.x, data.edge_index).shape == (40, 2)


def test_the_seed_decides_the_start() -> None:
    graph = generate("tiny", Parameters(nodes=40, classes=2, features=10, words=3.0))
    data = graph_tensors(graph, "rows", torch.device("cpu"))
    for model in ("gcn", "cgnn"):
        settings = published("cora", "fixed", model)
        assert settings is not None
        first, again, other = (list(build(model, data, settings, Fidelity(), [s]).parameters()) for s in (3, 3, 4))
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
        assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("model", ["gcn", "gcn_residual", "gat"])
def test_profiles_measure_pygs_own_layers_and_trainings_run_the_fused_ones(model: str) -> None:
    graph = generate("tiny", Parameters(nodes=40, classes=2, features=10, words=3.0))
    data = graph_tensors(graph, "rows", torch.device("cpu"))
    settings = published("cora", "fixed", model)
    assert settings is not None
    trained = build(model, data, settings, Fidelity(), [0])
    profiled = build(model, data, settings, Fidelity(), [0], **entry(model).profile_options)
    assert trained.fused and all(type(conv).__name__.startswith("Fused") for conv in trained.convs)
    assert not profiled.fused and all(type(conv) in (GCNConv, GATConv) for conv in profiled.convs)


def test_an_unknown_model_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean gcn_residual"):
        entry("gcn_residuals")


def test_the_solver_is_part_of_cgnn_and_of_no_baseline() -> None:
    assert "cgnn.dynamics.chebyshev" in modules_of("cgnn", Fidelity())
    assert "cgnn.dynamics.adaptive" in modules_of("cgnn", Fidelity(solver="dopri5_adjoint"))
    for model in ("gcn", "gat", "gcn_residual", "gcn_gode", "gat_gode", "cgnn_discrete"):
        closure = import_closure("cgnn.training.replicas", *modules_of(model, Fidelity()))
        assert "cgnn.dynamics.chebyshev" not in closure, model


def test_the_table_of_models_is_part_of_no_training() -> None:
    """Else a line for a new model would retrain all the others."""
    for model in MODELS:
        assert "cgnn.models.registry" not in import_closure("cgnn.training.replicas", *modules_of(model, Fidelity()))
        assert "cgnn.models.registry" not in import_closure("cgnn.training.profiling", *modules_of(model, Fidelity()))


def test_planning_loads_no_torch() -> None:
    code = (
        "import sys; from cgnn.pipeline.provenance import *; from cgnn.paper.fidelity import preset;"
        "import cgnn.cli.train;"
        "training_fingerprint('cgnn', preset('released')); profile_fingerprint('cgnn_adjoint', preset('paper'));"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
