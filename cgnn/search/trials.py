"""Train the replicas of a search's trials, in this process or in a pool of processes.

A search uses separate random streams and, on random splits, separate splits (search00, search01, …) that no table uses.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from cgnn.errors import UserError
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters, override
from cgnn.search.orion import Job, Result

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph
    from cgnn.datasets.splits import Split

#: The prefix of the names of the splits for searches.
SEARCH = "search"


@dataclass(frozen=True)
class Task:
    """What all trials of a search share. ``splits``: one file for all replicas, or one per replica."""

    dataset: str
    split_kind: str
    model: str
    preset: str
    fidelity: Fidelity
    base: Hyperparameters
    graph: str
    splits: tuple[str, ...]
    device: str
    memory_limit: int | None


def starting_values(dataset: str, split_kind: str, model: str) -> Hyperparameters:
    """The values of hyperparameters without a prior: the published ones, if necessary those of the other split kind."""
    from cgnn.models.registry import published

    other = {"fixed": "random", "random": "fixed"}[split_kind]
    values = published(dataset, split_kind, model) or published(dataset, other, model)
    if values is None:
        raise UserError(f"{model}: no published settings to start from; add the model to paper/baselines.yaml")
    return values


def evaluate(task: Task, workers: int, jobs: Iterable[Job]) -> Iterator[tuple[Job, Result]]:
    """Yield results as they finish. Each job runs on one thread, so results do not depend on ``workers``."""
    if workers == 1:
        for job in jobs:
            yield job, run_job(task, job)
        return
    from multiprocessing import get_context

    waiting, running = iter(jobs), dict[Any, Job]()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_die_with_parent) as pool:
        while True:
            for job in islice(waiting, workers - len(running)):
                running[pool.submit(run_job, task, job)] = job
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def run_job(task: Task, job: Job) -> Result:
    """Train one replica. Only its validation accuracy leaves this function: the search never sees the test nodes."""
    from cgnn.training.experiment import Experiment, run_experiment
    from cgnn.training.record import Training

    started = time.perf_counter()
    experiment = Experiment(
        training=Training(task.dataset, task.split_kind, task.model, task.preset, "search"),
        fidelity=task.fidelity,
        hyperparameters=override(task.base, **job.params),
        device=task.device,
        threads=1,
        memory_limit=task.memory_limit,
    )
    graph, split = _load(task.graph, task.splits[min(job.replica, len(task.splits) - 1)])
    outcome = next(iter(run_experiment(experiment, graph, {job.replica: split})))
    seconds = round(time.perf_counter() - started, 3)
    if outcome.selected is None:
        return Result(outcome.status, None, seconds)
    return Result("completed", float(outcome.selected.validation_accuracy), seconds)


def load_search_split(path: str, graph: "Graph") -> "Split":
    """A split for a search. Seeds are derived from the name of a split, so the fixed split gets another name."""
    from cgnn.datasets.splits import load_split

    split = load_split(path, graph_sha256=graph.sha256)
    if split.name == "fixed":
        return replace(split, name=SEARCH)
    if not split.name.startswith(SEARCH):
        raise UserError(
            f"{path}: found the split {split.name}, which tables use; a search needs separate splits. Make them with "
            f"`cgnn split --name {SEARCH}00`, {SEARCH}01, …"
        )
    return split


_loaded: dict[tuple[str, str], Any] = {}


def _load(graph: str, split: str) -> "tuple[Graph, Split]":
    """Read each file once per process."""
    from cgnn.datasets.graph import load_graph

    if (graph, "") not in _loaded:
        _loaded[graph, ""] = load_graph(graph)
    if (graph, split) not in _loaded:
        _loaded[graph, split] = load_search_split(split, _loaded[graph, ""])
    return _loaded[graph, ""], _loaded[graph, split]


def _die_with_parent() -> None:
    """Exit if the parent process ends; otherwise the workers of a pool would outlive a parent killed with -9."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
