"""Hyperparameter search: Orion's random algorithm suggests trials, and one process writes them to Orion's store.

The sequence of trials depends only on the space and the seed. An interrupted search therefore continues with the next
trial, extending it from 50 to 80 trials runs 30, and the number of workers changes no result.
"""

import fcntl
import hashlib
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.search.priors import Prior

Params = dict[str, Any]

#: Increased when a store of an earlier version cannot be read any more; then searches start a new store.
STORE_VERSION = 2


@dataclass(frozen=True)
class Result:
    """How a trial ended. ``accuracy``: on the validation nodes, in percent; None unless it completed."""

    status: str  # completed, diverged, out_of_memory
    accuracy: float | None
    seconds: float

    def __post_init__(self) -> None:
        if self.accuracy is not None and not 0 <= self.accuracy <= 100:
            raise ValueError(f"found the accuracy {self.accuracy}, expected 0 to 100")


@dataclass(frozen=True)
class Trial:
    """The ``index``-th suggestion and how it ended."""

    index: int
    params: Params
    result: Result


#: Runs the given trials and yields their results in any order, each as soon as it is known.
Evaluate = Callable[[Iterable[tuple[int, Params]]], Iterator[tuple[int, Result]]]


def search(
    folder: Path,
    identity: Mapping[str, Any],
    space: Mapping[str, Prior],
    seed: int,
    trials: int,
    evaluate: Evaluate,
    report: Callable[[Trial, int], None] = lambda trial, done: None,
) -> tuple[list[Trial], Any]:
    """Run those of the first ``trials`` trials that are missing; return all of them in order, and Orion's client.

    ``identity`` is everything else a result depends on (data, code, fixed settings). Each combination of identity,
    space and seed has its own store below ``folder``: results never mix, and an earlier combination is found again.
    """
    texts = {name: str(prior) for name, prior in space.items()}
    key = hashlib.sha256(json.dumps([STORE_VERSION, dict(identity), texts, seed]).encode()).hexdigest()[:12]
    home = folder / key
    with _only_writer(home):
        write_text(home / "identity.json", json.dumps({**identity, "space": texts, "seed": seed}, indent=1) + "\n")
        store = Store(home, texts, seed, trials)
        finished = {
            index: Trial(index, trial.params, result)
            for index, trial in enumerate(store.suggested)
            if (result := store.find(trial))
        }
        missing = [index for index in range(len(store.suggested)) if index not in finished]

        def reserved() -> Iterator[tuple[int, Params]]:
            for index in missing:
                store.reserve(store.suggested[index])
                yield index, store.suggested[index].params

        for index, result in evaluate(reserved()):
            store.record(store.suggested[index], result)
            finished[index] = Trial(index, store.suggested[index].params, result)
            write_text(folder / "progress.json", json.dumps({"finished": len(finished), "trials": trials}) + "\n")
            report(finished[index], len(finished))
        return [finished[index] for index in sorted(finished)], store.client


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """The trial with the highest validation accuracy, the earliest if several are equal."""
    completed = [trial for trial in trials if trial.result.accuracy is not None]
    return max(completed, key=lambda trial: (trial.result.accuracy, -trial.index), default=None)


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
    """Orion's experiment; failed trials are JSON files beside it, because Orion requires an objective for each."""

    def __init__(self, home: Path, space: Mapping[str, str], seed: int, trials: int) -> None:
        self.home = home
        self.client = _open(home / "orion.pkl", space, seed, trials)
        self.experiment = self.client._experiment
        self.suggested = self._sequence(trials)
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

    def find(self, suggestion: Any) -> Result | None:
        """How the suggested trial ended, or None if it has not run. The accuracy is the exact number of the trial."""
        trial = self.known.get(suggestion.id)
        failure = self._failure(suggestion)
        try:
            if trial is not None and trial.status == "completed":
                values = {result.name: result.value for result in trial.results}
                return Result("completed", float(values["accuracy"]), float(values["seconds"]))
            if failure.is_file():
                return Result(**json.loads(failure.read_text(encoding="utf-8")))
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(
                f"{self.home}: the stored result of trial {suggestion.id} is damaged ({error!r}). Move the folder away "
                "to start this search from the beginning."
            ) from error
        return None

    def reserve(self, suggestion: Any) -> None:
        if suggestion.id not in self.known:
            self.experiment.register_trial(suggestion, status="reserved")
        elif self.known[suggestion.id].status != "reserved":
            self.experiment.set_trial_status(self.known[suggestion.id], "reserved")

    def record(self, suggestion: Any, result: Result) -> None:
        """Orion minimises, so its objective is the error, 100 − accuracy. A failed trial is `broken` and gets none.

        The accuracy itself is stored as well: 100 − error may differ from it in the last digit, and then equal trials
        would no longer be equal after a resumption.
        """
        trial = self.experiment.get_trial(uid=suggestion.id)
        if result.accuracy is None:
            write_text(self._failure(suggestion), json.dumps(asdict(result)) + "\n")
            self.experiment.set_trial_status(trial, "broken")
            return
        values = (
            ("error", "objective", 100 - result.accuracy),
            ("accuracy", "statistic", result.accuracy),
            ("seconds", "statistic", result.seconds),
        )
        trial.results = [type(trial).Result(name=name, type=kind, value=value) for name, kind, value in values]
        self.experiment.update_completed_trial(trial)

    def _failure(self, suggestion: Any) -> Path:
        return self.home / "failed" / f"{suggestion.id}.json"


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
            max_broken=10**9,  # a diverged trial is an outcome, not a reason to stop
            storage={"type": "legacy", "database": {"type": CheckedDB.__name__, "host": os.path.abspath(store)}},
        )
    except Exception as error:  # Orion wraps a damaged store and a refused space alike in its own classes
        raise UserError(
            f"Orion refused the search: {error!r}. Check search.spaces in the config, or move {store} away."
        ) from error
