"""The registry of models: building them, their records, hyperparameters and switches."""

import json
from collections.abc import Callable
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
from cgnn.paper.hyperparameters import Hyperparameters, override, save
from cgnn.paper.reported import load_reported
from cgnn.pipeline.fingerprint import import_closure
from cgnn.training.loop import train
from cgnn.training.tensors import GraphTensors, graph_tensors, split_tensors


def settings_of(model: str, **changes: object) -> Hyperparameters:
    """The published hyperparameters of a model on Cora, with changes."""
    settings = published("cora", "fixed", model)
    assert settings is not None
    return override(settings, **changes)


def test_every_model_that_the_paper_reports_is_registered() -> None:
    reported = load_reported().raw
    assert {*reported["fixed_split_accuracy"], *reported["random_split_accuracy"]} <= set(MODELS)
    assert {"cgnn_no_h0", "gcn_residual"} <= set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_learns_an_easy_graph(model: str) -> None:
    graph = generate(
        "easy", Parameters(nodes=120, classes=3, features=30, homophily=1.0, word_homophily=1.0, words=5.0)
    )
    assert graph.fixed_split is not None
    settings = settings_of(model, epochs=25, lr=0.02, t1=1, hidden=8, input_dropout=0, dropout=0)
    settings = override(settings, **{name: 0 for name in dict(settings.own) if name.endswith("dropout")})
    data = graph_tensors(graph, "rows", torch.device("cpu"))
    module, splits = build(model, data, settings, Fidelity(), [1]), split_tensors(data, [graph.fixed_split])
    trace = train(module, data, splits, settings)
    assert trace.train_loss[-1, 0] < 0.8 * trace.train_loss[0, 0]
    assert trace.test_correct[:, 0].max() > 0.8 * len(graph.fixed_split.test)


@pytest.mark.parametrize("model", [name for name in MODELS if MODELS[name].axis == "layers"])
@pytest.mark.parametrize("layers", [1, 2, 16])
def test_discrete_models_can_have_any_depth(tiny_data: GraphTensors, model: str, layers: int) -> None:
    module = build(model, tiny_data, settings_of(model, layers=layers), Fidelity(), [0])
    if hasattr(module, "convs"):
        assert len(module.convs) == layers
    else:
        assert module.steps == layers
    assert module(tiny_data.x, tiny_data.edge_index).shape == (40, 2)


@pytest.mark.parametrize("model", ["gcn", "cgnn"])
def test_the_seed_determines_the_initialisation(tiny_data: GraphTensors, model: str) -> None:
    modules = (build(model, tiny_data, settings_of(model), Fidelity(), [seed]) for seed in (3, 3, 4))
    first, again, other = (list(module.parameters()) for module in modules)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("model", ["gcn", "gcn_residual", "gat"])
def test_profiles_measure_pygs_layers_and_trainings_use_the_fused_ones(tiny_data: GraphTensors, model: str) -> None:
    trained = build(model, tiny_data, settings_of(model), Fidelity(), [0])
    profiled = build(model, tiny_data, settings_of(model), Fidelity(), [0], **entry(model).profile_options)
    assert trained.fused and all(type(conv).__name__.startswith("Fused") for conv in trained.convs)
    assert not profiled.fused and all(type(conv) in (GCNConv, GATConv) for conv in profiled.convs)


def test_the_error_for_an_unknown_model_suggests_the_closest_name() -> None:
    with pytest.raises(UserError, match="did you mean gcn_residual"):
        entry("gcn_residuals")


def test_cgnn_depends_on_the_solver_and_no_baseline_does() -> None:
    assert "cgnn.dynamics.chebyshev" in modules_of("cgnn", Fidelity())
    assert "cgnn.dynamics.adaptive" in modules_of("cgnn", Fidelity(solver="dopri5_adjoint"))
    for model in ("gcn", "gat", "gcn_residual", "gcn_gode", "gat_gode", "cgnn_discrete", "appnp", "sgc"):
        closure = import_closure("cgnn.training.replicas", *modules_of(model, Fidelity()))
        assert "cgnn.dynamics.chebyshev" not in closure, model


def test_no_training_depends_on_the_table_of_models() -> None:
    """Otherwise adding a model would retrain all others."""
    for model in MODELS:
        for job in ("cgnn.training.replicas", "cgnn.training.profiling"):
            closure = import_closure(job, *modules_of(model, Fidelity()))
            assert not closure & {"cgnn.models.registry", "cgnn.models.records", "cgnn.models.names"}


def test_planning_does_not_import_torch(modules_after: Callable[[str], set[str]]) -> None:
    code = (
        "from cgnn.pipeline.provenance import *; from cgnn.paper.fidelity import preset; import cgnn.cli.train;"
        "training_fingerprint('cgnn', preset('released')); profile_fingerprint('cgnn_adjoint', preset('paper'))"
    )
    assert "torch" not in modules_after(code)


def test_the_settings_that_affect_results_are_plain_data_without_label_and_style() -> None:
    for record in MODELS.values():
        deciding = record.deciding()
        assert json.loads(json.dumps(deciding)) == deciding
        assert replace(record, label="other", color="#123456", marker="1").deciding() == deciding
        assert replace(record, module="cgnn.models.other").deciding() != deciding


def test_models_have_different_labels_and_styles() -> None:
    assert len({record.label for record in MODELS.values()}) == len(MODELS)
    assert len({(record.color, record.marker) for record in MODELS.values()}) == len(MODELS)
    assert set(SOLVER_DASHES) == set(SOLVER_LABELS) == {*SOLVER_SUFFIXES, "released"}
    assert len({dashes for dashes, _ in SOLVER_DASHES.values()}) == len(SOLVER_DASHES)


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
def test_a_method_is_a_model_with_an_optional_solver(method: str, expected: tuple[str, str]) -> None:
    assert split_method(method) == expected


def test_every_solver_of_a_method_is_a_value_of_the_switch() -> None:
    for suffix, solver in SOLVER_SUFFIXES.items():
        if suffix == "adjoint_no_augmentation":
            continue
        assert resolve_method(f"cgnn_weight_{suffix}", Fidelity()) == ("cgnn_weight", Fidelity(solver=solver))  # type: ignore[arg-type]
    _, fidelity = resolve_method("cgnn_adjoint_no_augmentation", Fidelity())
    assert (fidelity.solver, fidelity.augmentation) == ("dopri5_adjoint", "none")
    with pytest.raises(UserError, match="model: found 'cgnn_released'"):
        resolve_method("cgnn_released", Fidelity())


def test_hyperparameters_of_one_model_can_be_set_checked_saved_and_loaded(tmp_path: Path) -> None:
    settings = settings_of("appnp")
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
        complete("gcn_gode", settings_of("gcn_gode", activation="sine"))


def test_missing_hyperparameters_of_a_model_have_the_defaults_of_its_record() -> None:
    assert dict(complete("appnp", settings_of("gcn")).own) == {"edge_dropout": 0.5, "teleport": 0.1}


def test_types_are_given_for_the_hyperparameters_that_a_model_uses() -> None:
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
def test_a_setting_that_a_model_does_not_use_is_refused(
    model: str, switches: list[str], settings: list[str], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        check_settings(model, switches, settings)


def test_settings_that_a_model_uses_are_accepted() -> None:
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
def test_a_switch_that_a_model_does_not_use_changes_nothing(tiny_data: GraphTensors, model: str, switch: str) -> None:
    def gradients(fidelity: Fidelity) -> list[torch.Tensor]:
        module = build(model, tiny_data, settings_of(model), fidelity, [0])
        if module.conv.weight is not None:  # type: ignore[union-attr]
            module.conv.weight.M.data.fill_(1.2)  # type: ignore[union-attr]
        out = module.eval()(tiny_data.x, tiny_data.edge_index)
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
        # Without weights augmentation has no effect, and H' = MH has no source term.
        assert not same


@pytest.mark.parametrize("decay", ["all", "weights_only"])
def test_weight_decay_applies_to_the_parameter_of_alpha_only_if_all_decay(tiny_data: GraphTensors, decay: str) -> None:
    fidelity = Fidelity(alpha_decay=decay)  # type: ignore[arg-type]
    module = build("cgnn_weight", tiny_data, settings_of("cgnn_weight"), fidelity, [0])
    groups = module.parameter_groups(5e-4)  # type: ignore[operator]
    decayed = {id(parameter) for group in groups if group["weight_decay"] for parameter in group["params"]}
    assert sum(len(group["params"]) for group in groups) == len(list(module.parameters()))
    assert (id(module.conv.theta) in decayed) == (decay == "all")  # type: ignore[union-attr]
    assert len(decayed) == len(list(module.parameters())) - (decay != "all")
