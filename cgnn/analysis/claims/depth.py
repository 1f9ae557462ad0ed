"""C5, C6, C7 and C12: what depth or ending time does to accuracy."""

from dataclasses import replace

import numpy as np
import pandas as pd

from cgnn.analysis.claims.base import (
    Claim,
    Comparison,
    Evidence,
    adjust,
    beyond,
    conclude,
    from_difference,
    not_testable,
    p_text,
    signed,
    significant,
    span,
)
from cgnn.analysis.rows import compare, finished, in_order
from cgnn.analysis.statistics import LEVEL, SIGNIFICANCE
from cgnn.models import names
from cgnn.paper.reported import CLAIMED

SHALLOW = (2, 3)  # "optimal results are achieved when the number of layers is 2 or 3"
DEEPER = (4, 8, 16)  # the paper's residual GCNs beside the one of 2 layers
LATE = 10.0  # "optimal results are achieved when t > 10"
ROBUST = 2.0  # points that CGNN may lose between its best and its worst t > 10
MUCH = 2.0  # points: what "much worse" must at least be
DRAWS = 4000

Levels = dict[float, pd.DataFrame]


def c5(evidence: Evidence) -> Claim:
    """GCN and GAT are best at 2 or 3 layers and drop."""
    test = (
        "For GCN and GAT on each dataset: accuracy at the deepest against the better of 2 and 3 layers must be below 0 "
        "at 5 % (Holm), and no other depth significantly better than 2 and 3."
    )
    comparisons, missing = [], []
    for dataset in _datasets(evidence.sweeps):
        for model in ("gcn", "gat"):
            levels = _levels(evidence.sweeps, dataset, model, "layers")
            shallow = [depth for depth in levels if depth in SHALLOW]
            deep = [depth for depth in levels if depth > max(SHALLOW)]
            if not shallow or not deep:
                missing.append(f"{names.dataset(dataset)}, {names.model(model)} (depths {_list(levels)})")
                continue
            best = max(shallow, key=lambda depth: _mean(levels[depth]))
            top = max(levels, key=lambda depth: _mean(levels[depth]))
            beaten = top not in SHALLOW and compare(levels[top], levels[best]).p < SIGNIFICANCE
            gap = compare(levels[max(deep)], levels[best])
            label = f"{names.dataset(dataset)}, {names.model(model)}: {max(deep):g} − {best:g} layers"
            note = f"significantly better at {top:g} layers" if beaten else f"best mean at {top:g} layers"
            comparisons.append(from_difference(label, gap, note=note))
    if not comparisons:
        return not_testable("C5", test, "no sweep over layers of GCN or GAT with 2 or 3 and more layers", missing)
    judged = adjust(
        comparisons,
        lambda item: item.estimate < 0 and significant(item) and not item.note.startswith("significantly"),
    )
    drops = sum(bool(item.passed) for item in judged)
    least = max(judged, key=lambda item: item.estimate)
    text = (
        f"No depth significantly better than 2 or 3 layers, and a significant drop to the deepest, in {drops} of "
        f"{len(judged)} sweeps; the smallest drop is {span(least)} points ({least.label}, {p_text(least.p_adjusted)}). "
        + "; ".join(f"{item.label.split(':')[0]}: {item.note}" for item in judged)
        + "."
    )
    return conclude("C5", test, text, judged, missing)


def c6(evidence: Evidence) -> Claim:
    """CGNN is robust to the ending time and best for t > 10."""
    test = (
        f"For CGNN on each dataset: the worst t > {LATE:g} loses less than {ROBUST:g} points on the best t at 5 % "
        f"(one-sided, Holm), and no t ≤ {LATE:g} is significantly better than every t > {LATE:g}."
    )
    comparisons, missing = [], []
    for dataset in _datasets(evidence.sweeps):
        levels = _levels(evidence.sweeps, dataset, "cgnn", "t1")
        late = [t for t in levels if t > LATE]
        if len(late) < 2 or len(late) == len(levels):
            missing.append(f"{names.dataset(dataset)} (t = {_list(levels)})")
            continue
        best = max(levels, key=lambda t: _mean(levels[t]))
        best_late = max(late, key=lambda t: _mean(levels[t]))
        worst_late = min(late, key=lambda t: _mean(levels[t]))
        early_wins = best <= LATE and compare(levels[best], levels[best_late]).p < SIGNIFICANCE
        gap = compare(levels[worst_late], levels[best])
        note = f"significantly better at t = {best:g}" if early_wins else f"best mean at t = {best:g}"
        label = f"{names.dataset(dataset)}: t = {worst_late:g} − t = {best:g}"
        comparisons.append(
            from_difference(label, gap, gap.p_above(-ROBUST), note, f"non-inferiority by {ROBUST:g}, {gap.method}")
        )
    if not comparisons:
        return not_testable("C6", test, "no sweep of CGNN over ending times on both sides of 10", missing)
    judged = adjust(comparisons, lambda item: significant(item) and not item.note.startswith("significantly"))
    text = "; ".join(f"{item.label}: {span(item)} points, {item.note}" for item in judged) + "."
    against = [item.note.startswith("significantly") or beyond(item, ROBUST) for item in judged]
    return conclude("C6", test, text, judged, missing, against)


def c7(evidence: Evidence) -> Claim:
    """Without H(0): much worse, and sensitive to the ending time."""
    test = (
        f"On each dataset: CGNN without H(0) at CGNN's best t is worse by {MUCH:g} points or more at 5 %, and its "
        "range "
        "over t is wider than CGNN's (bootstrap over replicas); Holm over both."
    )
    comparisons, missing = [], []
    for dataset in _datasets(evidence.sweeps):
        with_h0 = _levels(evidence.sweeps, dataset, "cgnn", "t1")
        without = _levels(evidence.sweeps, dataset, "cgnn_no_h0", "t1")
        common = sorted(set(with_h0) & set(without))
        if len(common) < 2:
            missing.append(f"{names.dataset(dataset)} (common ending times: {_list(dict.fromkeys(common))})")
            continue
        best = max(common, key=lambda t: _mean(with_h0[t]))
        gap = compare(without[best], with_h0[best])
        label = f"{names.dataset(dataset)}: without − with H(0) at t = {best:g}"
        comparisons.append(replace(from_difference(label, gap), note="worse"))
        comparisons.append(
            _wider({t: without[t] for t in common}, {t: with_h0[t] for t in common}, names.dataset(dataset))
        )
    if not comparisons:
        return not_testable("C7", test, "no sweep of CGNN with and without H(0) over common ending times", missing)
    judged = adjust(
        comparisons,
        lambda item: significant(item) and (item.estimate <= -MUCH if item.note == "worse" else item.estimate > 0),
    )
    text = "; ".join(f"{item.label}: {span(item)} points" for item in judged) + "."
    return conclude("C7", test, text, judged, missing)


def c12(evidence: Evidence) -> Claim:
    """Residual GCN does not gain from depth."""
    test = (
        "Residual GCN with 4, 8, 16 layers against 2, on each dataset and split kind: no gain significant at 5 % "
        "(Holm), "
        f"and no interval reaching a gain of {MUCH:g} points."
    )
    frames = [frame for frame in (evidence.runs, evidence.sweeps) if frame is not None and not frame.empty]
    comparisons, missing = [], []
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    for dataset in _datasets(rows if len(rows) else None):
        for kind in ("fixed", "random"):
            levels = _levels(rows[rows["split_kind"] == kind], dataset, "gcn_residual", "layers")
            deeper = [depth for depth in levels if depth in DEEPER] or [depth for depth in levels if depth > 2]
            if 2 not in levels or not deeper:
                missing.append(f"{names.dataset(dataset)}, {kind} (depths {_list(levels)})")
                continue
            for depth in deeper:
                gap = compare(levels[depth], levels[2])
                comparisons.append(from_difference(f"{names.dataset(dataset)}, {kind}: {depth:g} − 2 layers", gap))
    if not comparisons:
        return not_testable("C12", test, "residual GCN was not run at 2 and more layers", missing)
    judged = adjust(comparisons, lambda item: not (item.estimate > 0 and significant(item)) and item.high < MUCH)
    gains = [item for item in judged if item.estimate > 0 and significant(item)]
    most = max(judged, key=lambda item: item.estimate)
    text = (
        f"Of {len(judged)} comparisons with 2 layers, {len(gains)} show a significant gain; the largest difference is "
        f"{span(most)} points ({most.label}, {p_text(most.p_adjusted)})."
    )
    against = [item in gains for item in judged]
    return conclude("C12", test, text, judged, missing, against)


def _datasets(rows: pd.DataFrame | None) -> list[str]:
    return [] if rows is None or rows.empty else in_order(set(rows["dataset"]) & set(CLAIMED), CLAIMED)


def _levels(rows: pd.DataFrame | None, dataset: str, model: str, axis: str) -> Levels:
    """Finished rows by value of the axis, those values that have at least two, all under one protocol."""
    if rows is None or rows.empty or axis not in rows.columns:
        return {}
    chosen = finished(rows[(rows["dataset"] == dataset) & (rows["model"] == model)])
    if chosen.empty:
        return {}
    # A depth may stand in a sweep and in the main table, at other settings: keep to what covers most depths.
    by_protocol = [part for _, part in chosen.groupby(["preset", "hyperparameter_source"], sort=True)]
    widest = max(by_protocol, key=lambda part: (part[axis].nunique(), len(part)))
    levels = {}
    for value, group in widest.groupby(axis, sort=True):
        largest = max((part for _, part in group.groupby("variant", sort=True)), key=len)
        largest = largest.drop_duplicates(["split", "replica"])
        if len(largest) >= 2:
            levels[float(str(value))] = largest
    return levels


def _mean(rows: pd.DataFrame) -> float:
    return float(rows["test_accuracy"].mean())


def _list(values: Levels | dict[float, None]) -> str:
    return ", ".join(f"{value:g}" for value in values) or "none"


def _wider(wide: Levels, narrow: Levels, label: str) -> Comparison:
    """Range of means over t, first minus second, by a bootstrap over replicas with a fixed seed."""
    generator = np.random.default_rng(12)
    estimate = _range(wide) - _range(narrow)
    draws = _bootstrap_ranges(wide, generator) - _bootstrap_ranges(narrow, generator)
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # Two-sided bootstrap p, never below what the number of draws can show.
    tail = min(np.mean(draws <= 0), np.mean(draws >= 0))
    p = float(min(1.0, 2 * max(tail, 1 / DRAWS)))
    text = f"{label}: range over t, without − with H(0)"
    return Comparison(
        text, estimate, float(low), float(high), p, "points", "bootstrap", note="wider " + signed(estimate)
    )


def _range(levels: Levels) -> float:
    means = [_mean(rows) for rows in levels.values()]
    return max(means) - min(means)


def _bootstrap_ranges(levels: Levels, generator: np.random.Generator) -> np.ndarray:
    means = []
    for rows in levels.values():
        values = rows["test_accuracy"].to_numpy(dtype=float)
        means.append(values[generator.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1))
    return np.ptp(np.stack(means), axis=0)
