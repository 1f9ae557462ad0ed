"""What every claim's test is made of: the evidence it may look at, its comparisons, its verdict."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from cgnn.analysis.rows import Protocol
from cgnn.analysis.statistics import SIGNIFICANCE, Difference, holm
from cgnn.paper.reported import Reported

REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_TESTABLE = "reproduced", "partly", "not reproduced", "not testable here"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_TESTABLE)


@dataclass(frozen=True)
class Evidence:
    """The result files; a frame that is None was not there."""

    reported: Reported
    protocol: Protocol
    runs: pd.DataFrame | None = None
    sweeps: pd.DataFrame | None = None
    fidelity: pd.DataFrame | None = None
    profiles: pd.DataFrame | None = None
    convergence: pd.DataFrame | None = None
    bench: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """One number that a claim stands on. ``p`` is that of the test named in ``method``, for what the claim says."""

    label: str
    estimate: float
    low: float
    high: float
    p: float
    unit: str
    method: str
    effect: float = math.nan
    n_a: int = 0
    n_b: int = 0
    p_adjusted: float = math.nan
    passed: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim with its verdict. ``weakest`` is the comparison on which the conjunction stands or falls."""

    id: str
    verdict: str
    test: str
    evidence: str
    comparisons: tuple[Comparison, ...] = ()
    missing: tuple[str, ...] = ()
    why: str = ""

    @property
    def weakest(self) -> Comparison | None:
        if not self.comparisons:
            return None
        failed = [item for item in self.comparisons if item.passed is False]
        pool = failed or list(self.comparisons)
        return max(pool, key=lambda item: -1.0 if math.isnan(item.p_adjusted) else item.p_adjusted)


def from_difference(
    label: str, gap: Difference, p: float | None = None, note: str = "", method: str = ""
) -> Comparison:
    """A difference of accuracies in points; ``p`` if the claim's test is not the two-sided one."""
    return Comparison(
        label,
        gap.estimate,
        gap.low,
        gap.high,
        gap.p if p is None else p,
        "points",
        method or gap.method,
        gap.effect,
        gap.n_a,
        gap.n_b,
        note=note,
    )


def adjust(comparisons: Sequence[Comparison], passes: Callable[[Comparison], bool]) -> tuple[Comparison, ...]:
    """Holm over the claim's comparisons, then the claim's own condition on each."""
    adjusted = holm([item.p for item in comparisons])
    with_p = [replace(item, p_adjusted=p) for item, p in zip(comparisons, adjusted, strict=True)]
    return tuple(replace(item, passed=bool(passes(item))) for item in with_p)


def significant(item: Comparison) -> bool:
    return item.p_adjusted < SIGNIFICANCE  # False for nan


def grade(passed: Sequence[bool | None], missing: Sequence[str] = ()) -> str:
    """All, some or none of a claim's comparisons; a claim of which half or more was never tested is at most partly."""
    if not passed:
        return NOT_TESTABLE
    if all(passed):
        return PARTLY if len(missing) >= len(passed) else REPRODUCED
    return PARTLY if any(passed) else NOT_REPRODUCED


def grade_closeness(passed: Sequence[bool | None], contradicted: Sequence[bool], missing: Sequence[str] = ()) -> str:
    """For claims that something is small: what is neither shown nor contradicted had too few runs to tell."""
    if any(passed):
        return grade(passed, missing)
    return NOT_REPRODUCED if any(contradicted) else NOT_TESTABLE


TOO_FEW = "too few runs to tell: the intervals hold both what the claim says and its opposite"


def conclude(
    identifier: str,
    test: str,
    text: str,
    judged: Sequence[Comparison],
    missing: Sequence[str],
    against: Sequence[bool] | None = None,
) -> Claim:
    """The claim with its verdict. ``against``, if something is claimed to be small: where its opposite was seen."""
    passed = [item.passed for item in judged]
    verdict = grade(passed, missing) if against is None else grade_closeness(passed, against, missing)
    why = TOO_FEW if verdict == NOT_TESTABLE else ""
    return Claim(identifier, verdict, test, text + untested(missing), tuple(judged), tuple(missing), why)


def beyond(item: Comparison, margin: float) -> bool:
    """The difference is there (its interval leaves 0 out) and larger than the margin."""
    return abs(item.estimate) > margin and (item.low > 0 or item.high < 0)


def not_testable(identifier: str, test: str, why: str, missing: Sequence[str] = ()) -> Claim:
    return Claim(identifier, NOT_TESTABLE, test, f"Not testable here: {why}.", missing=tuple(missing), why=why)


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign as print has it."""
    return "–" if math.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def span(item: Comparison, digits: int = 1) -> str:
    """``+1.2 [+0.4, +2.0]``"""
    if math.isnan(item.low):
        return signed(item.estimate, digits)
    return f"{signed(item.estimate, digits)} [{signed(item.low, digits)}, {signed(item.high, digits)}]"


def p_text(p: float) -> str:
    if math.isnan(p):
        return "no p"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def untested(missing: Sequence[str]) -> str:
    return f" Not tested: {', '.join(missing)}." if missing else ""
