"""The search: its sequence, its two rounds, its store, its failures."""

import csv
import os
import pickle
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from cgnn.errors import UserError
from cgnn.search import trials
from cgnn.search.orion import Job, Result, Rounds, Trial, best_of, finalists, search
from cgnn.search.priors import parse_prior


def space_of(**texts):
    return {name: parse_prior(name, text, name) for name, text in texts.items()}


SPACE = space_of(lr="loguniform(1e-3, 1e-2)", t1="uniform(5, 25, discrete=True)", hidden="choices([16, 32, 64])")


def accuracy(params):
    """A synthetic objective with its best at t1 = 12."""
    return 80.0 - abs(params["t1"] - 12) + 0.1 * (params["hidden"] == 32)


def outcome(job, fails=()):
    """Replica 0 says what ``accuracy`` says; further ones differ by replica and trial."""
    if job.trial in fails or (job.trial, job.replica) in fails:
        return Result("diverged", None, 1.0)
    return Result("completed", accuracy(job.params) - (job.replica * (job.trial + 1)) % 5, 1.0)


def run(folder, trials, seen=None, fails=(), space=SPACE, identity=None, batch=1, count=3, replicas=2, give=outcome):
    """Search with a synthetic objective; ``batch`` workers at a time, whose results arrive in reverse order.

    ``seen`` receives the trials of round one, then (trial, replica) of round two.
    """

    def evaluate(wanted):
        waiting = list(wanted) if batch > 1 else wanted
        for job in reversed(waiting) if batch > 1 else waiting:
            if seen is not None:
                seen.append((job.trial, job.replica) if job.replica else job.trial)
            yield job, give(job, fails)

    rounds = Rounds(trials, count, tuple("abcdefgh"[: replicas + 1]))
    return search(folder, identity or {"code": 1}, space, 7, rounds, evaluate)


def table(trials):
    return [(t.index, tuple(sorted(t.params.items())), t.status, t.result, t.further, t.mean) for t in trials]


def first_round(trials):
    return [(t.index, tuple(sorted(t.params.items())), t.result) for t in trials]


def test_an_extended_search_runs_only_the_new_trials_and_keeps_the_old_ones(tmp_path):
    first, _ = run(tmp_path / "store", 5)
    seen = []
    longer, _ = run(tmp_path / "store", 8, seen)
    before, after = ({t.index for t in found if t.round == 2} for found in (first, longer))
    assert seen[:3] == [5, 6, 7] and len(after) == 3
    assert sorted(seen[3:]) == [(index, replica) for index in sorted(after - before) for replica in (1, 2)]
    assert first_round(longer)[:5] == first_round(first)
    at_once, _ = run(tmp_path / "other", 8)
    assert table(longer) == table(at_once)


def test_a_shortened_search_gives_the_first_trials_and_runs_none(tmp_path):
    longer, _ = run(tmp_path / "store", 6)
    seen = []
    shorter, _ = run(tmp_path / "store", 4, seen)
    known = {trial.index for trial in longer if trial.round == 2}
    assert all(isinstance(job, tuple) and job[0] not in known for job in seen)  # finalists that were none before
    assert table(shorter) == table(run(tmp_path / "other", 4)[0])


def test_the_order_in_which_workers_finish_changes_nothing(tmp_path):
    alone, _ = run(tmp_path / "alone", 6)
    together, _ = run(tmp_path / "together", 6, batch=6)
    assert table(alone) == table(together)


def test_workers_that_finish_at_the_same_time_lose_no_job(monkeypatch):
    jobs = [Job(index, 0, {}) for index in range(7)]
    monkeypatch.setattr(trials, "ProcessPoolExecutor", lambda workers, **options: ThreadPoolExecutor(workers))
    monkeypatch.setattr(trials, "wait", lambda running, return_when: wait(running))  # as if all had finished together
    monkeypatch.setattr(trials, "run_job", lambda task, job: Result("completed", float(job.trial), 1.0))
    evaluated = list(trials.evaluate(None, 2, iter(jobs)))
    assert sorted(job.trial for job, _ in evaluated) == list(range(7))
    assert all(result.accuracy == job.trial for job, result in evaluated)


def test_a_search_never_ends_with_fewer_results_than_requested(tmp_path):
    rounds = Rounds(4, 2, ("a", "b"))
    with pytest.raises(RuntimeError, match="3 of 4"):
        search(tmp_path, {}, SPACE, 7, rounds, lambda jobs: ((job, outcome(job)) for job in list(jobs)[:3]))


def test_a_diverged_trial_counts_is_remembered_and_gets_no_objective(tmp_path):
    trials, client = run(tmp_path, 5, fails={1, 3})
    assert [trial.result.status for trial in trials] == ["completed", "diverged", "completed", "diverged", "completed"]
    stored = client.to_pandas()
    assert list(stored["status"]).count("broken") == 2
    assert stored[stored["status"] == "broken"]["objective"].isna().all()
    seen = []
    again, _ = run(tmp_path, 5, seen)
    assert seen == [] and table(again) == table(trials)


def test_round_two_evaluates_the_best_trials_again_and_no_others(tmp_path):
    seen = []
    trials, _ = run(tmp_path, 8, seen, fails={0})
    ranked = sorted((t for t in trials if t.index != 0), key=lambda t: (-t.result.accuracy, t.index))
    assert finalists(trials, 3) == ranked[:3]
    assert seen[8:] == [(trial.index, replica) for trial in ranked[:3] for replica in (1, 2)]
    assert [len(trial.further) for trial in ranked] == [2] * 3 + [0] * 4


def made_trial(index, first, *further):
    results = [Result("diverged" if a is None else "completed", a, 1.0) for a in (first, *further)]
    return Trial(index, {}, results[0], tuple(results[1:]))


def test_the_best_mean_of_the_further_replicas_wins_however_lucky_round_one_was():
    lucky, steady = made_trial(0, 99.0, 70.0, 71.0, 72.0), made_trial(1, 80.0, 79.0, 80.0, 81.0)
    assert (lucky.mean, steady.mean) == (71.0, 80.0)
    assert best_of([lucky, steady]) is steady


def test_of_equal_means_the_earliest_trial_wins_whatever_the_order_of_the_replicas():
    thirds = [100 * count / 21 for count in (13, 14, 15)]
    one, other = made_trial(4, 80.0, *thirds), made_trial(2, 70.0, *reversed(thirds))
    even = made_trial(3, 75.0, *[thirds[1]] * 3)  # the same sum of counts
    assert best_of([one, even, other]) is other
    assert best_of([one, even]) is even


def test_a_finalist_with_a_failed_replica_shows_it_and_cannot_win():
    failed, poor = made_trial(0, 99.0, 99.0, None), made_trial(1, 20.0, 20.0, 20.0)
    assert (failed.status, failed.mean) == ("diverged", None)
    assert best_of([failed, poor]) is poor
    assert best_of([failed, made_trial(2, None), made_trial(3, 90.0)]) is None


def test_if_there_are_fewer_trials_than_finalists_all_are_finalists(tmp_path):
    trials, _ = run(tmp_path, 3, count=10, fails={1})
    assert [(trial.round, trial.status) for trial in trials] == [(2, "completed"), (1, "diverged"), (2, "completed")]


def test_more_finalists_or_replicas_run_only_what_is_missing(tmp_path):
    run(tmp_path / "store", 6, count=2, replicas=1)
    seen = []
    trials, _ = run(tmp_path / "store", 6, seen, count=3, replicas=2)
    best = [trial.index for trial in finalists(trials, 3)]
    assert seen == [(best[0], 2), (best[1], 2), (best[2], 1), (best[2], 2)]
    assert table(trials) == table(run(tmp_path / "other", 6, count=3, replicas=2)[0])


def test_another_split_of_a_further_replica_runs_that_replica_alone(tmp_path):
    def results(splits, seen):
        def evaluate(wanted):
            for job in wanted:
                seen.append((job.trial, job.replica))
                yield job, outcome(job)

        return search(tmp_path, {"code": 1}, SPACE, 7, Rounds(2, 2, splits), evaluate)

    results(("a", "b", "c"), [])
    seen = []
    results(("a", "b", "d"), seen)
    assert sorted(seen) == [(0, 2), (1, 2)]


def test_another_code_or_space_has_a_store_of_its_own_and_going_back_finds_the_old_one(tmp_path):
    run(tmp_path, 3)
    for change in ({"identity": {"code": 2}}, {"space": space_of(t1="uniform(5, 25)", hidden="choices([16])")}):
        seen = []
        run(tmp_path, 3, seen, **change)
        assert seen[:3] == [0, 1, 2] and len(seen) == 9
    seen = []
    run(tmp_path, 3, seen)
    assert seen == []


def test_a_space_smaller_than_the_number_of_trials_is_searched_through(tmp_path):
    space = space_of(t1="uniform(5, 6, discrete=True)", hidden="choices([16, 32])")
    trials, _ = run(tmp_path, 10, space=space)
    assert 1 <= len(trials) <= 4
    assert len({tuple(trial.params.items()) for trial in trials}) == len(trials)


def test_a_second_writer_is_refused(tmp_path):
    def evaluate(wanted):
        for job in wanted:
            with pytest.raises(UserError, match="another search is writing"):
                run(tmp_path, 2)
            yield job, outcome(job)

    search(tmp_path, {"code": 1}, SPACE, 7, Rounds(1, 1, ("a", "b")), evaluate)


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
    assert seen == [2, (2, 1), (2, 2)]


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
    for pattern, where in (("*/failed/*.json", "trial 1, replica 0"), ("*/round_two/*-2-*.json", "trial 0, replica 2")):
        (file,) = tmp_path.glob(pattern)
        good = file.read_text()
        file.write_text('{"status": "completed", "accuracy": 1e9, "seconds": 1}')
        with pytest.raises(UserError, match=rf"stored result of {where}, is damaged.*expected 0 to 100"):
            run(tmp_path, 2)
        file.write_text(good)


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[3])
from test_search import Path, outcome, run
left = int(sys.argv[2])
def give(job, fails):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return outcome(job)
run(Path(sys.argv[1]), 6, give=give)
"""


@pytest.mark.parametrize("finished", [0, 3, 6, 9])  # of 6 evaluations in round one and 6 in round two
def test_a_killed_search_loses_no_trial_and_takes_up_the_one_it_was_running(tmp_path, finished):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "store"), str(finished), str(Path(__file__).parent)]
    killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    assert killed.returncode == -9
    seen = []
    trials, client = run(tmp_path / "store", 6, seen)
    order = []
    undisturbed, _ = run(tmp_path / "other", 6, order)
    assert len(order) == 12 and seen == order[finished:]
    assert table(trials) == table(undisturbed)
    assert list(client.to_pandas()["status"]) == ["completed"] * 6


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A small graph with its fixed split, and the splits of a search with two replicas in round two."""
    from cgnn.__main__ import main
    from cgnn.datasets.graph import load_graph
    from cgnn.datasets.splits import random_split, save_split

    folder = tmp_path_factory.mktemp("small")
    path = str(folder / "graph.npz")
    assert main(["graph", "synthetic", "--parameters", '{"nodes": 300, "classes": 3}', "--out", path]) == 0
    assert main(["split", "--graph", path, "--name", "fixed", "--out", str(folder / "fixed.json")]) == 0
    whole = load_graph(path)
    for name in ("search00", "search01", "search02", "random00"):
        split = random_split(whole.labels, dataset="synthetic", name=name, per_class=5, validation=50, test=100)
        save_split(split, folder / f"{name}.json", dataset="synthetic", seed=0, graph_sha256=whole.sha256)
    return folder


def arguments(graph, kind="fixed", splits=None):
    """The options of a search on the small graph, without its outputs."""
    names = splits or (["fixed"] if kind == "fixed" else ["search00", "search01", "search02"])
    words = ["--dataset", "synthetic", "--split", kind, "--model", "cgnn", "--epochs", "3", "--device", "cpu"]
    words += ["--prior", "lr~loguniform(1e-3, 1e-2)", "t1~uniform(5, 25)", "--replicas", "2"]
    words += ["--graph", str(graph / "graph.npz"), "--split-files", *(str(graph / f"{name}.json") for name in names)]
    return words


def outputs(out):
    names = {"--store": "store", "--trials-out": "trials.csv", "--best-out": "best.yaml"}
    return [word for option, name in names.items() for word in (option, str(out / name))]


def read_csv(path):
    return list(csv.DictReader(path.open()))


def test_a_resumed_or_extended_search_writes_the_same_bytes(tmp_path, graph, monkeypatch):
    """With 21 validation nodes, 100 − (100 − accuracy) differs from the accuracy, so a rounded one breaks a tie."""
    from cgnn.__main__ import main

    def stop_before(last):
        def evaluate(task, workers, jobs):
            for job in jobs:
                if (job.trial, job.replica) == last:
                    raise Stopped
                failed = Result("diverged", None, time.perf_counter())
                count = 7 + job.trial % 2 + job.replica
                done = Result("completed", 100 * count / 21, time.perf_counter())
                yield job, failed if job.trial == 4 else done

        monkeypatch.setattr("cgnn.search.trials.evaluate", evaluate)

    def run_command(name, trials):
        words = [*arguments(graph), *outputs(tmp_path / name), "--trials", str(trials), "--finalists", "6"]
        assert main(["search", *words]) == 0

    stop_before(None)
    run_command("at_once", 10)
    run_command("extended", 5)
    run_command("extended", 10)
    for last in ((2, 0), (7, 2)):
        stop_before(last)
        with pytest.raises(Stopped):
            run_command("resumed", 10)
    stop_before(None)
    run_command("resumed", 10)
    for file in ("trials.csv", "best.yaml"):
        expected = (tmp_path / "at_once" / file).read_bytes()
        assert (tmp_path / "extended" / file).read_bytes() == expected
        assert (tmp_path / "resumed" / file).read_bytes() == expected
    best = yaml.safe_load((tmp_path / "at_once/best.yaml").read_text())
    assert (best["trial"], best["trials"], best["completed"], best["finalists"], best["replicas"]) == (1, 10, 9, 6, 2)
    assert best["mean_validation_accuracy"] == pytest.approx(100 * 9.5 / 21)
    rows = {int(row["trial"]): row for row in read_csv(tmp_path / "resumed/trials.csv")}
    assert [index for index, row in rows.items() if row["round"] == "2"] == [0, 1, 3, 5, 7, 9]
    assert [float(value) for value in rows[1]["replicas"].split()] == [100 * 9 / 21, 100 * 10 / 21]
    assert (rows[1]["objective"], rows[1]["mean"]) == (str(100 * 8 / 21), str(round(100 * 9.5 / 21, 9)))
    assert (rows[4]["status"], rows[4]["objective"], rows[2]["mean"]) == ("diverged", "", "")
    seconds = [(int(row["trial"]), int(row["replica"])) for row in read_csv(tmp_path / "resumed/trials.seconds.csv")]
    assert seconds == [(index, r) for index, row in rows.items() for r in range(3 if row["round"] == "2" else 1)]


@pytest.mark.parametrize("kind", ["fixed", "random"])
def test_a_search_uses_no_seed_and_no_random_split_of_a_table(tmp_path, graph, monkeypatch, kind):
    from cgnn.__main__ import main
    from cgnn.datasets.splits import load_split
    from cgnn.training import replicas

    used = []

    class Recorded(replicas.Replica):
        def seed(self, purpose):
            used.append((self.split.sha256, super().seed(purpose)))
            return used[-1][1]

    table_splits = [(load_split(graph / "fixed.json"), range(200))]
    table_splits += [(replace(table_splits[0][0], name=f"random{i:02d}"), [i]) for i in range(100)]
    known = {
        replicas.Replica(i, split, "synthetic", "cgnn").seed(purpose)
        for split, numbers in table_splits
        for i in numbers
        for purpose in ("init", "dropout")
    }
    monkeypatch.setattr(replicas, "Replica", Recorded)
    assert main(["search", *arguments(graph, kind), *outputs(tmp_path), "--trials", "2"]) == 0
    assert not known & {seed for _, seed in used}
    names = ["fixed"] if kind == "fixed" else ["search00", "search01", "search02"]
    assert {split for split, _ in used} == {load_split(graph / f"{name}.json").sha256 for name in names}
    # 3 replicas, the same for every trial, each with one seed for its weights and one for its dropout
    assert len(used) == 2 * 3 * 2 and len(set(used)) == 6


def test_a_hyperparameter_that_only_one_model_has_is_searched_and_saved(tmp_path, graph):
    from cgnn.__main__ import main
    from cgnn.models.registry import load

    words = [*arguments(graph), *outputs(tmp_path), "--trials", "2"]
    words[words.index("cgnn")] = "gcn_gode"
    words[words.index("t1~uniform(5, 25)")] = "derivative_dropout~uniform(0.1, 0.8)"
    assert main(["search", *words]) == 0
    best = yaml.safe_load((tmp_path / "best.yaml").read_text())
    row = read_csv(tmp_path / "trials.csv")[best["trial"]]
    assert 0.1 <= float(row["derivative_dropout"]) <= 0.8
    assert load(tmp_path / "best.yaml", "gcn_gode").value("derivative_dropout") == float(row["derivative_dropout"])


@pytest.mark.parametrize(
    ("kind", "splits", "message"),
    [
        ("random", ["random00", "search01", "search02"], "found the split random00, which tables use"),
        ("random", ["search00"], r"found 1, expected 3 \(search00.json to search02.json\)"),
        ("fixed", ["fixed", "fixed"], r"found 2, expected 1 \(fixed.json\)"),
    ],
)
def test_splits_that_do_not_fit_are_refused(tmp_path, graph, capsys, kind, splits, message):
    from cgnn.__main__ import main

    assert main(["search", *arguments(graph, kind, splits), *outputs(tmp_path), "--trials", "2"]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["fixed", "random"])
def test_the_command_gives_the_same_trials_with_two_workers_as_with_one(tmp_path, graph, kind):
    from cgnn.__main__ import main

    for workers in ("1", "2"):
        out = tmp_path / workers
        words = [*arguments(graph, kind), *outputs(out), "--trials", "3", "--finalists", "2", "--workers", workers]
        words += ["--plots", str(out / "plots"), "--plotlyjs", str(tmp_path / "plotly.min.js")]
        assert main(["search", *words]) == 0
        assert {path.name for path in (out / "plots").glob("*.html")} == {
            "parallel_coordinates.html",
            "regret.html",
            "lpi.html",
        }
        assert "plotly.min.js" in (out / "plots" / "regret.html").read_text()
    for file in ("trials.csv", "best.yaml"):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
