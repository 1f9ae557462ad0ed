import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv

from cgnn.datasets.synthetic import Parameters, generate
from cgnn.errors import UserError
from cgnn.models.records import RECORDS as MODELS
from cgnn.models.records import SOLVER_DASHES, SOLVER_LABELS, SOLVER_SUFFIXES, split_method
from cgnn.models.registry import (
    build,
    check_settings,
    complete,
    entry,
    load,
    modules_of,
    published,
    resolve_method,
    switches_of,
    types_of,
)
from cgnn.paper.fidelity import Fidelity, preset
from cgnn.paper.hyperparameters import override, save
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
    quiet = {name: 0 for name in dict(settings.own) if name.endswith("dropout")}
    settings = override(settings, **quiet)
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
    if hasattr(module, "convs"):
        assert len(module.convs) == layers
    else:
        assert module.steps == layers
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
    for model in ("gcn", "gat", "gcn_residual", "gcn_gode", "gat_gode", "cgnn_discrete", "appnp", "sgc"):
        closure = import_closure("cgnn.training.replicas", *modules_of(model, Fidelity()))
        assert "cgnn.dynamics.chebyshev" not in closure, model


def test_the_table_of_models_is_part_of_no_training() -> None:
    """Else a line for a new model would retrain all the others."""
    for model in MODELS:
        for job in ("cgnn.training.replicas", "cgnn.training.profiling"):
            closure = import_closure(job, *modules_of(model, Fidelity()))
            assert not closure & {"cgnn.models.registry", "cgnn.models.records", "cgnn.models.names"}


def test_planning_loads_no_torch() -> None:
    code = (
        "import sys; from cgnn.pipeline.provenance import *; from cgnn.paper.fidelity import preset;"
        "import cgnn.cli.train;"
        "training_fingerprint('cgnn', preset('released')); profile_fingerprint('cgnn_adjoint', preset('paper'));"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_decides_numbers_is_plain_and_has_neither_label_nor_look() -> None:
    for record in MODELS.values():
        deciding = record.deciding()
        assert json.loads(json.dumps(deciding)) == deciding
        assert replace(record, label="other", color="#123456", marker="1").deciding() == deciding
        assert replace(record, module="cgnn.models.other").deciding() != deciding


def test_labels_and_looks_tell_models_apart() -> None:
    assert len({record.label for record in MODELS.values()}) == len(MODELS)
    assert len({(record.color, record.marker) for record in MODELS.values()}) == len(MODELS)
    assert set(SOLVER_DASHES) == set(SOLVER_LABELS) == {*SOLVER_SUFFIXES, "released"}
    assert (
        len(set(SOLVER_DASHES.values())) == len({dashes for dashes, _ in SOLVER_DASHES.values()}) == len(SOLVER_DASHES)
    )


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("gcn", ("gcn", "")),
        ("cgnn_weight", ("cgnn_weight", "")),
        ("cgnn_weight_exact_recompute", ("cgnn_weight", "exact_recompute")),
        ("cgnn_rk4_adjoint", ("cgnn", "rk4_adjoint")),
        ("gcn_exact", ("gcn_exact", "")),
    ],
)
def test_a_method_is_a_model_and_perhaps_its_solver(method: str, expected: tuple[str, str]) -> None:
    assert split_method(method) == expected


def test_every_solver_of_a_method_is_one_of_the_switch() -> None:
    for suffix, solver in SOLVER_SUFFIXES.items():
        if suffix == "adjoint_no_augmentation":
            continue
        assert resolve_method(f"cgnn_weight_{suffix}", Fidelity()) == ("cgnn_weight", Fidelity(solver=solver))  # type: ignore[arg-type]
    _, fidelity = resolve_method("cgnn_adjoint_no_augmentation", Fidelity())
    assert (fidelity.solver, fidelity.augmentation) == ("dopri5_adjoint", "none")
    with pytest.raises(UserError, match="model: found 'cgnn_released'"):
        resolve_method("cgnn_released", Fidelity())


def test_a_models_own_hyperparameters_are_set_checked_saved_and_loaded(tmp_path: Path) -> None:
    settings = published("cora", "fixed", "appnp")
    assert settings is not None
    assert settings.own == (("edge_dropout", 0.5), ("teleport", 0.1))
    changed = override(settings, teleport="0.2", lr="0.1")
    assert (changed.value("teleport"), changed.value("lr"), changed.value("edge_dropout")) == (0.2, 0.1, 0.5)
    save(changed, tmp_path / "best.yaml", trial=3)
    assert load(tmp_path / "best.yaml", "appnp") == changed
    with pytest.raises(UserError, match=r"best.yaml: unknown hyperparameter 'edge_dropout'"):
        load(tmp_path / "best.yaml", "gcn")
    with pytest.raises(UserError, match=r"appnp: teleport: found 1.5, expected a number in \[0, 1\)"):
        complete("appnp", override(settings, teleport=1.5))
    with pytest.raises(UserError, match="activation: found 'sine', expected one of relu, softplus"):
        gode = published("cora", "fixed", "gcn_gode")
        assert gode is not None
        complete("gcn_gode", override(gode, activation="sine"))


def test_missing_own_hyperparameters_get_the_records_defaults() -> None:
    settings = published("cora", "fixed", "gcn")
    assert settings is not None
    assert dict(complete("appnp", settings).own) == {"edge_dropout": 0.5, "teleport": 0.1}


def test_types_are_those_of_the_hyperparameters_that_the_model_reads() -> None:
    gode = types_of("gcn_gode")
    assert (gode["activation"], gode["solver_steps"], gode["lr"], gode["t1"]) == (str, int, float, float)
    assert "layers" not in gode and "hidden" not in types_of("sgc") and "beta" in types_of("cgnn_weight")


@pytest.mark.parametrize(
    ("model", "switches", "settings", "complaint"),
    [
        ("gcn", [], ["t1"], r"--set t1: gcn does not use it; gcn uses lr, .*layers"),
        ("cgnn", [], ["layers"], "--set layers: cgnn does not use it"),
        ("gcn", [], ["laers"], "--set: unknown hyperparameter 'laers'; did you mean layers"),
        ("cgnn_appnp", ["derivative"], [], "--switch derivative: cgnn_appnp does not use it"),
        ("gcn", ["alpha"], [], "--switch alpha: gcn does not use it; gcn uses features, optimizer, selection"),
        ("cgnn", ["weight_clamp"], [], "--switch weight_clamp: cgnn does not use it"),
        ("cgnn_discrete", ["solver"], [], "--switch solver: cgnn_discrete does not use it"),
    ],
)
def test_a_setting_that_changes_nothing_is_refused(
    model: str, switches: list[str], settings: list[str], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        check_settings(model, switches, settings)


def test_settings_that_a_model_reads_pass() -> None:
    check_settings("cgnn_weight", ["weight_clamp", "optimizer"], ["t1", "beta"])
    check_settings("appnp", ["features"], ["teleport", "layers"])


RELEASED = preset("released")
#: Values that differ from it.
FLIPPED = {
    "derivative": "paper",
    "alpha": "tabulated",
    "source_gradient": "flows",
    "augmentation": "none",
    "weight_clamp": "open",
    "discrete": "hybrid",
    "discrete_steps": "50",
    "no_h0": "printed",
}


@pytest.mark.parametrize("model", [name for name in MODELS if MODELS[name].family == "cgnn"])
@pytest.mark.parametrize("switch", FLIPPED)
def test_a_switch_that_a_model_does_not_read_changes_nothing(model: str, switch: str) -> None:
    graph = generate("tiny", Parameters(nodes=40, classes=2, features=10, words=3.0))
    data = graph_tensors(graph, "rows", torch.device("cpu"))
    settings = published("cora", "fixed", model)
    assert settings is not None

    def gradients(fidelity: Fidelity) -> list[torch.Tensor]:
        module = build(model, data, settings, fidelity, [0])
        if module.conv.weight is not None:  # type: ignore[union-attr]
            module.conv.weight.M.data.fill_(1.2)  # type: ignore[union-attr]
        out = module.eval()(data.x, data.edge_index)
        out.square().sum().backward()
        return [out.detach(), *(p.grad for p in module.parameters() if p.grad is not None)]

    before, after = gradients(RELEASED), gradients(replace(RELEASED, **{switch: FLIPPED[switch]}))
    same = len(before) == len(after) and all(
        a.shape == b.shape and torch.allclose(a, b, rtol=1e-4, atol=1e-7) for a, b in zip(before, after, strict=True)
    )
    if switch not in switches_of(model):
        assert same
    elif (model, switch) not in {
        ("cgnn", "augmentation"),
        ("cgnn_no_h0", "augmentation"),
        ("cgnn_no_h0", "source_gradient"),
    }:
        # Without weights augmentation is a proven no-op, and H' = MH has no source term.
        assert not same


@pytest.mark.parametrize("decay", ["all", "weights_only"])
def test_weight_decay_acts_on_alphas_parameter_only_under_all(decay: str) -> None:
    graph = generate("tiny", Parameters(nodes=40, classes=2, features=10, words=3.0))
    data = graph_tensors(graph, "rows", torch.device("cpu"))
    settings = published("cora", "fixed", "cgnn_weight")
    assert settings is not None
    module = build("cgnn_weight", data, settings, Fidelity(alpha_decay=decay), [0])  # type: ignore[arg-type]
    groups = module.parameter_groups(5e-4)  # type: ignore[operator]
    decayed = {id(parameter) for group in groups if group["weight_decay"] for parameter in group["params"]}
    assert sum(len(group["params"]) for group in groups) == len(list(module.parameters()))
    assert (id(module.conv.theta) in decayed) == (decay == "all")  # type: ignore[union-attr]
    assert len(decayed) == len(list(module.parameters())) - (decay != "all")
