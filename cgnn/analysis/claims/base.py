"""The parts of every claim's test: the evidence it may use, its comparisons, and how they give a verdict."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import pandas as pd

from cgnn.analysis.rows import Protocol
from cgnn.analysis.statistics import SIGNIFICANCE, Difference, holm
from cgnn.paper.reported import Reported

CLOSE = 1.0  # points: less than this is no lead worth claiming; the paper's own CGNN variants differ by at most 0.6


class Verdict(StrEnum):
    """What the results say about a claim. Each value is printed verbatim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    DEPENDS = "depends on the protocol"
    NOT_REPRODUCED = "not reproduced"
    TOO_FEW_RUNS = "too few runs"
    NOT_TESTABLE = "not testable here"


def count_verdicts(counts: Mapping[str, int]) -> list[str]:
    """Phrases for a sentence, such as ``2 depend on the protocol``; verdicts of no claim are left out."""
    phrases = {
        Verdict.PARTLY: ("partly reproduced", "partly reproduced"),
        Verdict.DEPENDS: ("depends on the protocol", "depend on the protocol"),
        Verdict.TOO_FEW_RUNS: ("with too few runs", "with too few runs"),
    }
    found = []
    for name, count in counts.items():
        singular, plural = phrases.get(Verdict(name), (name, name))
        found += [f"{count} {singular if count == 1 else plural}"] if count else []
    return found


def claim_count(claims: Sequence[Mapping[str, Any]]) -> str:
    """``13 claims (14 verdicts, because C13 has two parts)``: the parts of a claim have a letter after its number."""
    parts: dict[str, int] = {}
    for claim in claims:
        number = claim["id"].rstrip("ab")
        parts[number] = parts.get(number, 0) + 1
    split = " and ".join(number for number, count in parts.items() if count == 2)
    return f"{len(parts)} claims" + (f" ({len(claims)} verdicts, because {split} has two parts)" if split else "")


#: Verdicts that the data decided; the others say that data is missing.
DECIDED = (Verdict.REPRODUCED, Verdict.PARTLY, Verdict.NOT_REPRODUCED)


class Outcome(StrEnum):
    """What one comparison says about its claim."""

    PASSED = "passed"
    CONTRADICTED = "contradicted"
    TOO_FEW_RUNS = "too few runs"
    CANNOT_FAIL = "cannot fail"  # both sides are identical by construction; shown, but it decides nothing


class Kind(StrEnum):
    """Which test a comparison is; ``details`` of a comparison are documented by kind in docs/claims.md."""

    DIFFERENCE = "difference"
    MARGIN = "difference beyond a margin"
    EQUIVALENCE = "equivalence"
    NON_INFERIORITY = "non-inferiority"
    NO_GAIN = "no gain"
    RANGE = "difference of ranges"
    SLOPE = "slope"
    GROWTH = "growth"
    CROSSOVER = "crossover depth"
    RATIO = "ratio"
    RATE = "rate"
    SPREAD = "difference of spreads"
    DIVERGED = "diverged runs"


@dataclass(frozen=True)
class Evidence:
    """The result files; a frame that is None does not exist."""

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
    """One number that a claim depends on. ``p`` belongs to the test named in ``method``; nan where there is none."""

    kind: Kind
    label: str
    estimate: float
    unit: str
    method: str
    outcome: Outcome
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    effect: float = math.nan  # Hedges' g; nan where the comparison is not of two groups of runs
    n_a: int = 0
    n_b: int = 0
    p_holm: float = math.nan
    note: str = ""  # for readers; no code parses it
    details: Mapping[str, float | str | bool] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.outcome is Outcome.PASSED

    @property
    def outcome_holm(self) -> Outcome:
        """The outcome if p is adjusted by Holm; a comparison that then no longer passes has too few runs."""
        fails = self.passed and self.p_holm >= SIGNIFICANCE
        return Outcome.TOO_FEW_RUNS if fails else self.outcome


@dataclass(frozen=True)
class Scope:
    """The protocol of one verdict; a field that does not matter for the claim stays empty."""

    preset: str = ""
    hyperparameter_source: str = ""
    split_kind: str = ""
    reading: str = ""

    @property
    def label(self) -> str:
        settings = "/".join(filter(None, (self.preset, self.hyperparameter_source)))
        return ", ".join(filter(None, (settings, self.split_kind, self.reading)))


@dataclass(frozen=True)
class Part:
    """The comparisons of a claim under one protocol; the verdict of a claim comes from its main parts."""

    scope: Scope
    comparisons: tuple[Comparison, ...]
    missing: tuple[str, ...] = ()
    main: bool = True
    any_suffices: bool = False

    @property
    def verdict(self) -> Verdict:
        return grade([item.outcome for item in self.comparisons], self.missing, self.any_suffices)

    @property
    def verdict_holm(self) -> Verdict:
        return grade([item.outcome_holm for item in self.comparisons], self.missing, self.any_suffices)

    @property
    def complete(self) -> bool:
        """More comparisons were made than are missing."""
        return len(self.comparisons) > len(self.missing)


@dataclass(frozen=True)
class Claim:
    """A claim with its verdict, with and without Holm's adjustment, and the verdict under each protocol."""

    id: str
    verdict: Verdict
    test: str
    evidence: str
    parts: tuple[Part, ...] = ()
    missing: tuple[str, ...] = ()
    why: str = ""
    verdict_holm: Verdict = Verdict.NOT_TESTABLE

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return tuple(item for part in self.parts if part.main for item in part.comparisons)

    @property
    def weakest(self) -> Comparison | None:
        return least_favourable(self.comparisons) if self.comparisons else None


def least_favourable(comparisons: Iterable[Comparison]) -> Comparison:
    """The comparison that decides the conjunction: the worst outcome, and of those the least support for the claim."""
    worst = (Outcome.CONTRADICTED, Outcome.TOO_FEW_RUNS, Outcome.PASSED, Outcome.CANNOT_FAIL)
    return min(comparisons, key=lambda item: (worst.index(item.outcome), -_doubt(item)))


def _doubt(item: Comparison) -> float:
    """Orders comparisons with the same outcome: the p of the claimed direction, or the depth of a crossover."""
    value = item.estimate if item.kind is Kind.CROSSOVER else float(item.details.get("one_sided_p", item.p))
    return -1.0 if math.isnan(value) else value


def directional(
    kind: Kind, label: str, gap: Difference, sign: int, refuted: bool = False, **details: float | str | bool
) -> Comparison:
    """ "a − b has this sign": passes if the 95 % interval lies on that side of 0.

    It is contradicted if the interval excludes a difference of CLOSE points on the claimed side, or if ``refuted``;
    an interval that includes both only shows that there are too few runs.
    """
    outcome = one_sided(gap.low, gap.high, sign, refuted)
    p = gap.p_above(0.0) if sign > 0 else gap.p_below(0.0)
    return from_difference(kind, label, gap, gap.p, outcome, one_sided_p=p, **details)


def one_sided(low: float, high: float, sign: int, refuted: bool = False) -> Outcome:
    near, far = (low, high) if sign > 0 else (-high, -low)
    if refuted or (far < CLOSE and not near > 0):
        return Outcome.CONTRADICTED
    return Outcome.PASSED if near > 0 else Outcome.TOO_FEW_RUNS


def from_difference(
    kind: Kind, label: str, gap: Difference, p: float, outcome: Outcome, **details: float | str | bool
) -> Comparison:
    """A difference of accuracies in points, with the p of the claim's test."""
    method = gap.method if kind is Kind.DIFFERENCE else f"{kind}, {gap.method}"
    found = Comparison(kind, label, gap.estimate, "points", method, outcome, gap.low, gap.high, p, gap.effect)
    return replace(found, n_a=gap.n_a, n_b=gap.n_b, details=details)


def adjust(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Add Holm's p over these comparisons. It decides only those claims for which one comparison suffices."""
    adjusted = holm([item.p for item in comparisons])
    return tuple(replace(item, p_holm=p) for item, p in zip(comparisons, adjusted, strict=True))


def grade(outcomes: Sequence[Outcome], missing: Sequence[str] = (), any_suffices: bool = False) -> Verdict:
    """Turn the outcomes of all comparisons into a verdict; docs/claims.md states the rules."""
    counted = [outcome for outcome in outcomes if outcome is not Outcome.CANNOT_FAIL]
    if not counted:
        return Verdict.NOT_TESTABLE
    passed = counted.count(Outcome.PASSED)
    if passed == len(counted) or (any_suffices and passed):
        untested = not any_suffices and len(missing) >= len(counted)
        return Verdict.PARTLY if untested else Verdict.REPRODUCED
    if passed:
        return Verdict.PARTLY
    return Verdict.NOT_REPRODUCED if Outcome.CONTRADICTED in counted else Verdict.TOO_FEW_RUNS


TOO_FEW = "too few runs, points or timings to tell: they agree with the claim and with its opposite"
NO_TEST = "both sides of every comparison are identical, so nothing was tested"


def conclude(identifier: str, test: str, text: str, parts: Sequence[Part]) -> Claim:
    """The verdict of the main parts together; if complete parts disagree, the claim depends on the protocol."""
    main = [part for part in parts if part.main]
    missing = tuple(dict.fromkeys(name for part in main for name in part.missing))
    some = any(part.any_suffices for part in main)
    found = [item for part in main for item in part.comparisons]
    verdict = _overall(grade([item.outcome for item in found], missing, some), [(p, p.verdict) for p in parts])
    adjusted = grade([item.outcome_holm for item in found], missing, some)
    verdict_holm = _overall(adjusted, [(part, part.verdict_holm) for part in parts])
    why = {Verdict.TOO_FEW_RUNS: TOO_FEW, Verdict.NOT_TESTABLE: NO_TEST}.get(verdict, "")
    untested = f" Not tested: {', '.join(missing)}." if missing else ""
    return Claim(identifier, verdict, test, text + untested, tuple(parts), missing, why, verdict_holm)


def _overall(main: Verdict, judged: Sequence[tuple[Part, Verdict]]) -> Verdict:
    decided = {verdict for part, verdict in judged if part.complete and verdict in DECIDED}
    return Verdict.DEPENDS if len(decided) > 1 else main


def not_testable(
    identifier: str, test: str, why: str, missing: Sequence[str] = (), parts: Sequence[Part] = ()
) -> Claim:
    """A claim without a comparison under the main protocol; ``parts`` show the verdicts of other protocols."""
    missing = missing or tuple(dict.fromkeys(name for part in parts if part.main for name in part.missing))
    text = f"Not testable here: {why}."
    return Claim(identifier, Verdict.NOT_TESTABLE, test, text, tuple(parts), tuple(missing), why)


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, with a typographic minus."""
    return "–" if math.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def digits_of(*values: float | None) -> int:
    """One digit after the point, or two if one would print a number other than 0 as 0.0."""
    return 2 if any(value and abs(value) < 0.05 for value in values) else 1


def span(item: Comparison) -> str:
    """``+1.2 [+0.4, +2.0]``"""
    digits = digits_of(item.estimate, item.low, item.high)
    if math.isnan(item.low):
        return signed(item.estimate, digits)
    return f"{signed(item.estimate, digits)} [{signed(item.low, digits)}, {signed(item.high, digits)}]"


def p_text(p: float) -> str:
    if math.isnan(p):
        return "no p"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
