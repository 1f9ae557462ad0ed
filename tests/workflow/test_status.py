"""`cgnn status`: what exists, what is running, what is missing."""

import json

import pytest

from cgnn.pipeline.config import load, overlay
from cgnn.pipeline.status import cells, estimate, grid, products


@pytest.fixture
def config(tmp_path):
    return overlay(load(["config/quick.yaml"]), {"results": str(tmp_path / "results")})


def cell(found, section, row, column):
    (match,) = [c for c in found if (c.section, c.row, c.column) == (section, row, column)]
    return match


def test_an_empty_tree_has_everything_missing(config, tmp_path):
    found = cells(config, tmp_path / ".snakemake")
    assert all(c.done == 0 and not c.running for c in found)
    assert products(config)["there"] == []
    text = grid(found)
    assert "runs, fixed split, released, search" in text and "citeseer" in text


def test_finished_and_begun_replicas_are_counted(config, tmp_path):
    folder = tmp_path / "results/runs/cora/fixed/cgnn/released/search"
    folder.mkdir(parents=True)
    (folder / "0-1.csv").touch()
    (folder / "2-2.csv.journal").mkdir()
    (folder / "2-2.csv.journal/2.json").touch()
    found = cell(cells(config, tmp_path / ".snakemake"), "runs, fixed split, released, search", "cgnn", "cora")
    assert (found.done, found.wanted, found.jobs_left, found.text) == (3, 3, 1, "done")
    (folder / "2-2.csv.journal/2.json").unlink()
    found = cell(cells(config, tmp_path / ".snakemake"), "runs, fixed split, released, search", "cgnn", "cora")
    assert found.text == "2/3"


def test_a_running_search_shows_its_trials(config, tmp_path):
    import base64

    folder = tmp_path / "results/search/cora/fixed/gcn/released"
    (folder / "store").mkdir(parents=True)
    (folder / "store/progress.json").write_text(json.dumps({"finished": 3, "trials": 5}))
    marks = tmp_path / ".snakemake/incomplete"
    marks.mkdir(parents=True)
    (tmp_path / ".snakemake/locks").mkdir()
    (tmp_path / ".snakemake/locks/0.input.lock").touch()
    name = base64.b64encode(str(folder / "best.yaml").encode(), altchars=b"-_").decode()
    (marks / name).touch()
    found = cell(cells(config, tmp_path / ".snakemake"), "search, fixed split, released", "gcn", "cora")
    assert found.text == "3/5 running"


def test_the_time_left_comes_from_jobs_of_the_same_kind(config, tmp_path):
    folder = tmp_path / "results/benchmarks/train"
    folder.mkdir(parents=True)
    (folder / "cora-fixed-gcn-released-search-0-2.tsv").write_text("s\th:m:s\n120.0\t0:02:00\n")
    found = [c for c in cells(config, tmp_path / ".snakemake") if c.kind == "train" and c.column == "cora"]
    left = sum(c.jobs_left for c in found)
    assert estimate(found, config, cores=2).startswith(f"{left} jobs left, about {left} min on 2 cores")


@pytest.mark.slow
def test_the_finished_tree_is_shown_as_done(finished):
    done = finished.cgnn("status", "--configfile", "tiny.yaml")
    assert done.returncode == 0, done.stdout
    assert "no training, search or profile is left" in done.stdout
    assert "0/" not in done.stdout and "missing: nothing" in done.stdout
