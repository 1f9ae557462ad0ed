"""C8 and C9: memory grows with layers, and not with the ending time."""

import math
from dataclasses import replace

import pandas as pd

from cgnn.analysis.claims.base import (
    Claim,
    Comparison,
    Evidence,
    Kind,
    Outcome,
    Part,
    Scope,
    adjust,
    conclude,
    not_testable,
)
from cgnn.analysis.rows import OK, in_order
from cgnn.analysis.statistics import SIGNIFICANCE, fit_line
from cgnn.models import names
from cgnn.paper.reported import CLAIMED

LINEAR = 0.95  # share of variance that a straight line must explain
CONSTANT = 0.05  # relative growth that still counts as constant
DEEP = 16  # layers of the paper's deepest model; we call memory "small" if a GCN of this depth needs more
MIN_TIMES = 3  # ending times needed to call memory constant
MIB = 2**20
#: The released code doubles the state with zeros, which changes no result and doubles the adjoint's memory.
ADJOINT = {"cgnn_adjoint": "with augmentation", "cgnn_adjoint_no_augmentation": "without augmentation"}


def c8(evidence: Evidence) -> Claim:
    """Memory grows linearly with layers."""
    test = (
        "Peak memory against layers for GCN, GAT and CGNN discrete on each dataset: the slope of a straight line is "
        f"above 0 at 5 % and the line explains at least {LINEAR:.0%} of the variance. Memory counts carry no noise, "
        "so interval and p say how straight the line is; points off the line contradict the claim."
    )
    comparisons, missing = [], []
    for dataset in datasets_of(evidence.profiles):
        for method in ("gcn", "gat", "cgnn_discrete"):
            points = curve(evidence.profiles, dataset, method)
            where = f"{names.dataset(dataset)}, {names.method(method)}"
            if len(points) < 3:
                missing.append(f"{where} ({len(points)} points)")
            else:
                comparisons.append(_slope(where, points))
    if not comparisons:
        return not_testable("C8", test, "no memory profiles over at least three depths", missing)
    text = "; ".join(f"{item.label}: {item.estimate:.2f} MiB per layer, {item.note}" for item in comparisons) + "."
    return conclude("C8", test, text, [Part(Scope(), adjust(comparisons), tuple(missing))])


def _slope(where: str, points: pd.DataFrame) -> Comparison:
    line = fit_line(points["value"].tolist(), (points["peak_bytes"] / MIB).tolist())
    straight = line.slope > 0 and line.r_squared >= LINEAR
    outcome = Outcome.PASSED if line.p < SIGNIFICANCE else Outcome.TOO_FEW_RUNS
    return Comparison(
        Kind.SLOPE,
        where,
        line.slope,
        "MiB per layer",
        "least squares",
        outcome if straight else Outcome.CONTRADICTED,
        line.low,
        line.high,
        line.p,
        n_a=line.n,
        note=f"R² = {line.r_squared:.3f}",
        details={"r_squared": line.r_squared},
    )


def c9(evidence: Evidence) -> Claim:
    """Memory is constant in the ending time with the adjoint, and small."""
    test = (
        "CGNN with the adjoint on each dataset, with the augmentation of the released code and without: peak memory "
        f"over {MIN_TIMES} ending times or more grows by at most {CONSTANT:.0%}, and "
        f"GCN and GAT take as much at {DEEP} layers or fewer (the depth at which the straight line "
        "through their memory crosses it; the scale is ours, the paper gives none). Memory counts carry no noise: no p."
    )
    parts = [_adjoint(evidence.profiles, method, reading) for method, reading in ADJOINT.items()]
    parts = [part for part in parts if part.main or part.comparisons]
    shown = [item for part in parts for item in part.comparisons]
    if not shown:
        return not_testable(
            "C9", test, "no memory profile of CGNN with the adjoint over ending times", parts[0].missing
        )
    text = " ".join(_sentence(part, dataset) for part in parts for dataset in _datasets_of(part))
    others = [
        f"{names.dataset(dataset)}, {names.method(method)}: {100 * _growth(more):.1f} %"
        for dataset in datasets_of(evidence.profiles)
        for method in ("cgnn_exact_recompute", "cgnn_exact")
        if len(more := curve(evidence.profiles, dataset, method)) >= 2
    ]
    if others:
        text += f" For comparison, growth of {'; '.join(others)}."
    return conclude("C9", test, text, parts)


def _adjoint(profiles: pd.DataFrame | None, method: str, reading: str) -> Part:
    comparisons, missing = [], []
    for dataset in datasets_of(profiles):
        points = curve(profiles, dataset, method)
        name = names.dataset(dataset)
        if len(points) < 2:
            missing.append(f"{name} ({len(points)} points with the adjoint)")
            continue
        growth, peak = _growth(points), float(points["peak_bytes"].max())
        label = f"{name}: growth over t = {points['value'].min():g} to {points['value'].max():g}"
        constant = Outcome.PASSED if len(points) >= MIN_TIMES else Outcome.TOO_FEW_RUNS
        outcome = constant if growth <= CONSTANT else Outcome.CONTRADICTED
        found = Comparison(Kind.GROWTH, label, 100 * growth, "%", "largest / smallest − 1", outcome, n_a=len(points))
        comparisons.append(replace(found, details={"dataset": name}))
        for rival in ("gcn", "gat"):
            deep = curve(profiles, dataset, rival)
            if len(deep) < 3:
                missing.append(f"{name} against {names.method(rival)} ({len(deep)} depths)")
            else:
                comparisons.append(crossover(name, names.method(rival), deep, peak))
    return Part(Scope(reading=reading), tuple(comparisons), tuple(missing), main=method == "cgnn_adjoint")


def crossover(dataset: str, rival: str, deep: pd.DataFrame, peak: float) -> Comparison:
    """The depth at which a discrete model takes as much memory as CGNN with the adjoint at its peak."""
    line = fit_line(deep["value"].tolist(), deep["peak_bytes"].tolist())
    depth = (peak - line.intercept) / line.slope if line.slope > 0 else math.inf
    measured = float(deep["value"].max())
    outcome = Outcome.PASSED if depth <= DEEP else Outcome.CONTRADICTED
    label, method = f"{dataset}: depth at which {rival} needs as much memory", "straight line through peaks"
    details: dict[str, float | str | bool] = {
        "dataset": dataset,
        "rival": rival,
        "peak_mib": peak / MIB,
        "deepest_measured": measured,
        "extrapolated": depth > measured,
    }
    return Comparison(Kind.CROSSOVER, label, depth, "layers", method, outcome, n_a=line.n, details=details)


def _datasets_of(part: Part) -> list[str]:
    return list(dict.fromkeys(str(item.details["dataset"]) for item in part.comparisons))


def _sentence(part: Part, dataset: str) -> str:
    """Growth and crossover depths on one dataset."""
    items = [item for item in part.comparisons if item.details["dataset"] == dataset]
    growth = [item.estimate for item in items if item.kind is Kind.GROWTH]
    depths = []
    for item in items:
        if item.kind is Kind.CROSSOVER:
            beyond = " (extrapolated)" if item.details["extrapolated"] else ""
            depths.append(f"{item.details['rival']} with {item.estimate:.1f} layers{beyond}")
    memory = f"On {dataset}, {part.scope.reading}, peak memory {_grows(growth[0])} over the ending times"
    return memory + (f"; {' and '.join(depths)} would take as much." if depths else ".")


def _grows(percent: float) -> str:
    return "does not grow" if percent < 0.005 else f"grows by {percent:.2f} %"


def datasets_of(profiles: pd.DataFrame | None) -> list[str]:
    return [] if profiles is None or profiles.empty else in_order(set(profiles["dataset"]) & set(CLAIMED), CLAIMED)


def curve(profiles: pd.DataFrame | None, dataset: str, method: str) -> pd.DataFrame:
    """The measured points of one method, sorted by depth or time."""
    if profiles is None or profiles.empty:
        return pd.DataFrame(columns=["value", "peak_bytes", "seconds_per_epoch"])
    chosen = profiles[(profiles["dataset"] == dataset) & (profiles["method"] == method) & (profiles["status"] == OK)]
    return chosen[chosen["peak_bytes"].notna()].sort_values("value")


def _growth(points: pd.DataFrame) -> float:
    return float(points["peak_bytes"].max() / points["peak_bytes"].min() - 1)
