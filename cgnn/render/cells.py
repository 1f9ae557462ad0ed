"""Cells of accuracies, and numbers as tables print them."""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from cgnn.analysis.claims import base
from cgnn.analysis.statistics import Difference
from cgnn.paper.reported import Summary
from cgnn.render.table import NUMBERS, Cell, Row


def number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}".replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    """As in the claims, but what is printed as 0 has no sign."""
    text = base.signed(value, digits)
    return text if text.strip("+−0.") else text.lstrip("+−")


def short(value: float) -> str:
    """Three digits without exponents: 1,230, 45.6, 0.0123."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def mean_text(mean: float, std: float) -> str:
    return number(mean) if math.isnan(std) else f"{mean:.1f} ± {std:.1f}"


def interval_text(estimate: float, low: float, high: float) -> str:
    """``−1.7 [−2.6, −0.8]``, or the estimate alone; rounding a bound does not hide on which side of 0 it lies."""
    if math.isnan(low) or math.isnan(high):
        return signed(estimate)
    digits = base.digits_of(low, high)
    # A bound of exactly 0 lies on neither side.
    first, last = (base.signed(bound, digits) if bound else signed(bound, digits) for bound in (low, high))
    return f"{signed(estimate, digits)} [{first}, {last}]"


def count_text(counts: set[int]) -> str:
    """``10``, or ``3 to 10`` if cells differ."""
    if not counts:
        return "no"
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def runs_text(counts: Iterable[tuple[str, int]]) -> str:
    """``10 seeds or 15 random splits``, from the split kind and the number of runs of each cell."""
    seeds: set[int] = set()
    splits: set[int] = set()
    for kind, count in counts:
        (seeds if kind == "fixed" else splits).add(count)
    words = ((seeds, "seeds"), (splits, "random splits"))
    return " or ".join(f"{count_text(found)} {word}" for found, word in words if found) or "no runs"


#: The columns of summary.csv that hold the numbers of a cell, where their names differ.
COLUMN_OF = {"value": "mean", "n": "n_ok", "paper": "paper_mean"}


def first_record(rows: pd.DataFrame) -> dict[Hashable, Any] | None:
    """The first row as a mapping, or None if there is none."""
    return rows.iloc[0].to_dict() if len(rows) else None


def accuracy_cell(record: Mapping[Any, Any] | None, *, file: str, where: dict[str, Any], bold: bool = False) -> Cell:
    """Our number, from a record of ``analysis.summary``: mean ± deviation, and the number of failed runs, if any."""
    if record is None:
        return Cell("–", missing="not run", file=file, where=where)
    values = {name: record.get(COLUMN_OF.get(name, name)) for name in NUMBERS}
    numbers = {name: float(value) for name, value in values.items() if value is not None and value == value}
    if not record["n_ok"]:
        reason = " / ".join(str(record["status"]).split("/")).replace("_", " ")
        numbers = {name: value for name, value in numbers.items() if name.startswith("paper")}
        return Cell("–", missing=reason or "not run", numbers=numbers, file=file, where=where)
    lost = tuple(
        f"{int(record[f'n_{status}'])} {status.replace('_', ' ')}"
        for status in ("diverged", "out_of_memory")
        if record[f"n_{status}"]
    )
    return Cell(mean_text(record["mean"], record["std"]), lost, bold, numbers=numbers, file=file, where=where)


def paper_cell(paper: Summary | None, missing: str = "") -> Cell:
    """The paper's number."""
    if paper is None:
        return Cell("–", missing=missing)
    return Cell(mean_text(paper.mean, paper.std), numbers={"paper": paper.mean, "paper_std": paper.std})


def dash_text(rows: Iterable[Row]) -> str:
    """What a dash means, if a table has one for a model that was not run."""
    dashes = any(cell.missing == "not run" for row in rows for cell in row.cells.values())
    return " A dash: not run." if dashes else ""


def change_cell(gap: Difference) -> Cell:
    """A difference of two groups of runs with its interval."""
    numbers = {"difference": gap.estimate, "difference_low": gap.low, "difference_high": gap.high, "p": gap.p}
    return Cell(interval_text(gap.estimate, gap.low, gap.high), numbers=numbers)
