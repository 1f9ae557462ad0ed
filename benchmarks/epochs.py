"""Time one epoch (step, validation and test accuracy) of one replica: exact, released recipe and others."""

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from benchmarks.ours import Floor, OurEpoch
from benchmarks.problem import Problem
from benchmarks.pyg_baselines import PygEpoch
from benchmarks.released_recipe import ReleasedEpoch
from benchmarks.timing import Plan, take_turns, threads
from cgnn.paper.hyperparameters import Hyperparameters, published

SOLVERS = ("exact", "exact_recompute", "rk4", "dopri5_adjoint")


def contestants(problem: Problem, models: tuple[str, ...]) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """(model, recipe, epoch), each built when it is requested."""
    for model in models:
        settings = settings_of(problem.dataset, model)
        yield model, "released", ReleasedEpoch(problem, settings, weight=model == "cgnn_weight")
        for solver in SOLVERS:
            yield model, solver, OurEpoch(problem, model, settings, solver)
        yield model, "floor", Floor(problem, settings)
    for model in ("gcn", "gat"):
        yield model, "pyg", PygEpoch(problem, model, sparse=False)
        yield model, "pyg_sparse", PygEpoch(problem, model, sparse=True)
        yield model, "ours", OurEpoch(problem, model, settings_of(problem.dataset, model), fused=False)
        yield model, "fused", OurEpoch(problem, model, settings_of(problem.dataset, model))


def settings_of(dataset: str, model: str) -> Hyperparameters:
    settings = published(dataset, "fixed", model)
    if settings is None:
        raise ValueError(f"paper/reported.yaml has no settings of {model} on {dataset}")
    return settings


def measure_epochs(problem: Problem, thread_count: int, plan: Plan) -> list[dict[str, Any]]:
    """One row per contestant, in milliseconds. All contestants take turns, so that ratios of rows are meaningful."""
    with threads(thread_count):
        field = {(model, recipe): run for model, recipe, run in contestants(problem, ("cgnn", "cgnn_weight"))}
        turns = take_turns({" ".join(key): run for key, run in field.items()}, plan)
    rows = []
    for (model, recipe), run in field.items():
        seconds = turns[f"{model} {recipe}"]
        row: dict[str, Any] = {
            "dataset": problem.dataset,
            "threads": thread_count,
            "model": model,
            "recipe": recipe,
            "ms_per_epoch": round(1000 * median(seconds), 4),
            "ms": [round(1000 * value, 4) for value in seconds],
        }
        if isinstance(run, ReleasedEpoch):
            row["derivative_evaluations"] = run.evaluations_of_last_epoch
        if isinstance(run, Floor):
            row["propagations"] = run.propagations
        rows.append(row)
    return rows
