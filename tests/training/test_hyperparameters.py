"""Published hyperparameters, their files, and the checks of their values."""

from pathlib import Path

import pytest

from cgnn.errors import UserError
from cgnn.paper import hyperparameters as hyper
from cgnn.paper.fidelity import preset


def published(*arguments: object) -> hyper.Hyperparameters:
    """Published hyperparameters that must exist."""
    found = hyper.published(*arguments)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_published_settings_of_cgnn_on_cora_agree_with_the_appendix() -> None:
    found = published("cora", "fixed", "cgnn")
    assert (found.lr, found.t1, found.alpha, found.gamma) == (4.7e-3, 12.1, 0.918, 0.555)
    assert (found.optimizer, found.hidden, found.weight_decay, found.epochs) == ("rmsprop", 16, 5e-4, 400)
    assert (found.input_dropout, found.dropout) == (0.5, 0.0)


def test_random_splits_have_separate_settings() -> None:
    found = published("pubmed", "random", "cgnn")
    assert (found.t1, found.optimizer) == (22.0, "adam")


def test_settings_that_the_paper_does_not_print_are_none() -> None:
    assert hyper.published("cora", "random", "cgnn_weight") is None
    assert hyper.published("cora", "fixed", "no_such_model") is None


def test_partial_nell_uses_the_settings_of_nell_and_an_own_graph_those_of_cora() -> None:
    assert hyper.published("nell_partial", "fixed", "cgnn") == hyper.published("nell", "fixed", "cgnn")
    assert hyper.published("mine", "fixed", "gat") == hyper.published("cora", "fixed", "gat")


def test_baselines_have_the_settings_of_their_papers() -> None:
    gcn, gat = published("cora", "fixed", "gcn"), published("pubmed", "fixed", "gat")
    assert (gcn.lr, gcn.weight_decay, gcn.hidden, gcn.dropout, gcn.layers) == (0.01, 5e-4, 16, 0.5, 2)
    assert (gat.lr, gat.weight_decay, gat.heads, gat.output_heads, gat.dropout) == (0.01, 1e-3, 8, 8, 0.6)


def test_saved_settings_load_unchanged(tmp_path: Path) -> None:
    settings = published("citeseer", "fixed", "cgnn")
    hyper.save(settings, tmp_path / "best.yaml", trial=7, objective=71.2)
    assert hyper.load(tmp_path / "best.yaml") == settings


def test_a_flat_file_is_read_and_may_contain_numbers_that_yaml_reads_as_text(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("{lr: 1e-2, weight_decay: 5e-4, optimizer: adam, hidden: 8, input_dropout: 0, dropout: 0.5}")
    assert hyper.load(path).lr == 0.01


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"laers": 3}, "unknown hyperparameter 'laers'; did you mean layers"),
        ({"layers": "2.5"}, "layers: found '2.5', expected int"),
        ({"lr": "fast"}, "lr: found 'fast', expected float"),
        ({"lr": -1}, "lr: found -1.0, expected a number > 0"),
        ({"dropout": 1.0}, "dropout: found 1.0"),
        ({"optimizer": "sgd"}, "optimizer: found 'sgd', expected one of adam, rmsprop, adamax"),
    ],
)
def test_the_error_names_a_bad_value_and_what_is_allowed(change: dict, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        hyper.override(published("cora", "fixed", "gcn"), **change)


def test_the_error_names_missing_keys_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "short.yaml"
    path.write_text("lr: 0.1\n")
    with pytest.raises(UserError, match=r"short\.yaml.*'weight_decay', 'optimizer'"):
        hyper.load(path)


OWN = (
    hyper.OwnHyperparameter("teleport", 0.1, low=0, high=1),
    hyper.OwnHyperparameter("steps", 10, low=1),
    hyper.OwnHyperparameter("activation", "relu", choices=("relu", "elu")),
)
COMMON = {"lr": 0.01, "weight_decay": 0, "optimizer": "adam", "hidden": 8, "input_dropout": 0, "dropout": 0}


def test_hyperparameters_of_one_model_are_sorted_text_in_one_column() -> None:
    settings = hyper.from_mapping({**COMMON, "steps": "3"}, own=OWN)
    assert hyper.own_text(settings) == "activation=relu;steps=3;teleport=0.1"
    assert hyper.parse_own(hyper.own_text(settings)) == dict(settings.own)
    assert hyper.own_text(hyper.from_mapping(COMMON)) == "" and hyper.parse_own("") == {}


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"teleport": 1}, r"teleport: found 1.0, expected a number in \[0, 1\)"),
        ({"steps": 0}, "steps: found 0, expected an integer ≥ 1"),
        ({"steps": 2.5}, "steps: found 2.5, expected int"),
        ({"activation": "sine"}, "activation: found 'sine', expected one of relu, elu"),
        ({"telport": 0.1}, "unknown hyperparameter 'telport'; did you mean teleport"),
    ],
)
def test_the_error_names_a_bad_value_of_a_hyperparameter_of_one_model(values: dict, complaint: str) -> None:
    with pytest.raises(UserError, match=f"mine.yaml: {complaint}"):
        hyper.from_mapping({**COMMON, **values}, where="mine.yaml", own=OWN)


def test_a_hyperparameter_of_one_model_cannot_have_a_common_name() -> None:
    with pytest.raises(ValueError, match="'lr' cannot name"):
        hyper.OwnHyperparameter("lr", 0.1)


def test_published_values_of_a_model_come_from_the_file_without_declarations() -> None:
    found = published("cora", "fixed", "gcn_gode")
    assert hyper.parse_own(hyper.own_text(found))["activation"] == "softplus"


def test_the_baseline_of_a_record_is_used_if_baselines_yaml_has_none() -> None:
    baseline = {"default": {**COMMON, "teleport": 0.2}, "pubmed": {"lr": 0.5}}
    found = published("pubmed", "fixed", "no_such_model", OWN, baseline)
    assert (found.lr, found.epochs, found.value("teleport"), found.value("steps")) == (0.5, 400, 0.2, 10)


def test_the_optimizer_switch_replaces_the_tabulated_one() -> None:
    settings = published("cora", "fixed", "cgnn")
    assert hyper.under(settings, preset("released")) is settings
    assert hyper.under(settings, preset("released", optimizer="adamax")).optimizer == "adamax"


def test_every_rule_of_random_splits_uses_the_settings_for_random_splits() -> None:
    for kind in ("pool", "component"):
        assert hyper.published("cora", kind, "cgnn") == hyper.published("cora", "random", "cgnn")
        assert hyper.published("cora", kind, "cgnn_weight") is None
