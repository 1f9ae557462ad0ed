"""C10: H(t) tends to the limits of Propositions 2 and 4."""

import math

import numpy as np
import pandas as pd

from cgnn.analysis.claims.base import Claim, Comparison, Evidence, Kind, Outcome, Part, Scope, conclude, not_testable

NEAR = 1e-3  # relative distance that must be reached
RATE = 0.10  # relative error allowed to the measured rate of approach
KINDS = {"paper": "without weights, limit (I − A)⁻¹E", "paper_weight": "with weights, limit of Prop. 4"}


def c10(evidence: Evidence) -> Claim:
    """The distance to the limit decays to zero, at the rate given by the slowest eigenvalue."""
    test = (
        f"Printed derivative on a piece of a real graph, exact solver: the relative distance to the limit falls below "
        f"{NEAR:g}, never rises, and its late rate agrees within {RATE:.0%} with the eigenvalue nearest to 0."
    )
    table = evidence.convergence
    if table is None or table.empty:
        return not_testable("C10", test, "convergence.csv does not exist")
    by_kind = {kind: table[table["kind"] == kind].sort_values("t") for kind in KINDS}
    comparisons = tuple(_approach(KINDS[kind], rows) for kind, rows in by_kind.items() if len(rows) >= 3)
    if not comparisons:
        return not_testable("C10", test, "convergence.csv holds fewer than three times")
    missing = tuple(KINDS[kind] for kind, rows in by_kind.items() if len(rows) < 3)
    sentences = [f"{item.label}: {item.note}" for item in comparisons]
    released = table[table["kind"] == "released"].sort_values("t")
    if len(released) >= 2:
        growth = float(released["norm"].iloc[-1] / released["norm"].iloc[0])
        sentences.append(f"the released derivative has no limit: its norm grows {growth:.0f}-fold over the same times")
    return conclude("C10", test, "; ".join(sentences) + ".", [Part(Scope(), comparisons, missing)])


def _approach(label: str, rows: pd.DataFrame) -> Comparison:
    distance = rows["distance"].to_numpy(dtype=float)
    last, predicted, rate = float(rows["t"].iloc[-1]), float(rows["predicted_rate"].iloc[0]), late_rate(rows)
    falls = bool(np.all(np.diff(distance) <= 1e-9))
    as_predicted = falls and abs(rate / predicted - 1) <= RATE
    near = bool(distance[-1] <= NEAR)
    # A state that approaches at the predicted rate but is not yet near was measured for too short a time.
    arrived = Outcome.PASSED if near else Outcome.TOO_FEW_RUNS
    outcome = arrived if as_predicted else Outcome.CONTRADICTED
    note = f"relative distance {distance[-1]:.1e} at t = {last:g}, rate {rate:.4f} against {predicted:.4f}"
    details = {"distance": float(distance[-1]), "t": last, "rate": rate, "predicted_rate": predicted, "falls": falls}
    unit, method = "measured / predicted rate", "log-linear fit"
    return Comparison(
        Kind.RATE, label, rate / predicted, unit, method, outcome, n_a=len(rows), note=note, details=details
    )


def late_rate(rows: pd.DataFrame) -> float:
    """Slope of −log distance over the last points that are still far above rounding."""
    distance = rows["distance"].to_numpy(dtype=float)
    t = rows["t"].to_numpy(dtype=float)
    usable = np.flatnonzero(distance > 1e-10)
    late = usable[-max(3, len(usable) // 4) :]
    if len(late) < 2:
        return math.nan
    return float(-np.polyfit(t[late], np.log(distance[late]), 1)[0])
