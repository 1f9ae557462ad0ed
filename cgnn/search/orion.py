"""Hyperparameter search in two rounds; one process writes all results to a store below one folder.

Round one runs random trials that Orion suggests, with one replica each. Round two runs further replicas of the best
trials (the finalists), and the best mean of those further replicas wins: the accuracy of round one, by which the
finalists were selected, does not count again.

The sequence of trials depends only on the space and the seed. An interrupted search therefore resumes with the next
evaluation, extending a search from 50 to 80 trials only runs 30 trials and the new finalists, and the number of workers
does not affect the result.
"""

import fcntl
import hashlib
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.search.priors import Prior

Params = dict[str, Any]

#: Incremented when stores of earlier versions can no longer be read; searches then start a new store.
STORE_VERSION = 3


@dataclass(frozen=True)
class Rounds:
    """The budget: ``trials`` suggestions, then further replicas of the ``finalists`` best of them.

    ``replicas`` names what each replica depends on besides the identity of the search (the sha256 of its split).
    Replica 0 belongs to round one, the others to round two.
    """

    trials: int
    finalists: int
    replicas: tuple[str, ...]

    @property
    def evaluations(self) -> int:
        return self.trials + min(self.finalists, self.trials) * (len(self.replicas) - 1)


@dataclass(frozen=True)
class Job:
    """One replica of one trial, to be trained."""

    trial: int
    replica: int
    params: Params


@dataclass(frozen=True)
class Result:
    """How a replica of a trial ended. ``accuracy``: on the validation nodes, in percent; None unless it completed."""

    status: str  # completed, diverged, out_of_memory
    accuracy: float | None
    seconds: float

    def __post_init__(self) -> None:
        if self.accuracy is not None and not 0 <= self.accuracy <= 100:
            raise ValueError(f"found the accuracy {self.accuracy}, expected 0 to 100")
        if (self.status == "completed") != (self.accuracy is not None):
            raise ValueError(f"found the status {self.status} with the accuracy {self.accuracy}")


@dataclass(frozen=True)
class Trial:
    """The ``index``-th suggestion, how its replica of round one ended and, for a finalist, those of round two."""

    index: int
    params: Params
    result: Result
    further: tuple[Result, ...] = ()

    @property
    def round(self) -> int:
        """The last round in which it took part."""
        return 2 if self.further else 1

    @property
    def status(self) -> str:
        """completed, or how the first replica that failed ended."""
        return next((r.status for r in (self.result, *self.further) if r.status != "completed"), "completed")

    @property
    def mean(self) -> float | None:
        """Mean validation accuracy of round two; None unless all its replicas completed.

        Accuracies are fractions of a few hundred nodes, so nine digits keep different means apart and make equal ones
        equal, whatever the order of summation.
        """
        accuracies = [result.accuracy for result in self.further if result.accuracy is not None]
        return round(fmean(accuracies), 9) if accuracies and len(accuracies) == len(self.further) else None


#: Runs the given jobs and yields their results in any order, each as soon as it is known.
Evaluate = Callable[[Iterable[Job]], Iterator[tuple[Job, Result]]]


def search(
    folder: Path,
    identity: Mapping[str, Any],
    space: Mapping[str, Prior],
    seed: int,
    rounds: Rounds,
    evaluate: Evaluate,
    report: Callable[[Job, Result], None] = lambda job, result: None,
) -> tuple[list[Trial], Any]:
    """Run what is missing of both rounds; return all trials in order, and Orion's client.

    ``identity`` is everything else that a result depends on (data, code, fixed settings). Each combination of identity,
    space and seed has a separate store below ``folder``, so results never mix and earlier results are found again.
    """
    texts = {name: str(prior) for name, prior in space.items()}
    whole = {**identity, "replica": rounds.replicas[0], "space": texts, "seed": seed}
    home = folder / hashlib.sha256(json.dumps([STORE_VERSION, whole]).encode()).hexdigest()[:12]
    with _only_writer(home):
        write_text(home / "identity.json", json.dumps(whole, indent=1) + "\n")
        store = Store(home, texts, seed, rounds)
        trials: dict[int, Trial] = {}
        for job, result in _evaluated(store, _round_one(store), evaluate, report, folder):
            trials[job.trial] = Trial(job.trial, job.params, result)
        further: dict[int, dict[int, Result]] = {}
        for job, result in _evaluated(store, _round_two(store, trials.values()), evaluate, report, folder):
            further.setdefault(job.trial, {})[job.replica] = result
        for index, results in further.items():
            trials[index] = replace(trials[index], further=tuple(results[key] for key in sorted(results)))
        return [trials[index] for index in sorted(trials)], store.client


def _round_one(store: "Store") -> list[Job]:
    return [Job(index, 0, trial.params) for index, trial in enumerate(store.suggested)]


def _round_two(store: "Store", trials: Iterable[Trial]) -> list[Job]:
    """The jobs of round two, starting with all replicas of the best trial."""
    replicas = range(1, len(store.rounds.replicas))
    return [
        Job(trial.index, replica, trial.params)
        for trial in finalists(trials, store.rounds.finalists)
        for replica in replicas
    ]


def _evaluated(
    store: "Store", jobs: Sequence[Job], evaluate: Evaluate, report: Callable[[Job, Result], None], folder: Path
) -> Iterator[tuple[Job, Result]]:
    """Results of the jobs: those in the store, then the missing ones, each recorded before the next is awaited."""
    stored = [(job, store.find(job)) for job in jobs]
    known = [(job, result) for job, result in stored if result is not None]
    yield from known

    def reserved() -> Iterator[Job]:
        for job, result in stored:
            if result is None:
                store.reserve(job)
                yield job

    count = len(known)
    for job, result in evaluate(reserved()):
        count += 1
        store.record(job, result)
        progress = {"finished": store.finished, "evaluations": store.rounds.evaluations}
        write_text(folder / "progress.json", json.dumps(progress) + "\n")
        report(job, result)
        yield job, result
    if count != len(jobs):
        raise RuntimeError(f"the search has {count} of {len(jobs)} results; the trial with the best one may be missing")


def finalists(trials: Iterable[Trial], count: int) -> list[Trial]:
    """The ``count`` best trials of round one, the best first; in a tie, the earlier comes first."""
    completed = [(-trial.result.accuracy, trial.index, trial) for trial in trials if trial.result.accuracy is not None]
    return [trial for _, _, trial in sorted(completed, key=lambda entry: entry[:2])[:count]]


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """The finalist with the highest mean, the earliest if several are equal; None if none completed all replicas."""
    finished = [(-trial.mean, trial.index, trial) for trial in trials if trial.mean is not None]
    return min(finished, key=lambda entry: entry[:2])[2] if finished else None


@contextmanager
def _only_writer(home: Path) -> Iterator[None]:
    """Hold a lock on the store, because it supports one writer. The kernel releases it when the process ends."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = open(home / "writer.lock", "a+")  # noqa: SIM115
    except OSError as error:
        raise UserError(
            f"{home}: could not be written ({error.strerror}). Free some space or correct the permissions."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{home}: another search is writing to this store; wait for it or stop it, then try again"
            ) from None
        yield


class Store:
    """Orion's experiment for round one, and one JSON file per replica for what Orion cannot store: failed trials
    (Orion requires an objective for each trial) and round two."""

    def __init__(self, home: Path, space: Mapping[str, str], seed: int, rounds: Rounds) -> None:
        self.home = home
        self.rounds = rounds
        self.finished = 0  # replicas whose results were found or recorded
        self.client = _open(home / "orion.pkl", space, seed, rounds.trials)
        self.experiment = self.client._experiment
        self.suggested = self._sequence(rounds.trials)
        # This process is the only writer, so a trial that is still reserved belongs to a process that died.
        for trial in self.experiment.fetch_trials_by_status("reserved"):
            self.experiment.set_trial_status(trial, "interrupted")
        self.known = {trial.id: trial for trial in self.experiment.fetch_trials()}

    def _sequence(self, trials: int) -> list[Any]:
        """The first suggestions of a freshly seeded algorithm. Its state in the store is not used, because it is lost
        if the process dies between a suggestion and its registration."""
        suggested: list[Any] = []
        while len(suggested) < trials:
            more = self.experiment.algorithms.suggest(1)
            if not more:  # a space of choices alone can be smaller than the number of trials
                break
            more[0].experiment = self.experiment.id
            suggested.append(more[0])
        return suggested

    def find(self, job: Job) -> Result | None:
        """How the job ended, or None if it has not run. The accuracy is the exact number that was recorded."""
        trial = self.known.get(self.suggested[job.trial].id)
        file = self._file(job)
        result = None
        try:
            if job.replica == 0 and trial is not None and trial.status == "completed":
                values = {result.name: result.value for result in trial.results}
                result = Result("completed", float(values["accuracy"]), float(values["seconds"]))
            elif file.is_file():
                result = Result(**json.loads(file.read_text(encoding="utf-8")))
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(
                f"{self.home}: the stored result of trial {job.trial}, replica {job.replica}, is damaged ({error!r}). "
                "Move the folder away to start this search from the beginning."
            ) from error
        self.finished += result is not None
        return result

    def reserve(self, job: Job) -> None:
        """Mark a trial of round one as running in Orion; round two has nothing to reserve."""
        suggestion = self.suggested[job.trial]
        if job.replica > 0:
            return
        if suggestion.id not in self.known:
            self.experiment.register_trial(suggestion, status="reserved")
        elif self.known[suggestion.id].status != "reserved":
            self.experiment.set_trial_status(self.known[suggestion.id], "reserved")

    def record(self, job: Job, result: Result) -> None:
        """Orion minimises, so its objective is the error, 100 − accuracy. A failed trial is `broken` and gets none.

        The accuracy itself is stored as well: 100 − error may differ from it in the last digit, and then equal trials
        would no longer be equal after a resumption.
        """
        self.finished += 1
        if job.replica > 0 or result.accuracy is None:
            write_text(self._file(job), json.dumps(asdict(result)) + "\n")
        if job.replica > 0:
            return
        trial = self.experiment.get_trial(uid=self.suggested[job.trial].id)
        if result.accuracy is None:
            self.experiment.set_trial_status(trial, "broken")
            return
        values = (
            ("error", "objective", 100 - result.accuracy),
            ("accuracy", "statistic", result.accuracy),
            ("seconds", "statistic", result.seconds),
        )
        trial.results = [type(trial).Result(name=name, type=kind, value=value) for name, kind, value in values]
        self.experiment.update_completed_trial(trial)

    def _file(self, job: Job) -> Path:
        suggestion = self.suggested[job.trial].id
        if job.replica == 0:
            return self.home / "failed" / f"{suggestion}.json"
        return self.home / "round_two" / f"{suggestion}-{job.replica}-{self.rounds.replicas[job.replica][:12]}.json"


def _open(store: Path, space: Mapping[str, str], seed: int, trials: int) -> Any:
    # Orion warns about packages that it does not need.
    warnings.filterwarnings("ignore")
    logging.getLogger("orion").setLevel(logging.ERROR)
    # Orion imports GitPython, which by default refuses to be imported where git is not installed.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import numpy

    # Orion 0.2.3 uses this name for choices; numpy 1.24 removed it.
    numpy.object = object  # type: ignore[attr-defined]
    from orion.client import build_experiment
    from orion.core.utils.singleton import update_singletons

    from cgnn.search.store import CheckedDB, check_store

    check_store(store)
    update_singletons()  # otherwise a second search in this process would write to the store of the first
    try:
        return build_experiment(
            "search",
            space=dict(space),
            algorithms={"random": {"seed": seed}},
            max_trials=trials,
            max_broken=10**9,  # a diverged trial is a result, not a reason to stop
            storage={"type": "legacy", "database": {"type": CheckedDB.__name__, "host": os.path.abspath(store)}},
        )
    except Exception as error:  # Orion wraps a damaged store and a refused space alike in its own classes
        raise UserError(
            f"Orion refused the search: {error!r}. Check search.spaces in the config, or move {store} away."
        ) from error
