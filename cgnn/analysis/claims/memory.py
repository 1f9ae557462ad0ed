"""C8 and C9: how memory grows with layers, and that it does not with the ending time."""

import pandas as pd

from cgnn.analysis.claims.base import (
    Claim,
    Comparison,
    Evidence,
    adjust,
    conclude,
    not_testable,
    significant,
)
from cgnn.analysis.rows import OK, in_order
from cgnn.analysis.statistics import fit_line
from cgnn.models import names
from cgnn.paper.reported import CLAIMED

LINEAR = 0.95  # share of variance that a straight line must explain
CONSTANT = 0.05  # relative growth that still counts as constant
MIB = 2**20


def c8(evidence: Evidence) -> Claim:
    """Memory grows linearly with layers."""
    test = (
        "Peak memory against layers for GCN, GAT and CGNN discrete on each dataset: the slope of a straight line is "
        f"above 0 at 5 % (Holm) and the line explains at least {LINEAR:.0%} of the variance."
    )
    comparisons, missing = [], []
    for dataset in datasets_of(evidence.profiles):
        for method in ("gcn", "gat", "cgnn_discrete"):
            points = curve(evidence.profiles, dataset, method)
            where = f"{names.dataset(dataset)}, {names.method(method)}"
            if len(points) < 3:
                missing.append(f"{where} ({len(points)} points)")
                continue
            line = fit_line(points["value"].tolist(), (points["peak_bytes"] / MIB).tolist())
            comparisons.append(
                Comparison(
                    where,
                    line.slope,
                    line.low,
                    line.high,
                    line.p,
                    "MiB a layer",
                    "least squares",
                    effect=line.r_squared,
                    n_a=line.n,
                    note=f"R² = {line.r_squared:.3f}",
                )
            )
    if not comparisons:
        return not_testable("C8", test, "no memory profiles over at least three depths", missing)
    judged = adjust(comparisons, lambda item: item.estimate > 0 and significant(item) and item.effect >= LINEAR)
    text = "; ".join(f"{item.label}: {item.estimate:.2f} MiB a layer, {item.note}" for item in judged) + "."
    return conclude("C8", test, text, judged, missing)


def c9(evidence: Evidence) -> Claim:
    """Memory is constant in the ending time with the adjoint, and small."""
    test = (
        "CGNN with the adjoint on each dataset: peak memory over all ending times grows by at most "
        f"{CONSTANT:.0%}, and "
        "its largest value is below that of GCN and of GAT at their deepest. Memory counts are exact: no p."
    )
    comparisons, missing, others = [], [], []
    for dataset in datasets_of(evidence.profiles):
        points = curve(evidence.profiles, dataset, "cgnn_adjoint")
        if len(points) < 2:
            missing.append(f"{names.dataset(dataset)} ({len(points)} points with the adjoint)")
            continue
        growth, peak = _growth(points), float(points["peak_bytes"].max())
        comparisons.append(
            Comparison(
                f"{names.dataset(dataset)}: growth over t = {points['value'].min():g} to {points['value'].max():g}",
                100 * growth,
                100 * growth,
                100 * growth,
                float("nan"),
                "%",
                "largest / smallest − 1",
                n_a=len(points),
                passed=growth <= CONSTANT,
            )
        )
        for rival in ("gcn", "gat"):
            deep = curve(evidence.profiles, dataset, rival)
            if deep.empty:
                missing.append(f"{names.dataset(dataset)} against {names.method(rival)}")
                continue
            deepest = deep.iloc[-1]
            ratio = peak / float(deepest["peak_bytes"])
            label = f"{names.dataset(dataset)}: adjoint / {names.method(rival)} with {deepest['value']:g} layers"
            comparisons.append(
                Comparison(
                    label,
                    ratio,
                    ratio,
                    ratio,
                    float("nan"),
                    "times",
                    "ratio of peaks",
                    n_a=len(points),
                    passed=ratio < 1,
                )
            )
        for method in ("cgnn_exact_recompute", "cgnn_exact"):
            more = curve(evidence.profiles, dataset, method)
            if len(more) >= 2:
                others.append(f"{names.dataset(dataset)}, {names.method(method)}: {100 * _growth(more):.1f} %")
    if not comparisons:
        return not_testable("C9", test, "no memory profile of CGNN with the adjoint over ending times", missing)
    text = "; ".join(f"{item.label}: {item.estimate:.2f} {item.unit}" for item in comparisons) + "."
    if others:
        text += f" Beside it, growth of {'; '.join(others)}."
    return conclude("C9", test, text, comparisons, missing)


def datasets_of(profiles: pd.DataFrame | None) -> list[str]:
    return [] if profiles is None or profiles.empty else in_order(set(profiles["dataset"]) & set(CLAIMED), CLAIMED)


def curve(profiles: pd.DataFrame | None, dataset: str, method: str) -> pd.DataFrame:
    """The measured points of one method, by rising depth or time."""
    if profiles is None or profiles.empty:
        return pd.DataFrame(columns=["value", "peak_bytes", "seconds_per_epoch"])
    chosen = profiles[(profiles["dataset"] == dataset) & (profiles["method"] == method) & (profiles["status"] == OK)]
    return chosen[chosen["peak_bytes"].notna()].sort_values("value")


def _growth(points: pd.DataFrame) -> float:
    return float(points["peak_bytes"].max() / points["peak_bytes"].min() - 1)
