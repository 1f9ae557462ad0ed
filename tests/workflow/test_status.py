"""`cgnn status`: what exists and what is missing."""

import json
import sys

import pytest

from cgnn.pipeline.config import load, overlay
from cgnn.pipeline.status import cells, grid, products


@pytest.fixture
def config(tmp_path):
    search = {"trials": 7, "finalists": 2, "replicas": 2}  # 7 + 2 · 2 = 11 evaluations
    return overlay(load(["config/quick.yaml"]), {"results": str(tmp_path / "results"), "search": search})


def cell(found, section, row, column):
    (match,) = [c for c in found if (c.section, c.row, c.column) == (section, row, column)]
    return match


def test_an_empty_tree_has_everything_missing(config):
    found = cells(config)
    assert all(c.done == 0 for c in found)
    assert products(config)["there"] == []
    text = grid(found)
    assert "runs, fixed split, released, search" in text and "citeseer" in text
    assert max(map(len, text.splitlines())) <= 100


def test_finished_replicas_in_files_and_journals_are_counted(config, tmp_path):
    folder = tmp_path / "results/runs/cora/fixed/cgnn/released/search"
    folder.mkdir(parents=True)
    (folder / "0-1.csv").touch()
    (folder / "2-2.csv.journal").mkdir()
    (folder / "2-2.csv.journal/2.json").touch()
    found = cell(cells(config), "runs, fixed split, released, search", "cgnn", "cora")
    assert (found.done, found.wanted, found.text) == (3, 3, "done")
    (folder / "2-2.csv.journal/2.json").unlink()
    assert cell(cells(config), "runs, fixed split, released, search", "cgnn", "cora").text == "2/3"


def test_the_finished_trials_of_a_running_search_are_shown(config, tmp_path):
    folder = tmp_path / "results/search/cora/fixed/gcn/released"
    (folder / "store").mkdir(parents=True)
    (folder / "store/progress.json").write_text(json.dumps({"finished": 3, "evaluations": 11}))
    assert cell(cells(config), "search, fixed split, released", "gcn", "cora").text == "3/11"


@pytest.mark.slow
def test_the_finished_tree_is_shown_as_done(finished):
    done = finished.run([sys.executable, "-m", "cgnn", "status", "--configfile", "tiny.yaml"])
    assert done.returncode == 0, done.stdout
    assert "no training or search is left" in done.stdout
    assert "0/" not in done.stdout and "missing: nothing" in done.stdout
