"""C11: how many GCN epochs take as long as one CGNN epoch."""

import math

import numpy as np
import pandas as pd

from cgnn.analysis.claims.base import Claim, Comparison, Evidence, Kind, Outcome, Part, Scope, conclude, not_testable
from cgnn.analysis.claims.memory import curve
from cgnn.analysis.measured import (
    GCNS,
    GENERAL,
    bench_label,
    bench_name,
    bench_seconds,
    most_threads,
    nearest,
    seconds_list,
)
from cgnn.analysis.statistics import bootstrap
from cgnn.models import names

FACTOR = 2.0  # the hardware differs from the paper's, so the ratio must only agree within this factor
#: The claim is about the authors' way of solving the ODE, never about the exact solver.
THEIR_WAYS = {
    "cgnn": GENERAL,
    "cgnn_weight": ("cgnn_weight_released", "cgnn_weight_dopri5", "cgnn_weight_adjoint"),
}


def c11(evidence: Evidence) -> Claim:
    """A CGNN epoch costs about 56 GCN epochs on Cora."""
    test = (
        "Median seconds per epoch on Cora, CGNN with the authors' solver over GCN, timed in one run: the 95 % interval "
        f"of the ratio (bootstrap over epochs) lies within a factor of {FACTOR:g} of the paper's ratio; contradicted "
        "if it lies outside."
    )
    theirs = evidence.reported.seconds_per_epoch
    gcn_paper = theirs("gcn")
    comparisons, missing = [], []
    for model, ways in THEIR_WAYS.items():
        paper = theirs(model)
        found = _beside_gcn(evidence, model, ways)
        if found is None or not paper or not gcn_paper:
            missing.append(names.model(model))
        else:
            comparisons.append(_compared(*found, paper / gcn_paper))
    if not comparisons:
        return not_testable("C11", test, "no timed epochs of CGNN with the authors' solver beside GCN on Cora", missing)
    timed = [f"{_times(item)} ({item.details['method']}; {item.note})" for item in comparisons]
    benched = bench_seconds(evidence.bench, "cora", "gcn")
    gcn = GCNS["gcn" if benched else "gcn_ours"]
    text = f"On Cora, an epoch takes {' and '.join(timed)} as long as one of {gcn}"
    exact = {model: _beside_gcn(evidence, model, (f"{model}_exact",)) for model in THEIR_WAYS}
    ratios = [f"{_ratio(*item[1:])[0]:.2f} times ({names.model(model)})" for model, item in exact.items() if item]
    if ratios:
        text += f"; with the exact solver {' and '.join(ratios)}"
    return conclude(
        "C11", test, f"{text}.{_other_baselines(evidence)}", [Part(Scope(), tuple(comparisons), tuple(missing))]
    )


def _other_baselines(evidence: Evidence) -> str:
    """The ratio beside the other implementations of GCN in the benchmark, which the paper's could have been as well."""
    slow = next((found for way in THEIR_WAYS["cgnn"] if (found := bench_seconds(evidence.bench, "cora", way))), [])
    rows = [row for row in most_threads(evidence.bench) if row.get("dataset") == "cora"]
    timed = [bench_name(row) for row in rows]
    ratios = [
        f"{_ratio(slow, seconds)[0]:.0f} ({bench_label(name)})"
        for name in timed
        if slow and name.startswith("gcn_") and (seconds := bench_seconds(evidence.bench, "cora", name))
    ]
    if not ratios:
        return ""
    threads = rows[0].get("threads", 1)
    where = f"a CPU with {threads} thread{'s' if threads > 1 else ''}"
    return (
        f" Times are from {where}; the paper's are from a GPU, and it does not say which implementation of GCN it "
        "timed. In epochs of other implementations of GCN, an epoch of CGNN with the authors' solver takes "
        f"{', '.join(ratios)}."
    )


def _compared(method: str, seconds: list[float], base: list[float], expected: float) -> Comparison:
    ratio, low, high = _ratio(seconds, base)
    least, most = expected / FACTOR, expected * FACTOR
    if least <= low and high <= most:
        outcome = Outcome.PASSED
    else:
        outcome = Outcome.CONTRADICTED if low > most or high < least else Outcome.TOO_FEW_RUNS
    return Comparison(
        Kind.RATIO,
        f"Cora: {names.method(method)} / GCN",
        ratio,
        "times",
        "ratio of medians, bootstrap",
        outcome,
        low,
        high,
        n_a=len(seconds),
        n_b=len(base),
        note=f"paper {expected:.0f} times",
        details={"paper": expected, "method": names.method(method)},
    )


def _times(item: Comparison) -> str:
    interval = "" if math.isnan(item.low) else f" [{item.low:.1f}, {item.high:.1f}]"
    return f"{item.estimate:.1f} times{interval}"


def _beside_gcn(evidence: Evidence, model: str, ways: tuple[str, ...]) -> tuple[str, list[float], list[float]] | None:
    """(method, its seconds, GCN's seconds) of the first method that was timed in the same benchmark as GCN."""
    gcn = bench_seconds(evidence.bench, "cora", "gcn")
    for method in ways if gcn else ():
        seconds = bench_seconds(evidence.bench, "cora", method)
        if seconds:
            return method, seconds, gcn
    base = _profiled(evidence.profiles, "gcn", 2.0)
    published_t1 = float(evidence.reported.hyperparameters("cora", "fixed", model).get("t1") or 12.0)
    for method in ways if base else ():
        seconds = _profiled(evidence.profiles, method, published_t1)
        if seconds:
            return method, seconds, base
    return None


def _profiled(profiles: pd.DataFrame | None, method: str, value: float) -> list[float]:
    """The timings of the profile nearest to ``value`` layers or ending time."""
    points = curve(profiles, "cora", method)
    return [] if points.empty else seconds_list(nearest(points, value))


def _ratio(a: list[float], b: list[float]) -> tuple[float, float, float]:
    def ratio(left: np.ndarray, right: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.median(left, axis=axis) / np.median(right, axis=axis)

    estimate = float(ratio(np.asarray(a), np.asarray(b)))
    if len(a) < 3 or len(b) < 3:
        return estimate, math.nan, math.nan
    low, high, _ = bootstrap([a, b], ratio)
    return estimate, low, high
