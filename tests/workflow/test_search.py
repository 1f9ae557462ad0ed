"""The search: its sequence, its memory, its failures."""

import csv
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from cgnn.errors import UserError
from cgnn.search.orion import Result, best_of, search
from cgnn.search.priors import parse_prior


def space_of(**texts):
    return {name: parse_prior(name, text, name) for name, text in texts.items()}


SPACE = space_of(lr="loguniform(1e-3, 1e-2)", t1="uniform(5, 25, discrete=True)", hidden="choices([16, 32, 64])")


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
    run(tmp_path, 3, seen, space=space_of(t1="uniform(5, 25)", hidden="choices([16])"))
    assert seen == [0, 1, 2, 0, 1, 2]
    seen.clear()
    run(tmp_path, 3, seen)
    assert seen == []


def test_a_space_smaller_than_the_number_of_trials_is_searched_through(tmp_path):
    space = space_of(t1="uniform(5, 6, discrete=True)", hidden="choices([16, 32])")
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


class Attack:
    """Unpickled by Python's own unpickler, it makes a file."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return open, (str(self.target), "w")


def test_a_store_from_somebody_else_cannot_run_code(tmp_path):
    run(tmp_path / "store", 2)
    (store,) = tmp_path.glob("store/*/orion.pkl")
    good = store.read_bytes()
    payload = tmp_path / "executed"
    store.write_bytes(pickle.dumps(Attack(payload)))
    with pytest.raises(UserError, match=r"orion\.pkl.*the name _?io\.open is not allowed"):
        run(tmp_path / "store", 2)
    assert not payload.exists()
    pickle.loads(store.read_bytes()).close()
    assert payload.exists()  # the attack works on an ordinary unpickler

    store.write_bytes(good)
    seen = []
    run(tmp_path / "store", 3, seen)
    assert seen == [2]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("space.lr", "loguniform(0.001, [].append(1) or 0.01)", "the prior of lr"),
        ("metadata.user_args", ["script.py"], "user_args"),
        ("algorithms.evolutiones.seed", 1, "evolutiones"),
        ("producer.strategy", "MaxParallelStrategy", "producer"),
    ],
)
def test_what_orion_would_act_on_is_refused_in_a_stored_experiment(tmp_path, key, value, reason):
    run(tmp_path, 1)
    (store,) = tmp_path.glob("*/orion.pkl")
    database = pickle.loads(store.read_bytes())
    database._db["experiments"]._documents[0]._data[key] = value
    store.write_bytes(pickle.dumps(database))
    with pytest.raises(UserError, match=rf"orion\.pkl: not a store that this project wrote.*{reason}"):
        run(tmp_path, 1)


def test_a_damaged_result_is_named(tmp_path):
    run(tmp_path, 2, fails={1})
    (failure,) = tmp_path.glob("*/failed/*.json")
    failure.write_text('{"status": "completed", "accuracy": 1e9, "seconds": 1}')
    with pytest.raises(UserError, match=r"stored result of trial.* is damaged.*expected 0 to 100"):
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


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The arguments of a search on a small graph, without its outputs."""
    from cgnn.__main__ import main

    folder = tmp_path_factory.mktemp("small")
    graph, split = str(folder / "graph.npz"), str(folder / "fixed.json")
    assert main(["graph", "synthetic", "--parameters", '{"nodes": 300, "classes": 3}', "--out", graph]) == 0
    assert main(["split", "--graph", graph, "--name", "fixed", "--out", split]) == 0
    arguments = ["--dataset", "synthetic", "--split", "fixed", "--model", "cgnn", "--epochs", "3", "--device", "cpu"]
    arguments += ["--prior", "lr~loguniform(1e-3, 1e-2)", "--prior", "t1~uniform(5, 25)"]
    return [*arguments, "--graph", graph, "--split-file", split]


def outputs(out):
    names = {"--store": "store", "--trials-out": "trials.csv", "--best-out": "best.yaml"}
    return [word for option, name in names.items() for word in (option, str(out / name))]


def test_a_resumed_or_extended_search_writes_the_same_bytes(tmp_path, small, monkeypatch):
    """With 21 validation nodes, 100 − (100 − accuracy) differs from the accuracy, so a rounded one breaks a tie."""
    from cgnn.__main__ import main

    def stop_before(last):
        def evaluate(task, workers, trials):
            for index, _ in trials:
                if index == last:
                    raise Stopped
                failed = Result("diverged", None, time.perf_counter())
                yield (
                    index,
                    failed if index == 4 else Result("completed", 100 * (7 + index % 2) / 21, time.perf_counter()),
                )

        monkeypatch.setattr("cgnn.search.trials.evaluate", evaluate)

    def run_command(name, trials):
        assert main(["search", *small, *outputs(tmp_path / name), "--trials", str(trials)]) == 0

    stop_before(None)
    run_command("at_once", 10)
    run_command("extended", 5)
    run_command("extended", 10)
    stop_before(2)
    with pytest.raises(Stopped):
        run_command("resumed", 10)
    stop_before(None)
    run_command("resumed", 10)
    for file in ("trials.csv", "best.yaml"):
        expected = (tmp_path / "at_once" / file).read_bytes()
        assert (tmp_path / "extended" / file).read_bytes() == expected
        assert (tmp_path / "resumed" / file).read_bytes() == expected
    assert yaml.safe_load((tmp_path / "at_once/best.yaml").read_text())["trial"] == 1
    seconds = list(csv.DictReader((tmp_path / "resumed/trials.seconds.csv").open()))
    assert [int(row["trial"]) for row in seconds] == list(range(10))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_verb_gives_the_same_trials_with_two_workers_as_with_one(tmp_path, small):
    from cgnn.__main__ import main

    for workers in ("1", "2"):
        out = tmp_path / workers
        arguments = [*small, *outputs(out), "--trials", "3", "--workers", workers]
        arguments += ["--plots", str(out / "plots"), "--plotlyjs", str(tmp_path / "plotly.min.js")]
        assert main(["search", *arguments]) == 0
        assert {path.name for path in (out / "plots").glob("*.html")} == {
            "parallel_coordinates.html",
            "regret.html",
            "lpi.html",
        }
        assert "plotly.min.js" in (out / "plots" / "regret.html").read_text()
    for file in ("trials.csv", "best.yaml"):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
