"""The switches and presets of FIDELITY.md."""

import dataclasses

import pytest

from cgnn.errors import UserError
from cgnn.models.records import RECORDS
from cgnn.models.registry import switches_of
from cgnn.paper.fidelity import PRESETS, Fidelity, preset
from cgnn.pipeline import config


def test_the_two_presets_differ_where_the_paper_and_the_code_differ():
    released, paper = PRESETS["released"], PRESETS["paper"]
    differing = {f.name for f in dataclasses.fields(Fidelity) if getattr(released, f.name) != getattr(paper, f.name)}
    assert differing == {"derivative", "alpha", "source_gradient", "weight_clamp", "features", "discrete_steps"}


def test_both_presets_use_the_exact_solver_and_the_valid_selection_rule():
    for found in PRESETS.values():
        assert (found.solver, found.selection) == ("exact", "best_validation")


def test_one_switch_can_be_flipped_alone():
    flipped = preset("released", alpha="tabulated")
    assert dataclasses.replace(flipped, alpha="sigmoid") == PRESETS["released"]
    assert PRESETS["released"].alpha == "sigmoid"


@pytest.mark.parametrize(
    ("name", "switches", "complaint"),
    [
        ("relased", {}, "preset: found 'relased', expected one of released, paper"),
        ("released", {"alfa": "sigmoid"}, "switch 'alfa' does not exist; expected one of derivative, alpha"),
        ("released", {"alpha": "sigmod"}, "switch alpha: found 'sigmod', expected one of tabulated, sigmoid"),
    ],
)
def test_the_error_names_a_misspelt_preset_switch_or_value_and_lists_the_valid_ones(name, switches, complaint):
    with pytest.raises(UserError, match=complaint):
        preset(name, **switches)


def test_every_switch_is_flipped_in_some_row_of_the_fidelity_table():
    """Except selection: every row contains its accuracy under each rule."""
    flipped = {name for entry in config.load()["fidelity"]["variants"].values() for name in entry.get("switches", {})}
    assert flipped == {field.name for field in dataclasses.fields(Fidelity)} - {"selection"}


def test_every_switch_is_used_by_some_model():
    read = {name for model in RECORDS for name in switches_of(model)}
    assert read == {field.name for field in dataclasses.fields(Fidelity)}


def test_a_fidelity_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PRESETS["paper"].alpha = "sigmoid"
