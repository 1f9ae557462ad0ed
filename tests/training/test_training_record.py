"""A ``Training`` can be converted to command-line options and back."""

import argparse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgnn.errors import UserError
from cgnn.models.registry import MODELS
from cgnn.paper.fidelity import PRESETS
from cgnn.pipeline import plan
from cgnn.pipeline.config import load
from cgnn.training.record import Training, add_training_arguments, as_pairs

WORDS = st.from_regex(r"[a-z][a-z0-9_-]{0,11}", fullmatch=True)


def parsed(words: list[str]) -> Training:
    parser = argparse.ArgumentParser()
    add_training_arguments(parser)
    return Training.from_arguments(parser.parse_args(words))


@settings(deadline=None, derandomize=True)
@given(
    dataset=WORDS,
    split=st.sampled_from(["fixed", "random", "pool", "component", "random03"]),
    model=st.sampled_from([name for name, record in MODELS.items() if record.family == "cgnn"]),
    preset=st.sampled_from(sorted(PRESETS)),
    source=st.sampled_from(["published", "search", "custom"]),
    variant=st.one_of(st.just(""), WORDS),
    switches=st.dictionaries(st.sampled_from(["alpha"]), st.sampled_from(["tabulated", "sigmoid"])),
    values=st.dictionaries(st.sampled_from(["t1", "lr"]), st.floats(1e-4, 100, allow_nan=False)),
    epochs=st.one_of(st.none(), st.integers(1, 1000)),
)
def test_a_training_can_be_converted_to_options_and_back(
    dataset, split, model, preset, source, variant, switches, values, epochs
):
    record = Training(dataset, split, model, preset, source, variant, as_pairs(switches), as_pairs(values), epochs)
    assert parsed(record.arguments()) == record


def test_every_training_of_the_paper_can_be_converted_to_options_and_back():
    trainings = [planned.training for planned in plan.trainings(load())]
    assert len(trainings) > 100
    for training in trainings:
        assert parsed(training.arguments()) == training


def test_replica_i_uses_split_i_unless_all_replicas_share_one():
    assert Training("cora", "fixed", "gcn").split_of(3) == "fixed"
    assert Training("cora", "random", "gcn").split_of(3) == "random03"
    named = Training("cora", "random07", "gcn")
    assert (named.split_of(3), named.split_kind) == ("random07", "random")


def test_an_option_that_is_given_twice_is_refused():
    with pytest.raises(UserError, match="--set: t1 is given twice"):
        parsed(["--dataset", "cora", "--model", "cgnn", "--set", "t1=1", "--set", "t1=2"])
