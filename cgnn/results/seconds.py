"""The times of all trainings and trials, each under the stage of the workflow that it belongs to."""

from collections.abc import Sequence
from pathlib import Path

from cgnn.results import collect
from cgnn.results.collect import STAGES, Row


def collect_seconds(files: Sequence[Path]) -> tuple[list[str], list[Row]]:
    """The rows of ``collect.collect_seconds``, with the stage of trainings that use searched hyperparameters corrected.

    Their path has a folder ``search`` as well, which that function takes for the stage. It is corrected here because
    ``collect.py`` is part of the fingerprint of every training.
    """
    columns: list[str] = []
    rows: list[Row] = []
    for path in files:
        columns, found = collect.collect_seconds([path])
        rows += [{**row, "stage": _stage(path)} for row in found]
    return columns, rows


def _stage(path: Path) -> str:
    if path.name == "trials.seconds.csv":
        return "search"
    return next(part for part in reversed(path.parts) if part in STAGES and part != "search")
