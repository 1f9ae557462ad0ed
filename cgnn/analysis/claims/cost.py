"""C11: what an epoch of CGNN costs beside one of GCN."""

import math
from typing import Any

import numpy as np
import pandas as pd

from cgnn.analysis import names
from cgnn.analysis.claims.base import NOT_REPRODUCED, PARTLY, Claim, Comparison, Evidence, grade, not_testable
from cgnn.analysis.claims.memory import curve
from cgnn.analysis.measured import bench_seconds, seconds_list
from cgnn.analysis.statistics import LEVEL

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
    gcn = _seconds(evidence, ("gcn",), 2.0)
    comparisons, missing = [], []
    for model, ways in THEIR_WAYS.items():
        paper = theirs(model)
        found = _seconds(evidence, ways, _published_t1(evidence, model))
        if gcn is None or found is None or not paper or not gcn_paper:
            missing.append(names.model(model))
            continue
        (method, seconds), (_, base) = found, gcn
        ratio, low, high = _ratio(seconds, base)
        expected = paper / gcn_paper
        comparisons.append(
            Comparison(
                f"Cora: {names.method(method)} / GCN", ratio, low, high, math.nan, "times", "ratio of medians, bootstrap",
                n_a=len(seconds), n_b=len(base), passed=expected / FACTOR <= ratio <= expected * FACTOR,
                note=f"paper {expected:.0f} times",
            )  # fmt: skip
        )
    if not comparisons:
        return not_testable("C11", test, "no timed epochs of CGNN with the authors' solver beside GCN on Cora", missing)
    text = "; ".join(
        f"{item.label}: {item.estimate:.1f} times [{item.low:.1f}, {item.high:.1f}], {item.note}" for item in comparisons
    )
    exact = _seconds(evidence, ("cgnn_exact",), _published_t1(evidence, "cgnn"))
    if exact is not None and gcn is not None:
        text += f"; with the exact solver it is {_ratio(exact[1], gcn[1])[0]:.2f} times"
    verdict = grade([item.passed for item in comparisons])
    if verdict == NOT_REPRODUCED and all(item.estimate >= DEARER for item in comparisons):
        verdict = PARTLY
    if missing:
        text += f". Not tested: {', '.join(missing)}"
    return Claim("C11", verdict, test, text + ".", tuple(comparisons), tuple(missing))


def _published_t1(evidence: Evidence, model: str) -> float:
    return float(evidence.reported.hyperparameters("cora", "fixed", model).get("t1") or 12.0)


def _seconds(evidence: Evidence, methods: tuple[str, ...], value: float) -> tuple[str, list[float]] | None:
    """The first of the methods that was timed: from the benchmark, else from the profile nearest to ``value``."""
    for method in methods:
        from_bench = bench_seconds(evidence.bench, "cora", method)
        if from_bench:
            return method, from_bench
        points: pd.DataFrame = curve(evidence.profiles, "cora", method)
        if not points.empty:
            nearest: Any = points.iloc[int(np.argmin(np.abs(points["value"].to_numpy(dtype=float) - value)))]
            return method, seconds_list(nearest)
    return None


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
