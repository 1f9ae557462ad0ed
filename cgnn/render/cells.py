"""Cells of accuracies, and numbers as tables print them."""

import math
from collections.abc import Mapping
from typing import Any

from cgnn.analysis.statistics import Difference
from cgnn.paper.reported import Summary
from cgnn.render.table import Cell


def number(value: float, digits: int = 1) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    if math.isnan(value):
        return "–"
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def short(value: float) -> str:
    """Three digits without exponents: 1,230, 45.6, 0.0123."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def plus_minus(group: Summary) -> str:
    return mean_text(group.mean, group.std)


def mean_text(mean: float, std: float) -> str:
    return number(mean) if math.isnan(std) else f"{mean:.1f} ± {std:.1f}"


def interval_text(gap: Difference) -> str:
    """``−1.7 [−2.6, −0.8]``"""
    if math.isnan(gap.low):
        return signed(gap.estimate)
    return f"{signed(gap.estimate)} [{signed(gap.low)}, {signed(gap.high)}]"


def count_text(counts: set[int]) -> str:
    """``10``, or ``3 to 10`` if cells differ."""
    if not counts:
        return "no"
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


#: The numbers of a cell, by the column of summary.csv that holds them.
NUMBERS = {
    "value": "mean",
    "std": "std",
    "n": "n_ok",
    "low": "low",
    "high": "high",
    "paper": "paper_mean",
    "paper_std": "paper_std",
    "difference": "difference",
    "difference_low": "difference_low",
    "difference_high": "difference_high",
    "p": "p",
}


def accuracy_cell(record: Mapping[Any, Any] | None, *, file: str, where: dict[str, Any], bold: bool = False) -> Cell:
    """Our number, from a record of ``analysis.summary``: mean ± deviation, and the number of failed runs, if any."""
    if record is None:
        return Cell("–", missing="not run", file=file, where=where)
    numbers = {name: float(record[key]) for name, key in NUMBERS.items() if _known(record.get(key))}
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
    return Cell(plus_minus(paper), numbers={"paper": paper.mean, "paper_std": paper.std})


def _known(value: Any) -> bool:
    return value is not None and value == value
