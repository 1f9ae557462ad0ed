"""A training that would only repeat another takes its rows: the same numbers, to the bit, and no time."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from cgnn.training import experiment

WORDS = ("--model", "cgnn", "--epochs", "5")


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open()))


@pytest.fixture
def run(train: Callable[..., Path]) -> Path:
    return train(*WORDS, "--replicas", "0:3", out="run.csv")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The replicas that are really trained from here on."""
    trained: list[int] = []
    real = experiment.run_experiment

    def run_experiment(asked, graph, splits, on_epoch):
        trained.extend(splits)
        return real(asked, graph, splits, on_epoch)

    monkeypatch.setattr(experiment, "run_experiment", run_experiment)
    return trained


def test_equal_replicas_are_taken_and_the_others_trained(train, run, counted):
    variant = train(*WORDS, "--replicas", "0:4", "--variant", "released", "--reuse", str(run), out="variant.csv")
    assert counted == [3]
    undisturbed = train(*WORDS, "--replicas", "0:4", "--variant", "released", out="undisturbed.csv")
    assert variant.read_bytes() == undisturbed.read_bytes()
    assert {row["variant"] for row in rows_of(variant)} == {"released"}
    seconds = [float(row["seconds"]) for row in rows_of(variant.with_suffix(".seconds.csv"))]
    assert seconds[:3] == [0, 0, 0] and seconds[3] > 0


@pytest.mark.parametrize(
    "other",
    [
        ("--epochs", "6"),
        ("--set", "lr=0.5"),
        ("--switch", "alpha=tabulated"),
        ("--preset", "paper"),
        ("--threads", "2"),
    ],
)
def test_any_difference_is_trained_anew(train, run, counted, other):
    train(*WORDS, *other, "--replicas", "0:2", "--reuse", str(run), out="other.csv")
    assert counted == [0, 1]


@pytest.mark.parametrize(("column", "value"), [("code_fingerprint", "0" * 16), ("status", "diverged")])
def test_rows_of_other_code_or_that_ended_badly_are_not_taken(train, run, counted, column, value):
    rows = [row | {column: value} for row in rows_of(run)]
    with run.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    train(*WORDS, "--replicas", "0:1", "--reuse", str(run), out="other.csv")
    assert counted == [0]


def test_curves_are_not_in_a_file_of_rows(train, run, counted, tmp_path):
    curves = ("--curves", str(tmp_path / "curves.csv"))
    train(*WORDS, "--replicas", "0:2", "--reuse", str(run), *curves, out="other.csv")
    assert counted == [0, 1]
