"""Accuracies on the real graphs with published hyperparameters. A value outside its tolerance indicates a bug.

The tolerances are for means of ten replicas (FIDELITY.md: results of the authors' code; papers of the baselines). Means
of three replicas vary more, so each is widened by two standard errors, std/√3, with the deviation measured over ten.
"""

import csv
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from cgnn.__main__ import main


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset_name", "model", "expected", "band", "spread"),
    [
        ("cora", "cgnn", 82.5, 0.7, 1.0),
        ("citeseer", "cgnn", 72.2, 1.0, 1.1),
        ("cora", "gcn", 81.5, 0.7, 0.8),
        ("cora", "gat", 82.5, 0.9, 0.7),
    ],
)
def test_the_released_preset_gives_what_is_known(
    graph_file: Callable[[str], Path],
    tmp_path: Path,
    dataset_name: str,
    model: str,
    expected: float,
    band: float,
    spread: float,
) -> None:
    out = tmp_path / "runs.csv"
    words = ["--dataset", dataset_name, "--graph", str(graph_file(dataset_name)), "--split", "fixed", "--model", model]
    assert main(["train", *words, "--preset", "released", "--replicas", "0:3", "--out", str(out)]) == 0
    with open(out, encoding="utf-8", newline="") as stream:
        mean = fmean(float(row["test_accuracy"]) for row in csv.DictReader(stream))
    assert mean == pytest.approx(expected, abs=band + 2 * spread / 3**0.5)
