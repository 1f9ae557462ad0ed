"""C13a and C13b: augmentation changes accuracy little, and stabilises training."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from cgnn.analysis.claims.accuracy import close_outcome
from cgnn.analysis.claims.base import (
    CLOSE,
    Claim,
    Comparison,
    Evidence,
    Kind,
    Outcome,
    Part,
    Scope,
    adjust,
    conclude,
    from_difference,
    not_testable,
    p_text,
    span,
)
from cgnn.analysis.rows import in_order, paired_values
from cgnn.analysis.statistics import SIGNIFICANCE, exact_equivalence, paired, sign_flip
from cgnn.analysis.variants import with_presets
from cgnn.models import names
from cgnn.paper.reported import CLAIMED

NO_PAIRS = "no runs that differ in augmentation alone"


@dataclass(frozen=True)
class Pair:
    """Runs with and without the doubled state, for one dataset, model and setting of the other switches."""

    label: str
    with_zeros: pd.DataFrame
    without: pd.DataFrame


def c13a(evidence: Evidence) -> Claim:
    """Little or no effect on the final accuracy."""
    test = (
        f"Runs with the same seed that differ in augmentation alone: accuracies equivalent within ± {CLOSE:g} point at "
        "5 %, by two exact one-sided sign-flip tests. Pairs that are identical run by run cannot fail and do not count."
    )
    comparisons = []
    for pair in _pairs(evidence):
        values = paired_values(pair.with_zeros, pair.without)
        if values is None:
            continue
        gap = paired(*values)
        same = np.array_equal(*values)
        p = math.nan if same else exact_equivalence(values[0] - values[1], CLOSE)
        outcome = Outcome.CANNOT_FAIL if same else close_outcome(gap, p, CLOSE)
        comparison = from_difference(
            Kind.EQUIVALENCE, f"{pair.label}: with − without", gap, p, outcome, where=pair.label
        )
        comparisons.append(replace(comparison, method="equivalence, exact sign-flip"))
    if not comparisons:
        return not_testable("C13a", test, NO_PAIRS)
    judged = adjust(comparisons)
    counted = [item for item in judged if item.outcome is not Outcome.CANNOT_FAIL]
    text = f"Equivalent within ± {CLOSE:g} point in {sum(item.passed for item in counted)} of {len(counted)} pairs"
    if counted:
        far = max(counted, key=lambda item: abs(item.estimate))
        text += f"; the largest difference is {span(far)} points ({far.label}, {p_text(far.p)})"
    identical = [str(item.details["where"]) for item in judged if item.outcome is Outcome.CANNOT_FAIL]
    text += f"; identical run by run: {', '.join(identical)}." if identical else "."
    return conclude("C13a", test, text, [Part(Scope(), judged)])


def c13b(evidence: Evidence) -> Claim:
    """A more stable training."""
    test = (
        "Runs with the same seed that differ in augmentation alone: with it, fewer runs diverge (exact McNemar over "
        "all pairs) or the accuracies spread less (exact sign-flip test on distances from the median, one per "
        "pair). One must hold at 5 % after Holm; it is contradicted if one shows the opposite. Without weights, and at "
        "the weights' starting point, augmentation provably changes nothing, so only chance can pass this test there."
    )
    pairs = _pairs(evidence)
    if not pairs:
        return not_testable("C13b", test, NO_PAIRS)
    spreads = [item for pair in pairs if (item := _spread(pair)) is not None]
    diverged = _diverged(pairs)
    judged = tuple(_decided_by_holm(item) for item in adjust([diverged, *spreads]))
    tested = [item for item in judged if item.kind is Kind.SPREAD and item.outcome is not Outcome.CANNOT_FAIL]
    text = (
        f"Diverged runs: {diverged.details['with']:g} with and {diverged.details['without']:g} without augmentation of "
        f"{diverged.n_a} pairs ({p_text(diverged.p)}); spread significantly smaller with augmentation in "
        f"{sum(item.passed for item in tested)} of {len(tested)} pairs of groups."
    )
    return conclude("C13b", test, text, [Part(Scope(), judged, any_suffices=True)])


def _spread(pair: Pair) -> Comparison | None:
    values = paired_values(pair.with_zeros, pair.without)
    if values is None:
        return None
    a, b = (np.abs(value - np.median(value)) for value in values)
    gap = float(a.mean() - b.mean())
    if np.array_equal(*values):
        p, outcome = math.nan, Outcome.CANNOT_FAIL
    else:
        p, larger = sign_flip(b - a), sign_flip(a - b) < SIGNIFICANCE / 2
        outcome = Outcome.CONTRADICTED if larger else Outcome.TOO_FEW_RUNS
    label = f"{pair.label}: mean distance from the median, with − without"
    return Comparison(
        Kind.SPREAD, label, gap, "points", "exact sign-flip", outcome, p=p, n_a=len(values[0]), n_b=len(values[1])
    )


def _diverged(pairs: list[Pair]) -> Comparison:
    """Exact McNemar: of the pairs in which one run diverged, in how many was it the one with augmentation?"""
    only_with = only_without = count = with_zeros = without = 0
    for pair in pairs:
        left, right = (
            rows.drop_duplicates("seed").set_index("seed")["status"].eq("diverged")
            for rows in (pair.with_zeros, pair.without)
        )
        common = left.index.intersection(right.index)
        left, right = left.loc[common], right.loc[common]
        count, with_zeros, without = count + len(common), with_zeros + int(left.sum()), without + int(right.sum())
        only_with += int((left & ~right).sum())
        only_without += int((right & ~left).sum())
    differing, outcome, p = only_with + only_without, Outcome.TOO_FEW_RUNS, 1.0
    if differing:
        p = float(stats.binomtest(only_with, differing, alternative="less").pvalue)
        more = stats.binomtest(only_with, differing, alternative="greater").pvalue < SIGNIFICANCE / 2
        outcome = Outcome.CONTRADICTED if more else outcome
    label, difference = "all pairs: diverged with − without", float(with_zeros - without)
    counts = {"with": with_zeros, "without": without, "only_with": only_with, "only_without": only_without}
    return Comparison(
        Kind.DIVERGED, label, difference, "runs", "exact McNemar", outcome, p=p, n_a=count, n_b=count, details=counts
    )


def _decided_by_holm(item: Comparison) -> Comparison:
    """Where one comparison suffices, Holm's p decides."""
    passes = item.p_holm < SIGNIFICANCE and item.outcome is Outcome.TOO_FEW_RUNS
    return replace(item, outcome=Outcome.PASSED) if passes else item


def _pairs(evidence: Evidence) -> list[Pair]:
    """Every dataset, model and setting of the other switches that was run both with and without augmentation."""
    if evidence.fidelity is None or not {"sw_augmentation", "seed"} <= set(evidence.fidelity.columns):
        return []
    rows = with_presets(evidence.fidelity, evidence.runs)
    switches = [name for name in rows.columns if name.startswith("sw_") and name != "sw_augmentation"]
    pairs = []
    for dataset in in_order(set(rows["dataset"]) & set(CLAIMED), CLAIMED):
        for model in in_order(rows["model"].unique(), names.MODELS):
            chosen = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
            for _, group in chosen.groupby(["split_kind", *switches], dropna=False):
                halves = [_one_variant(group[group["sw_augmentation"] == value]) for value in ("zeros", "none")]
                if all(len(half) >= 2 for half in halves):
                    pairs.append(Pair(f"{names.dataset(dataset)}, {names.model(model)}", halves[0], halves[1]))
    return pairs


def _one_variant(rows: pd.DataFrame) -> pd.DataFrame:
    return max((part for _, part in rows.groupby("variant", sort=True)), key=len, default=rows)
