"""One trial of a search: a single replica with suggested hyperparameters, here or in a pool of processes."""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters, override
from cgnn.search.orion import Params, Result


@dataclass(frozen=True)
class Task:
    """What all trials of a search share."""

    dataset: str
    split_kind: str
    model: str
    preset: str
    fidelity: Fidelity
    base: Hyperparameters
    graph: str
    split: str
    device: str
    memory_limit: int | None


def evaluate(task: Task, workers: int, trials: Iterable[tuple[int, Params]]) -> Iterator[tuple[int, Result]]:
    """Results as they come. Each trial runs on one thread, so they do not depend on ``workers``."""
    if workers == 1:
        for index, params in trials:
            yield index, run_trial(task, params)
        return
    from multiprocessing import get_context

    waiting = iter(trials)
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_die_with_parent) as pool:
        running: dict[Any, int] = {}
        while True:
            while len(running) < workers and (following := next(waiting, None)) is not None:
                running[pool.submit(run_trial, task, following[1])] = following[0]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def run_trial(task: Task, params: Params) -> Result:
    """Train replica 0. Only its validation accuracy leaves this function: the search never sees the test nodes."""
    from cgnn.training.experiment import Experiment, run_experiment
    from cgnn.training.record import Training

    started = time.perf_counter()
    experiment = Experiment(
        training=Training(task.dataset, task.split_kind, task.model, task.preset, "search"),
        hyperparameters=override(task.base, **params),
        device=task.device,
        threads=1,
        memory_limit=task.memory_limit,
    )
    graph, split = _load(task.graph, task.split)
    outcome = next(iter(run_experiment(experiment, graph, {0: split})))
    seconds = round(time.perf_counter() - started, 3)
    if outcome.status != "ok":
        return Result(outcome.status, None, seconds)
    return Result("completed", float(outcome.selected.validation_accuracy), seconds)


_loaded: dict[tuple[str, str], Any] = {}


def _load(graph: str, split: str) -> Any:
    """Read once a process."""
    from cgnn.datasets.graph import load_graph
    from cgnn.datasets.splits import load_split

    if (graph, split) not in _loaded:
        whole = load_graph(graph)
        _loaded[graph, split] = whole, load_split(split, graph_sha256=whole.sha256)
    return _loaded[graph, split]


def _die_with_parent() -> None:
    """A pool's workers outlive a parent that was killed with -9; these notice and leave."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
