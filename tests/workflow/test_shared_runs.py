"""A row of the fidelity table that is a run of Table 2 is not trained twice."""

import csv

import pytest

from cgnn.pipeline.config import load
from cgnn.pipeline.plan import fidelity, runs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RUN = "results/tiny/runs/synthetic/fixed/cgnn/released/published"
VARIANT = "results/tiny/fidelity/synthetic/released/0-1.csv"


def test_a_preset_with_no_switch_flipped_is_a_run_of_table_2():
    config = load()
    known = {run.folder for run in runs(config)}
    shared = {item.variant: item.same_as for item in fidelity(config) if item.dataset == "cora" and item.same_as}
    assert set(shared.values()) <= known
    assert set(shared) == {"released", "paper", "weight-released", "weight-paper", "discrete-released"}
    assert shared["weight-paper"] == "runs/cora/fixed/cgnn_weight/paper/published"


def test_its_rows_are_the_runs_and_a_further_seed_of_the_run_leaves_them_alone(project):
    project.configure(experiments__published={"models": ["cgnn"], "splits": ["fixed"]})
    done = project.snakemake(VARIANT)
    assert done.returncode == 0, done.stdout
    log = (project.path / "results/tiny/logs/fidelity/synthetic-released-0-1.log").read_text()
    assert f"2 replicas are those of {RUN}" in log
    run, variant = (list(csv.DictReader((project.path / file).open())) for file in (f"{RUN}/0-1.csv", VARIANT))
    assert variant == [row | {"variant": "released"} for row in run]
    project.configure(protocol__seeds=3)
    assert project.planned(VARIANT) == {}
