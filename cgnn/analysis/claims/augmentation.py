"""C13: augmentation changes little in accuracy but stabilises training."""

import math

import pandas as pd

from cgnn.analysis.claims.base import (
    NOT_REPRODUCED,
    NOT_TESTABLE,
    PARTLY,
    REPRODUCED,
    TOO_FEW,
    Claim,
    Comparison,
    Evidence,
    adjust,
    beyond,
    from_difference,
    not_testable,
    significant,
    span,
    untested,
)
from cgnn.analysis.rows import compare, finished, in_order
from cgnn.analysis.statistics import brown_forsythe
from cgnn.models import names
from cgnn.paper.reported import CLAIMED

LITTLE = 1.0  # points


def c13(evidence: Evidence) -> Claim:
    """Runs that differ in the switch ``augmentation`` alone, with and without the doubled state."""
    test = (
        f"Runs that differ in augmentation alone: accuracies equivalent within ± {LITTLE:g} point at 5 % (two "
        "one-sided "
        "tests), and with augmentation fewer diverged runs or a smaller spread at 5 % (Brown–Forsythe); Holm over all."
    )
    pairs = list(_pairs(evidence.fidelity))
    if not pairs:
        return not_testable("C13", test, "no runs that differ in augmentation alone")
    comparisons, diverged = [], []
    for label, with_zeros, without in pairs:
        gap = compare(with_zeros, without)
        if not math.isnan(gap.p):
            comparisons.append(
                from_difference(
                    f"{label}: with − without", gap, gap.p_equivalent(LITTLE), "equal", "equivalence, " + gap.method
                )
            )
        comparisons.append(_spread(label, finished(with_zeros), finished(without)))
        diverged.append((_diverged(with_zeros), _diverged(without)))
    judged = adjust(comparisons, lambda item: significant(item) and (item.note == "equal" or item.estimate < 0))
    equal = [bool(item.passed) for item in judged if item.note == "equal"]
    steadier = any(item.passed for item in judged if item.note == "spread")
    fewer = sum(a for a, _ in diverged) < sum(b for _, b in diverged)
    stabilises = steadier or fewer
    little = bool(equal) and all(equal)
    gaps = [item for item in judged if item.note == "equal"]
    if little and stabilises:
        verdict = REPRODUCED
    elif any(equal) or stabilises:
        verdict = PARTLY
    else:
        verdict = NOT_REPRODUCED if any(beyond(item, LITTLE) for item in gaps) else NOT_TESTABLE
    text = f"Accuracy equivalent within ± {LITTLE:g} point in {sum(equal)} of {len(equal)} pairs"
    if gaps:
        far = max(gaps, key=lambda item: abs(item.estimate))
        text += f" (largest difference {span(far, 2)} points, {far.label})"
    spreads = [item for item in judged if item.note == "spread"]
    calmer = sum(bool(item.passed) for item in spreads)
    text += f"; spread significantly smaller with augmentation in {calmer} of {len(spreads)}"
    text += f"; diverged runs {sum(a for a, _ in diverged)} with and {sum(b for _, b in diverged)} without."
    only_plain = all(label.endswith(names.model("cgnn")) for label, _, _ in pairs)
    missing = ("CGNN with weight, the only model on which augmentation can act",) if only_plain else ()
    why = TOO_FEW if verdict == NOT_TESTABLE else ""
    return Claim("C13", verdict, test, text + untested(missing), judged, missing, why)


def _pairs(rows: pd.DataFrame | None) -> list[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """(label, with zeros, without) for every dataset, model and setting of the other switches that has both."""
    if rows is None or rows.empty or "sw_augmentation" not in rows.columns:
        return []
    switches = [name for name in rows.columns if name.startswith("sw_") and name != "sw_augmentation"]
    pairs = []
    for dataset in in_order(set(rows["dataset"]) & set(CLAIMED), CLAIMED):
        for model in in_order(rows["model"].unique(), names.MODELS):
            chosen = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
            for _, group in chosen.groupby(["split_kind", *switches], dropna=False):
                halves = [_one_variant(group[group["sw_augmentation"] == value]) for value in ("zeros", "none")]
                if all(len(half) >= 2 for half in halves):
                    pairs.append((f"{names.dataset(dataset)}, {names.model(model)}", halves[0], halves[1]))
    return pairs


def _one_variant(rows: pd.DataFrame) -> pd.DataFrame:
    return max((part for _, part in rows.groupby("variant", sort=True)), key=len, default=rows)


def _spread(label: str, with_zeros: pd.DataFrame, without: pd.DataFrame) -> Comparison:
    a, b = (rows["test_accuracy"].to_numpy(dtype=float) for rows in (with_zeros, without))
    gap = (a.std(ddof=1) if len(a) > 1 else math.nan) - (b.std(ddof=1) if len(b) > 1 else math.nan)
    return Comparison(
        f"{label}: deviation with − without",
        float(gap),
        math.nan,
        math.nan,
        brown_forsythe(a, b),
        "points",
        "Brown–Forsythe",
        n_a=len(a),
        n_b=len(b),
        note="spread",
    )


def _diverged(rows: pd.DataFrame) -> int:
    return int((rows["status"] == "diverged").sum())
