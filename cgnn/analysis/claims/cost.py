"""C11: what an epoch of CGNN costs beside one of GCN."""

import math
from typing import Any

import numpy as np
import pandas as pd

from cgnn.analysis.claims.base import NOT_REPRODUCED, PARTLY, Claim, Comparison, Evidence, grade, not_testable, untested
from cgnn.analysis.claims.memory import curve
from cgnn.analysis.measured import bench_seconds, seconds_list
from cgnn.analysis.statistics import LEVEL
from cgnn.models import names

FACTOR = 2.0  # other hardware: the ratio must agree within this factor
DEARER = 10.0  # "partly" if it is at least this many times dearer
DRAWS = 4000
#: The claim is about the authors' way of solving the ODE, never about the exact solver.
THEIR_WAYS = {
    "cgnn": ("cgnn_released", "cgnn_dopri5", "cgnn_adjoint"),
    "cgnn_weight": ("cgnn_weight_released", "cgnn_weight_dopri5", "cgnn_weight_adjoint"),
}


def c11(evidence: Evidence) -> Claim:
    """A CGNN epoch costs about 56 GCN epochs on Cora."""
    test = (
        "Median seconds of an epoch on Cora, CGNN with the authors' solver over GCN, on this machine: within a factor "
        f"of {FACTOR:g} of the paper's ratio (partly if at least {DEARER:g} times dearer)."
    )
    theirs = evidence.reported.seconds_per_epoch
    gcn_paper = theirs("gcn")
    comparisons, missing = [], []
    for model, ways in THEIR_WAYS.items():
        paper = theirs(model)
        found = _beside_gcn(evidence, model, ways)
        if found is None or not paper or not gcn_paper:
            missing.append(names.model(model))
            continue
        method, seconds, base = found
        ratio, low, high = _ratio(seconds, base)
        expected = paper / gcn_paper
        comparisons.append(
            Comparison(
                f"Cora: {names.method(method)} / GCN",
                ratio,
                low,
                high,
                math.nan,
                "times",
                "ratio of medians, bootstrap",
                n_a=len(seconds),
                n_b=len(base),
                passed=expected / FACTOR <= ratio <= expected * FACTOR,
                note=f"paper {expected:.0f} times",
            )
        )
    if not comparisons:
        return not_testable("C11", test, "no timed epochs of CGNN with the authors' solver beside GCN on Cora", missing)
    text = "; ".join(f"{item.label}: {_times(item)}, {item.note}" for item in comparisons)
    exact = _beside_gcn(evidence, "cgnn", ("cgnn_exact",))
    if exact is not None:
        text += f"; with the exact solver it is {_ratio(exact[1], exact[2])[0]:.2f} times"
    verdict = grade([item.passed for item in comparisons], missing)
    if verdict == NOT_REPRODUCED and all(item.estimate >= DEARER for item in comparisons):
        verdict = PARTLY
    return Claim("C11", verdict, test, text + "." + untested(missing), tuple(comparisons), tuple(missing))


def _times(item: Comparison) -> str:
    interval = "" if math.isnan(item.low) else f" [{item.low:.1f}, {item.high:.1f}]"
    return f"{item.estimate:.1f} times{interval}"


def _published_t1(evidence: Evidence, model: str) -> float:
    return float(evidence.reported.hyperparameters("cora", "fixed", model).get("t1") or 12.0)


def _beside_gcn(evidence: Evidence, model: str, ways: tuple[str, ...]) -> tuple[str, list[float], list[float]] | None:
    """(method, its seconds, GCN's) of the first way that was timed in the same run of the machine as GCN."""
    gcn = bench_seconds(evidence.bench, "cora", "gcn")
    for method in ways if gcn else ():
        seconds = bench_seconds(evidence.bench, "cora", method)
        if seconds:
            return method, seconds, gcn
    base = _profiled(evidence.profiles, "gcn", 2.0)
    for method in ways if base else ():
        seconds = _profiled(evidence.profiles, method, _published_t1(evidence, model))
        if seconds:
            return method, seconds, base
    return None


def _profiled(profiles: pd.DataFrame | None, method: str, value: float) -> list[float]:
    """The timings of the profile nearest to ``value`` layers or ending time."""
    points = curve(profiles, "cora", method)
    if points.empty:
        return []
    nearest: Any = points.iloc[int(np.argmin(np.abs(points["value"].to_numpy(dtype=float) - value)))]
    return seconds_list(nearest)


def _ratio(a: list[float], b: list[float]) -> tuple[float, float, float]:
    generator = np.random.default_rng(11)
    left, right = np.asarray(a), np.asarray(b)
    estimate = float(np.median(left) / np.median(right))
    if len(left) < 3 or len(right) < 3:
        return estimate, math.nan, math.nan
    draws = np.median(left[generator.integers(len(left), size=(DRAWS, len(left)))], axis=1)
    draws = draws / np.median(right[generator.integers(len(right), size=(DRAWS, len(right)))], axis=1)
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return estimate, float(low), float(high)
