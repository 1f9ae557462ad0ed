"""The cost of a config's experiments: measured for finished ones, extrapolated from measured epochs for the rest."""

import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cgnn.pipeline import plan
from cgnn.pipeline.config import PROJECT
from cgnn.results.chunks import Chunk
from cgnn.results.collect import read_rows
from cgnn.results.schema import seconds_path

#: Median seconds per epoch by dataset and model.
Speeds = Mapping[tuple[str, str], float]
PUBLISHED = PROJECT / "results" / "published" / "seconds.csv"


@dataclass(frozen=True)
class Piece:
    """One training or search: seconds ``measured`` for existing results, ``expected`` for missing ones or None."""

    stage: str
    dataset: str
    epochs: int
    measured: float
    missing_epochs: int
    expected: float | None


def pieces(config: Mapping[str, Any], published: Path = PUBLISHED) -> Iterator[Piece]:
    """Every training and search of the config, without profiles.

    Models that were not timed in this results tree are assumed to take as long as in the published run.
    """
    results, section = Path(config["results"]), config["search"]
    speeds = {**measured_speeds([published]), **measured_speeds(sorted(results.glob("runs/**/*.seconds.csv")))}
    for search in plan.searches(config):
        epochs = section["epochs"].get(search.dataset, section["epochs"]["default"])
        seconds = _seconds(results / search.folder / "trials.seconds.csv")
        evaluations = plan.evaluations(config)
        missing = max(0, evaluations - len(seconds)) * epochs
        expected = _expected(missing, speeds.get((search.dataset, search.model)))
        yield Piece("search", search.dataset, evaluations * epochs, sum(seconds), missing, expected)
    for planned in plan.trainings(config):
        training = planned.training
        epochs = training.epochs or config["protocol"]["epochs"]
        measured, missing = 0.0, 0
        for file in planned.files(config):
            if Path(file).is_file():
                measured += sum(_seconds(seconds_path(file)))
            else:
                missing += len(Chunk.of(file) or ()) * epochs
        # The time per epoch grows with the number of layers; the measured speeds are for two layers.
        depth = float(dict(training.settings).get("layers", 2)) / 2
        expected = _expected(missing * depth, speeds.get((training.dataset, training.model)))
        yield Piece(planned.stage, training.dataset, planned.replicas * epochs, measured, missing, expected)


def measured_speeds(files: Iterable[Path]) -> Speeds:
    """Median seconds per epoch of trainings with two layers, or of all variants of a model without such a training."""
    usual: dict[tuple[str, str], list[float]] = {}
    others: dict[tuple[str, str], list[float]] = {}
    for path in files:
        for row in read_rows(path)[1] if path.is_file() else ():
            if speed := float(row["seconds_per_epoch"] or 0):
                found = usual if row["variant"] in ("", "layers-2") else others
                found.setdefault((row["dataset"], row["model"]), []).append(speed)
    return {key: statistics.median(values) for key, values in (others | usual).items()}


def summary(found: list[Piece], cores: int) -> str:
    """One line per dataset and stage, and the total: epochs, measured core-hours, and expected ones for the rest."""
    lines = [f"{'':<24}{'epochs':>10}{'measured':>12}{'expected':>12}   core-hours"]
    for dataset, stage in sorted({(piece.dataset, piece.stage) for piece in found}):
        members = [piece for piece in found if (piece.dataset, piece.stage) == (dataset, stage)]
        lines.append(_line(f"{dataset}, {stage}", members))
    lines.append(_line("all", found))
    total = sum(piece.measured + (piece.expected or 0) for piece in found) / 3600
    lines.append(f"\n{total:.1f} core-hours in total, {total / cores:.1f} hours on {cores} cores")
    unknown = sum(piece.missing_epochs for piece in found if piece.expected is None)
    if unknown:
        lines.append(f"not included: {unknown:,} epochs of models that were never timed on their dataset")
    return "\n".join(lines)


def time_left(found: Iterable[Piece], cores: int) -> str:
    """The remaining time, as text."""
    missing = [piece for piece in found if piece.missing_epochs]
    if not missing:
        return "no training or search is left"
    hours = sum(piece.expected or 0 for piece in missing) / 3600 / cores
    unknown = sum(piece.expected is None for piece in missing)
    return f"{len(missing)} trainings and searches left, about {hours:.1f} hours on {cores} cores" + (
        f" ({unknown} of them were never timed and are not included)" if unknown else ""
    )


def _line(label: str, members: list[Piece]) -> str:
    epochs = sum(piece.epochs for piece in members)
    measured = sum(piece.measured for piece in members) / 3600
    rest = sum(piece.expected or 0 for piece in members) / 3600
    return f"{label:<24}{epochs:>10,}{measured:>12.2f}{rest:>12.2f}"


def _expected(epochs: float, speed: float | None) -> float | None:
    return 0.0 if not epochs else None if speed is None else epochs * speed


def _seconds(path: Path) -> list[float]:
    """The column ``seconds``; diverged trials have no value."""
    return [float(row["seconds"] or 0) for row in read_rows(path)[1]] if path.is_file() else []
