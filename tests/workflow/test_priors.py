"""Only priors of a restricted grammar are passed to Orion, which evaluates their text as code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgnn.errors import UserError
from cgnn.pipeline.config import load, overlay, validate
from cgnn.search.priors import Prior, parse_prior

ATTACK = "__import__('os').system('touch attacked')"
NUMBERS = st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6, allow_nan=False)
WORDS = st.sampled_from(["uniform", "loguniform", "normal", "choices", "randint", "discrete=True", "__import__"])
#: Text that is often similar to a prior.
FRAGMENTS = st.lists(WORDS | NUMBERS.map(str) | st.sampled_from([*"()[], '\"=.;_"]) | st.text(max_size=3), max_size=12)


@given(text=st.text(max_size=60) | FRAGMENTS.map("".join))
def test_any_text_is_refused_or_can_be_parsed_again_after_rendering(text):
    try:
        prior = parse_prior("lr", text, "here")
    except UserError as error:
        assert str(error).startswith(f"here: found {text!r}; ")
    else:
        assert parse_prior("lr", str(prior), "again") == prior


@given(first=NUMBERS, second=NUMBERS, kind=st.sampled_from(["uniform", "loguniform"]))
def test_ordered_bounds_are_accepted_and_others_refused(first, second, kind):
    text = f"{kind}({first}, {second})"
    if first < second and (kind == "uniform" or first > 0):
        assert parse_prior("lr", text, "here") == Prior(kind, (first, second))
    else:
        with pytest.raises(UserError, match="expected"):
            parse_prior("lr", text, "here")


@pytest.mark.parametrize(
    ("name", "text", "rendered"),
    [
        ("lr", "loguniform(1e-3, 1e-2)", "loguniform(0.001, 0.01)"),
        ("t1", " uniform( 5,25 , discrete = True ) ", "uniform(5, 25, discrete=True)"),
        ("t1", "uniform(5, 25, discrete=False)", "uniform(5, 25)"),
        ("hidden", "randint(4, 64)", "uniform(4, 64, discrete=True)"),
        ("hidden", "loguniform(4, 64, discrete=True)", "loguniform(4, 64, discrete=True)"),
        ("gamma", "normal(0.5, .1)", "normal(0.5, 0.1)"),
        ("dropout", "choices([0, 0.5])", "choices([0, 0.5])"),
        ("optimizer", "choices(['adam', \"rmsprop\"])", "choices(['adam', 'rmsprop'])"),
    ],
)
def test_a_prior_is_rendered_in_a_notation_that_orion_accepts(name, text, rendered):
    prior = parse_prior(name, text, "here")
    assert str(prior) == rendered
    import numpy

    numpy.object = object
    from orion.core.io.space_builder import DimensionBuilder

    dimension = DimensionBuilder().build(name, str(prior))
    for value in dimension.sample(20, seed=1):
        if prior.kind == "choices":
            assert value in prior.values
        elif prior.kind != "normal":
            assert prior.values[0] <= value <= prior.values[1]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("lr", "loguniform(1e-3)", "expected uniform"),
        ("lr", "loguniform(1e-2, 1e-3)", "lower bound first, found 0.01 and then 0.001"),
        ("lr", "loguniform(0, 1)", "a lower bound above 0, found 0"),
        ("lr", "uniform(0, 1e999)", "finite numbers, found 1e999"),
        ("lr", "uniform(0, " + "9" * 5000 + ")", "at most 40 characters"),
        ("lr", "uniform(-1e308, 1e308)", "1e308 apart"),
        ("lr", "uniform(0, nan)", "expected uniform"),
        ("lr", "normal(0, -1)", "a deviation above 0, found -1"),
        ("lr", "normal(0, 1, discrete=True)", "normal takes two numbers"),
        ("lr", "choices([])", "expected uniform"),
        ("lr", "choices([1, 1.0])", "no choice twice"),
        ("lr", "choices(['a__b'])", "expected uniform"),
        ("lr", "choices(['fast'])", "lr is a number"),
        ("lr", "uniform(0, 1, shape=3)", "expected uniform"),
        ("lr", "alpha(1, 2)", "expected uniform"),
        ("hidden", "uniform(4, 64)", "hidden is a whole number"),
        ("hidden", "choices([4, 8.5])", "hidden is a whole number"),
        ("hidden", "uniform(4, 64.5, discrete=True)", "whole numbers as bounds"),
        ("optimizer", "choices([1, 2])", "optimizer is a word"),
        ("lr", ATTACK, "expected uniform"),
        ("lr", f"uniform(0, {ATTACK})", "expected uniform"),
        ("lr", "uniform(0, 1) + 1", "expected uniform"),
    ],
)
def test_anything_else_is_refused_by_the_config_check_and_by_the_command(
    name, text, reason, tmp_path, monkeypatch, capsys
):
    from cgnn.__main__ import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        validate(overlay(load(), {"search": {"spaces": {"gcn": {name: text}}}}))
    assert f"search.spaces.gcn.{name}: found {text!r}; " in str(caught.value) and reason in str(caught.value)

    names = {"--graph": "g.npz", "--split-files": "s.json", "--store": "s", "--trials-out": "t", "--best-out": "b"}
    arguments = ["--dataset", "cora", "--split", "fixed", "--model", "gcn", "--trials", "1"]
    arguments += [word for pair in names.items() for word in pair]
    assert main(["search", *arguments, "--prior", f"{name}~{text}"]) == 2
    message = capsys.readouterr().err
    assert f"--prior {name}: found {text!r}; " in message and reason in message
    assert list(tmp_path.iterdir()) == []
