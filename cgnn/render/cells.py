"""Cells of accuracies: ours ± std with n, the paper's value under it, and the difference with its interval."""

import math
from typing import Any

import pandas as pd

from cgnn.analysis.rows import compare, finished, missing_reason, sample
from cgnn.analysis.statistics import SIGNIFICANCE, Difference, welch_from_summary
from cgnn.paper.reported import Summary
from cgnn.render.table import Cell


def number(value: float, digits: int = 1) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 1) -> str:
    return "–" if math.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def short(value: float) -> str:
    """Three digits without exponents: 1,230, 45.6, 0.0123."""
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def plus_minus(group: Summary) -> str:
    return number(group.mean) if math.isnan(group.std) else f"{group.mean:.1f} ± {group.std:.1f}"


def interval_text(gap: Difference) -> str:
    """``−1.7 [−2.6, −0.8]``"""
    if math.isnan(gap.low):
        return signed(gap.estimate)
    return f"{signed(gap.estimate)} [{signed(gap.low)}, {signed(gap.high)}]"


def accuracy_cell(
    rows: pd.DataFrame,
    paper: Summary | None,
    *,
    file: str,
    where: dict[str, Any],
    column: str = "test_accuracy",
    bold: bool = False,
    comparable: bool = True,
    more: tuple[str, ...] = (),
) -> Cell:
    """``comparable`` is False where the paper's value is for another graph: then it is shown without a difference."""
    ours = sample(rows, column)
    under: tuple[str, ...] = ()
    numbers: dict[str, float | None] = {}
    if paper is not None:
        under = (f"paper {plus_minus(paper)}" if comparable else f"paper, all labels {plus_minus(paper)}",)
        numbers = {"paper": paper.mean, "paper_std": paper.std}
    if ours.n == 0:
        return Cell("–", (*under, *more), missing=missing_reason(rows), numbers=numbers, file=file, where=where)
    low, high = ours.interval()
    numbers |= {"value": ours.mean, "std": ours.std, "n": ours.n, "low": low, "high": high}
    if paper is not None and comparable:
        gap = welch_from_summary(ours, paper)
        under = (*under, interval_text(gap))
        numbers |= {"difference": gap.estimate, "difference_low": gap.low, "difference_high": gap.high, "p": gap.p}
    lost = len(rows) - len(finished(rows, column))
    if lost:
        failed = rows[rows["status"] != "ok"]
        under = (*under, f"{lost} {missing_reason(failed)}")
    return Cell(f"{plus_minus(ours)} ({ours.n})", (*under, *more), bold, numbers=numbers, file=file, where=where)


def best_if_significant(groups: dict[str, pd.DataFrame]) -> str | None:
    """The group with the highest mean, if it differs from the next at 5 %; else None."""
    means = {name: sample(rows).mean for name, rows in groups.items() if sample(rows).n}
    ranked = sorted(means, key=lambda name: means[name], reverse=True)
    if len(ranked) < 2:
        return None
    p = compare(groups[ranked[0]], groups[ranked[1]]).p
    return ranked[0] if p < SIGNIFICANCE else None
