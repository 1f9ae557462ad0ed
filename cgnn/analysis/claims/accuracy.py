"""C1 to C4: who beats whom on the fixed and the random splits."""

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
    significant,
    span,
)
from cgnn.analysis.rows import cell, compare, finished, in_order, missing_reason
from cgnn.models import names
from cgnn.paper.reported import CLAIMED, NOT_COMPARABLE

CLOSE = 1.0  # points: the paper's own two variants differ by at most 0.6 in its tables
PAPER_DATASETS = ("cora", "citeseer", "pubmed", "nell")


def c1(evidence: Evidence) -> Claim:
    """CGNN beats GCN and GAT on the fixed splits."""
    test = "CGNN − GCN and CGNN − GAT on each fixed split: Welch, Holm over the claim; each must be above 0 at 5 %."
    return _beats("C1", evidence, ("fixed",), ("gcn", "gat"), test)


def c2(evidence: Evidence) -> Claim:
    """CGNN beats GCN and GAT on random splits."""
    test = "CGNN − GCN and CGNN − GAT, paired by random split, Holm over the claim; each must be above 0 at 5 %."
    return _beats("C2", evidence, ("random",), ("gcn", "gat"), test)


def c3(evidence: Evidence) -> Claim:
    """Continuous beats discrete."""
    test = "CGNN − CGNN discrete on each dataset, fixed (Welch) and random splits (paired), Holm; each above 0 at 5 %."
    return _beats("C3", evidence, ("fixed", "random"), ("cgnn_discrete",), test)


def c4(evidence: Evidence) -> Claim:
    """CGNN and CGNN with weight are close."""
    test = (
        f"CGNN with weight − CGNN on each dataset and split kind: two one-sided tests for ± {CLOSE:g} point, Holm; "
        "each must be equivalent at 5 %."
    )
    comparisons, missing = _pairs(evidence, ("fixed", "random"), "cgnn_weight", ("cgnn",))
    if not comparisons:
        return not_testable("C4", test, "CGNN with weight and CGNN were not both run", missing)
    # The family's p is that of the equivalence test, not of a difference.
    judged = adjust(comparisons, significant)
    far = max(judged, key=lambda item: abs(item.estimate))
    close = sum(bool(item.passed) for item in judged)
    text = (
        f"Equivalent within ± {CLOSE:g} point in {close} of {len(judged)} comparisons; the largest difference is "
        f"{span(far)} points ({far.label}, {p_text(far.p_adjusted)})."
    )
    return conclude("C4", test, text, judged, missing, against=[beyond(item, CLOSE) for item in judged])


def _beats(
    identifier: str, evidence: Evidence, split_kinds: tuple[str, ...], rivals: tuple[str, ...], test: str
) -> Claim:
    comparisons, missing = _pairs(evidence, split_kinds, "cgnn", rivals)
    if not comparisons:
        rival_names = " and ".join(names.model(rival) for rival in rivals)
        return not_testable(identifier, test, f"CGNN and {rival_names} were not both run", missing)
    judged = adjust(comparisons, lambda item: item.estimate > 0 and significant(item))
    wins = sum(bool(item.passed) for item in judged)
    losses = sum(item.estimate < 0 and significant(item) for item in judged)
    least = min(judged, key=lambda item: item.estimate)
    text = (
        f"CGNN is significantly better in {wins} of {len(judged)} comparisons and significantly worse in {losses}; the "
        f"smallest difference is {span(least)} points ({least.label}, {p_text(least.p_adjusted)})."
    )
    return conclude(identifier, test, text, judged, missing)


def _pairs(
    evidence: Evidence, split_kinds: tuple[str, ...], ours: str, rivals: tuple[str, ...]
) -> tuple[list[Comparison], tuple[str, ...]]:
    """Each dataset's comparison of ``ours`` with each rival; what could not be compared is named with its reason."""
    comparisons: list[Comparison] = []
    missing: list[str] = []
    if evidence.runs is None or evidence.runs.empty:
        return comparisons, ("all datasets (no runs)",)
    rows = evidence.protocol.of(evidence.runs)
    held = set(rows["dataset"]) & set(CLAIMED)
    stands_in = {NOT_COMPARABLE[name] for name in held if name in NOT_COMPARABLE}
    datasets = in_order(held | (set(PAPER_DATASETS) - stands_in), PAPER_DATASETS)
    for dataset in datasets:
        for kind in split_kinds:
            mine = cell(rows, dataset=dataset, split_kind=kind, model=ours)
            for rival in rivals:
                theirs = cell(rows, dataset=dataset, split_kind=kind, model=rival)
                where = f"{names.dataset(dataset)}, {kind}" if len(split_kinds) > 1 else names.dataset(dataset)
                reason = _untestable(mine, theirs, ours, rival)
                if reason:
                    missing.append(f"{where} ({reason})")
                    continue
                gap = compare(mine, theirs)
                label = f"{where}: {names.model(ours)} − {names.model(rival)}"
                if ours == "cgnn_weight":
                    comparisons.append(
                        from_difference(label, gap, gap.p_equivalent(CLOSE), method=f"equivalence, {gap.method}")
                    )
                else:
                    comparisons.append(from_difference(label, gap))
    return comparisons, tuple(dict.fromkeys(missing))


def _untestable(mine: pd.DataFrame, theirs: pd.DataFrame, ours: str, rival: str) -> str:
    for rows, model in ((mine, ours), (theirs, rival)):
        count = len(finished(rows))
        if count < 2:
            reason = missing_reason(rows) if count == 0 else "one run only"
            return f"{names.model(model)}: {reason}"
    return ""
