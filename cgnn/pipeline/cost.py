"""What the experiments of a config cost: measured where they were run, extrapolated from measured epochs elsewhere."""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from cgnn.pipeline import plan
from cgnn.results.chunks import Chunk
from cgnn.results.collect import read_rows

Speeds = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Piece:
    """One training or search: seconds ``measured`` of what exists, ``expected`` of what does not (None: unknown)."""

    stage: str
    dataset: str
    epochs: int
    measured: float
    missing_epochs: int
    expected: float | None


def pieces(config: Mapping[str, Any]) -> Iterator[Piece]:
    """Every training and search that the config asks for. Profiles are not counted: they time themselves."""
    results, size, trials = Path(config["results"]), config["jobs"]["replicas_per_job"], config["search"]["trials"]
    speeds = measured_speeds(results)
    for search in plan.searches(config):
        epochs = config["search"]["epochs"].get(search.dataset, config["search"]["epochs"]["default"])
        seconds = _seconds(results / search.folder / "trials.seconds.csv")
        missing = max(0, trials - len(seconds)) * epochs
        expected = _expected(missing, speeds.get((search.dataset, search.model)))
        yield Piece("search", search.dataset, trials * epochs, sum(seconds), missing, expected)
    for training in chain(plan.runs(config), plan.sweeps(config), plan.fidelity(config), plan.curves(config)):
        if training.same_as:
            continue  # its rows are taken from a run that is counted
        epochs = training.epochs or config["protocol"]["epochs"]
        measured, missing = 0.0, 0
        for path, replicas in _files(training, results, size):
            if path.is_file():
                measured += sum(_seconds(path.with_suffix(".seconds.csv")))
            else:
                missing += replicas * epochs
        # A layer more is an epoch so much longer; the speeds are those of two layers.
        depth = dict(training.settings).get("layers", 2) / 2
        expected = _expected(missing * depth, speeds.get((training.dataset, training.model)))
        yield Piece(training.stage, training.dataset, training.replicas * epochs, measured, missing, expected)


def _files(training: plan.Training, results: Path, size: int) -> Iterator[tuple[Path, int]]:
    """Its files of rows, and the replicas in each. Curves are recorded in one go, their rows beside them."""
    if training.stage == "curves":
        yield results / f"{training.folder}.rows" / "runs.csv", training.replicas
    else:
        yield from ((Path(file), len(Chunk.of(file) or ())) for file in training.files(str(results), size))


def measured_speeds(results: Path) -> Speeds:
    """Median seconds an epoch by dataset and model, of the trainings for the tables."""
    found: dict[tuple[str, str], list[float]] = {}
    for path in chain(results.glob("runs/**/*.seconds.csv"), results.glob("residual/*/*/2/*.seconds.csv")):
        for row in read_rows(path)[1]:
            if row["seconds_per_epoch"]:
                found.setdefault((row["dataset"], row["model"]), []).append(float(row["seconds_per_epoch"]))
    return {key: statistics.median(values) for key, values in found.items()}


def summary(found: list[Piece], cores: int) -> str:
    """A line a dataset and stage, and the sum: core-hours measured, expected for the rest, and epochs."""
    lines = [f"{'':<24}{'epochs':>10}{'measured':>12}{'rest':>12}   core-hours"]
    keys = list(dict.fromkeys((piece.dataset, piece.stage) for piece in found))
    for dataset, stage in sorted(keys):
        members = [piece for piece in found if (piece.dataset, piece.stage) == (dataset, stage)]
        lines.append(_line(f"{dataset}, {stage}", members))
    lines.append(_line("all", found))
    unknown = sum(piece.missing_epochs for piece in found if piece.expected is None)
    total = sum(piece.measured + (piece.expected or 0) for piece in found) / 3600
    lines.append(f"\n{total:.1f} core-hours in all, {total / cores:.1f} hours on {cores} cores")
    if unknown:
        lines.append(f"not in it: {unknown:,} epochs of models not timed on their dataset yet")
    return "\n".join(lines)


def _line(label: str, members: list[Piece]) -> str:
    epochs = sum(piece.epochs for piece in members)
    measured = sum(piece.measured for piece in members) / 3600
    rest = sum(piece.expected or 0 for piece in members) / 3600
    return f"{label:<24}{epochs:>10,}{measured:>12.2f}{rest:>12.2f}"


def _expected(epochs: float, speed: float | None) -> float | None:
    return 0.0 if not epochs else None if speed is None else epochs * speed


def _seconds(path: Path) -> list[float]:
    """The column of that name; a trial that diverged has none."""
    return [float(row["seconds"] or 0) for row in read_rows(path)[1]] if path.is_file() else []
