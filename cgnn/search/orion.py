"""Hyperparameter search: Orion's random algorithm suggests, Orion's store remembers, one process writes.

The sequence of trials is a function of the space and the seed alone. So a search that stopped goes on with the next
trial, one extended from 50 to 80 trials runs 30, and the number of workers changes nothing.
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

Params = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """How a trial ended. ``accuracy``: on the validation nodes, in percent; None unless it ended well."""

    status: str  # completed, diverged, out_of_memory
    accuracy: float | None
    seconds: float


@dataclass(frozen=True)
class Trial:
    """The ``index``-th suggestion and how it ended."""

    index: int
    params: Params
    result: Result


#: Given trials to run, yields their results in any order, each as soon as it is there.
Evaluate = Callable[[Iterable[tuple[int, Params]]], Iterator[tuple[int, Result]]]


def search(
    folder: Path,
    identity: Mapping[str, Any],
    space: Mapping[str, str],
    seed: int,
    trials: int,
    evaluate: Evaluate,
    report: Callable[[Trial, int], None] = lambda trial, done: None,
) -> tuple[list[Trial], Any]:
    """Run what is missing of the first ``trials`` trials; give all of them, in order, and Orion's client for plots.

    ``identity`` is everything else a result depends on (data, code, fixed settings): another identity, space or seed
    has a store of its own below ``folder``, so results never mix, and going back finds the old ones.
    """
    key = hashlib.sha256(json.dumps([dict(identity), dict(space), seed]).encode()).hexdigest()[:12]
    home = folder / key
    with _only_writer(home):
        write_text(
            home / "identity.json", json.dumps({**identity, "space": dict(space), "seed": seed}, indent=1) + "\n"
        )
        store = Store(home, space, seed, trials)
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
    """The highest validation accuracy; of equal ones the earliest, so a later trial must be better to replace it."""
    completed = [trial for trial in trials if trial.result.accuracy is not None]
    return max(completed, key=lambda trial: (trial.result.accuracy, -trial.index), default=None)


@contextmanager
def _only_writer(home: Path) -> Iterator[None]:
    """Orion's pickled store takes one writer. The kernel drops the lock with the process, however that ends."""
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
    """Orion's experiment, and beside it the failures, for which Orion has no place: it insists on an objective."""

    def __init__(self, home: Path, space: Mapping[str, str], seed: int, trials: int) -> None:
        self.failures = home / "failed"
        self.client = _open(home / "orion.pkl", space, seed, trials)
        self.experiment = self.client._experiment
        self.suggested = self._sequence(trials)
        # We are the only writer, so a trial that is still reserved belongs to a process that died.
        for trial in self.experiment.fetch_trials_by_status("reserved"):
            self.experiment.set_trial_status(trial, "interrupted")
        self.known = {trial.id: trial for trial in self.experiment.fetch_trials()}

    def _sequence(self, trials: int) -> list[Any]:
        """The first suggestions of a freshly seeded algorithm. Its state in the store is not used: that is lost if the
        process dies between a suggestion and its registration."""
        suggested: list[Any] = []
        while len(suggested) < trials:
            more = self.experiment.algorithms.suggest(1)
            if not more:  # a space of choices alone can be smaller than the number of trials
                break
            more[0].experiment = self.experiment.id
            suggested.append(more[0])
        return suggested

    def find(self, suggestion: Any) -> Result | None:
        """How the suggested trial ended, if it did."""
        trial = self.known.get(suggestion.id)
        if trial is not None and trial.status == "completed":
            values = {result.name: result.value for result in trial.results}
            return Result("completed", round(100 - values["error"], 9), values["seconds"])
        try:
            return Result(**json.loads((self.failures / f"{suggestion.id}.json").read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def reserve(self, suggestion: Any) -> None:
        if suggestion.id not in self.known:
            self.experiment.register_trial(suggestion, status="reserved")
        elif self.known[suggestion.id].status != "reserved":
            self.experiment.set_trial_status(self.known[suggestion.id], "reserved")

    def record(self, suggestion: Any, result: Result) -> None:
        """Orion minimises, so its objective is the error, 100 − accuracy. A failed trial is `broken` and gets none."""
        trial = self.experiment.get_trial(uid=suggestion.id)
        if result.accuracy is None:
            write_text(self.failures / f"{suggestion.id}.json", json.dumps(asdict(result)) + "\n")
            self.experiment.set_trial_status(trial, "broken")
            return
        values = (("error", "objective", 100 - result.accuracy), ("seconds", "statistic", result.seconds))
        trial.results = [type(trial).Result(name=name, type=kind, value=value) for name, kind, value in values]
        self.experiment.update_completed_trial(trial)


def _open(store: Path, space: Mapping[str, str], seed: int, trials: int) -> Any:
    # Orion probes the git repository of the running script and warns about packages it does not need.
    warnings.filterwarnings("ignore")
    logging.getLogger("orion").setLevel(logging.ERROR)
    import numpy

    # Orion 0.2.3 spells it so where a prior has choices; numpy 1.24 took the name away.
    numpy.object = object  # type: ignore[attr-defined]
    from orion.client import build_experiment
    from orion.core.utils.singleton import update_singletons

    update_singletons()  # else a second search of one process would silently write into the first one's store
    try:
        return build_experiment(
            "search",
            space=dict(space),
            algorithms={"random": {"seed": seed}},
            max_trials=trials,
            max_broken=10**9,  # a diverged trial is an outcome, not a reason to stop
            storage={"type": "legacy", "database": {"type": "pickleddb", "host": os.path.abspath(store)}},
        )
    except (EOFError, ImportError, AttributeError, KeyError, OSError) as error:
        raise UserError(
            f"{store}: not readable as Orion's store ({error!r}). Move it away to begin this search anew."
        ) from error
    except Exception as error:
        # Orion wraps a damaged pickle and a wrong prior alike in its own classes.
        raise UserError(
            f"Orion refused the search: {error}. Check search.spaces in the config, or move {store} away."
        ) from error
