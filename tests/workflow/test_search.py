"""The search: its sequence, its memory, its failures."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cgnn.errors import UserError
from cgnn.search.orion import Result, best_of, search

SPACE = {"lr": "loguniform(1e-3, 1e-2)", "t1": "uniform(5, 25, discrete=True)", "hidden": "choices([16, 32, 64])"}


def accuracy(params):
    """A made-up objective with its best at t1 = 12."""
    return 80.0 - abs(params["t1"] - 12) + 0.1 * (params["hidden"] == 32)


def run(folder, trials, seen=None, fails=(), space=SPACE, identity=None, batch=1):
    """Search with a made-up objective; ``batch`` workers at a time, whose results arrive in reverse order."""

    def evaluate(wanted):
        waiting = list(wanted) if batch > 1 else wanted
        for index, params in reversed(waiting) if batch > 1 else waiting:
            if seen is not None:
                seen.append(index)
            failed = Result("diverged", None, 1.0)
            yield index, failed if index in fails else Result("completed", accuracy(params), 1.0)

    return search(folder, identity or {"code": 1}, space, 7, trials, evaluate)


def table(trials):
    return [
        (trial.index, tuple(sorted(trial.params.items())), trial.result.status, trial.result.accuracy)
        for trial in trials
    ]


def test_an_extended_search_runs_only_the_new_trials_and_keeps_the_old_ones(tmp_path):
    first, _ = run(tmp_path / "store", 5)
    seen = []
    longer, _ = run(tmp_path / "store", 8, seen)
    assert seen == [5, 6, 7]
    assert table(longer)[:5] == table(first)
    at_once, _ = run(tmp_path / "other", 8)
    assert table(longer) == table(at_once)


def test_a_shortened_search_gives_the_first_trials_and_runs_none(tmp_path):
    longer, _ = run(tmp_path, 6)
    seen = []
    shorter, _ = run(tmp_path, 4, seen)
    assert seen == [] and table(shorter) == table(longer)[:4]


def test_the_order_in_which_workers_finish_changes_nothing(tmp_path):
    alone, _ = run(tmp_path / "alone", 6)
    together, _ = run(tmp_path / "together", 6, batch=6)
    assert table(alone) == table(together)


def test_a_diverged_trial_counts_is_remembered_and_gets_no_objective(tmp_path):
    trials, client = run(tmp_path, 5, fails={1, 3})
    assert [trial.result.status for trial in trials] == ["completed", "diverged", "completed", "diverged", "completed"]
    stored = client.to_pandas()
    assert list(stored["status"]).count("broken") == 2
    assert stored[stored["status"] == "broken"]["objective"].isna().all()
    seen = []
    again, _ = run(tmp_path, 5, seen)
    assert seen == [] and table(again) == table(trials)


def test_the_best_is_the_highest_accuracy_and_the_earliest_of_equals(tmp_path):
    trials, _ = run(tmp_path, 8, fails={0})
    best = best_of(trials)
    highest = max(trial.result.accuracy for trial in trials if trial.result.accuracy is not None)
    assert best.result.accuracy == highest
    assert best.index == min(trial.index for trial in trials if trial.result.accuracy == highest)
    assert best_of([trial for trial in trials if trial.result.accuracy is None]) is None


def test_another_code_or_space_has_a_store_of_its_own_and_going_back_finds_the_old_one(tmp_path):
    run(tmp_path, 3)
    seen = []
    run(tmp_path, 3, seen, identity={"code": 2})
    run(tmp_path, 3, seen, space={"t1": "uniform(5, 25)", "hidden": "choices([16])"})
    assert seen == [0, 1, 2, 0, 1, 2]
    seen.clear()
    run(tmp_path, 3, seen)
    assert seen == []


def test_a_space_smaller_than_the_number_of_trials_is_searched_through(tmp_path):
    space = {"t1": "uniform(5, 6, discrete=True)", "hidden": "choices([16, 32])"}
    trials, _ = run(tmp_path, 10, space=space)
    assert 1 <= len(trials) <= 4
    assert len({tuple(trial.params.items()) for trial in trials}) == len(trials)


def test_a_second_writer_is_refused(tmp_path):
    def evaluate(wanted):
        for index, params in wanted:
            with pytest.raises(UserError, match="another search is writing"):
                run(tmp_path, 2)
            yield index, Result("completed", accuracy(params), 1.0)

    search(tmp_path, {"code": 1}, SPACE, 7, 1, evaluate)


def test_a_damaged_store_is_named(tmp_path):
    run(tmp_path, 2)
    (store,) = tmp_path.glob("*/orion.pkl")
    store.write_bytes(store.read_bytes()[:50])
    with pytest.raises(UserError, match=r"orion\.pkl"):
        run(tmp_path, 2)


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[3])
from test_search import Path, accuracy, SPACE, Result, search
def evaluate(wanted):
    for number, (index, params) in enumerate(wanted):
        if number == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        yield index, Result("completed", accuracy(params), 1.0)
search(Path(sys.argv[1]), {"code": 1}, SPACE, 7, 6, evaluate)
"""


@pytest.mark.parametrize("finished", [0, 3])
def test_a_killed_search_loses_no_trial_and_takes_up_the_one_it_was_running(tmp_path, finished):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "store"), str(finished), str(Path(__file__).parent)]
    killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    assert killed.returncode == -9
    seen = []
    trials, client = run(tmp_path / "store", 6, seen)
    assert seen == list(range(finished, 6))
    undisturbed, _ = run(tmp_path / "other", 6)
    assert table(trials) == table(undisturbed)
    assert list(client.to_pandas()["status"]) == ["completed"] * 6


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_verb_gives_the_same_trials_with_two_workers_as_with_one(tmp_path):
    from cgnn.__main__ import main

    graph, split = str(tmp_path / "graph.npz"), str(tmp_path / "fixed.json")
    assert main(["graph", "synthetic", "--parameters", '{"nodes": 300, "classes": 3}', "--out", graph]) == 0
    assert main(["split", "--graph", graph, "--name", "fixed", "--out", split]) == 0
    rows = {}
    for workers in ("1", "2"):
        out = tmp_path / workers
        arguments = ["--dataset", "synthetic", "--split", "fixed", "--model", "cgnn", "--trials", "3", "--epochs", "3"]
        arguments += ["--prior", "lr~loguniform(1e-3, 1e-2)", "--prior", "t1~uniform(5, 25)", "--graph", graph]
        arguments += ["--split-file", split, "--workers", workers, "--device", "cpu", "--store", str(out / "store")]
        arguments += ["--trials-out", str(out / "trials.csv"), "--best-out", str(out / "best.yaml")]
        arguments += ["--plots", str(out / "plots"), "--plotlyjs", str(tmp_path / "plotly.min.js")]
        assert main(["search", *arguments]) == 0
        rows[workers] = [{**row, "seconds": ""} for row in csv.DictReader((out / "trials.csv").open())]
        assert {path.name for path in (out / "plots").glob("*.html")} == {
            "parallel_coordinates.html",
            "regret.html",
            "lpi.html",
        }
        assert "plotly.min.js" in (out / "plots" / "regret.html").read_text()
    assert rows["1"] == rows["2"]
    assert (tmp_path / "1" / "best.yaml").read_text() == (tmp_path / "2" / "best.yaml").read_text()
