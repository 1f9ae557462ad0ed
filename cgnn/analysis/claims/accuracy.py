"""C1 to C4: which model is better on the fixed and the random splits."""

from collections.abc import Callable, Sequence

import pandas as pd

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
    directional,
    from_difference,
    least_favourable,
    not_testable,
    p_text,
    span,
)
from cgnn.analysis.rows import cell, compare, finished, in_order, missing_reason, protocols
from cgnn.analysis.statistics import SIGNIFICANCE, Difference
from cgnn.models import names
from cgnn.paper.reported import CLAIMED, NOT_COMPARABLE

PAPER_DATASETS = ("cora", "citeseer", "pubmed", "nell")
PAPER_KINDS = ("fixed", "random")
Test = Callable[[str, Difference], Comparison]


def c1(evidence: Evidence) -> Claim:
    """CGNN beats GCN and GAT on the fixed splits."""
    test = "CGNN − GCN and CGNN − GAT on each fixed split: Welch; each must be above 0 at 5 %."
    return _beats("C1", evidence, ("fixed",), ("gcn", "gat"), test)


def c2(evidence: Evidence) -> Claim:
    """CGNN beats GCN and GAT on random splits."""
    test = "CGNN − GCN and CGNN − GAT, paired by random split; each must be above 0 at 5 %."
    return _beats("C2", evidence, ("random",), ("gcn", "gat"), test)


def c3(evidence: Evidence) -> Claim:
    """Continuous beats discrete."""
    test = "CGNN − CGNN discrete on each dataset, fixed (Welch) and random splits (paired); each above 0 at 5 %."
    return _beats("C3", evidence, PAPER_KINDS, ("cgnn_discrete",), test)


def c4(evidence: Evidence) -> Claim:
    """CGNN and CGNN with weight are close."""
    test = (
        f"CGNN with weight − CGNN on each dataset and split kind: two one-sided tests for ± {CLOSE:g} point; "
        "each must be equivalent at 5 %."
    )
    parts = _parts(evidence, PAPER_KINDS, "cgnn_weight", ("cgnn",), _close)
    judged = _main(parts)
    if not judged:
        return not_testable("C4", test, "CGNN with weight and CGNN were not both run", parts=parts)
    far = least_favourable(judged)
    text = (
        f"Equivalent within ± {CLOSE:g} point in {sum(item.passed for item in judged)} of {len(judged)} comparisons; "
        f"the least favourable is {span(far)} points ({far.label}, {p_text(far.p)} for a difference of {CLOSE:g} point "
        "or more)."
    )
    return conclude("C4", test, text, parts)


def _beats(
    identifier: str, evidence: Evidence, split_kinds: tuple[str, ...], rivals: tuple[str, ...], test: str
) -> Claim:
    parts = _parts(
        evidence, split_kinds, "cgnn", rivals, lambda label, gap: directional(Kind.DIFFERENCE, label, gap, +1)
    )
    judged = _main(parts)
    if not judged:
        rival_names = " and ".join(names.model(rival) for rival in rivals)
        return not_testable(identifier, test, f"CGNN and {rival_names} were not both run", parts=parts)
    least = least_favourable(judged)
    text = (
        f"CGNN is significantly better in {sum(item.passed for item in judged)} of {len(judged)} comparisons and "
        f"significantly worse in {sum(item.high < 0 for item in judged)}; the least favourable is {span(least)} points "
        f"({least.label}, {p_text(least.p)})."
    )
    return conclude(identifier, test, text, parts)


def _close(label: str, gap: Difference) -> Comparison:
    p = gap.p_equivalent(CLOSE)
    return from_difference(Kind.EQUIVALENCE, label, gap, p, close_outcome(gap, p, CLOSE))


def close_outcome(gap: Difference, p: float, margin: float) -> Outcome:
    """Contradicted only if the data shows the opposite: the interval excludes 0 and the estimate exceeds the margin."""
    if p < SIGNIFICANCE:
        return Outcome.PASSED
    beyond = abs(gap.estimate) > margin and (gap.low > 0 or gap.high < 0)
    return Outcome.CONTRADICTED if beyond else Outcome.TOO_FEW_RUNS


def _main(parts: Sequence[Part]) -> list[Comparison]:
    return [item for part in parts if part.main for item in part.comparisons]


def _parts(
    evidence: Evidence, split_kinds: tuple[str, ...], ours: str, rivals: tuple[str, ...], test: Test
) -> list[Part]:
    """One part per protocol and split kind found in the runs, the main protocol first."""
    runs = evidence.runs
    if runs is None or runs.empty:
        return [Part(Scope(), (), ("all datasets (no runs)",))]
    runs = runs[runs["variant"] == ""]  # a variant is no cell of Tables 2 and 3
    # A random claim is also judged on splits drawn by other rules, which the paper does not describe.
    others = set(runs["split_kind"]) - set(PAPER_KINDS) if "random" in split_kinds else set()
    parts = []
    for protocol in dict.fromkeys([evidence.protocol, *protocols(runs)]):
        for kind in (*split_kinds, *sorted(others)):
            main = protocol == evidence.protocol and kind in split_kinds
            scope = Scope(protocol.preset, protocol.source, kind)
            part = _part(scope, protocol.of(runs), ours, rivals, test, main, name_kind=len(split_kinds) > 1)
            if main or part.comparisons:
                parts.append(part)
    return parts


def _part(
    scope: Scope, rows: pd.DataFrame, ours: str, rivals: tuple[str, ...], test: Test, main: bool, name_kind: bool
) -> Part:
    """Compare ``ours`` with each rival on each dataset; list the comparisons that are not possible, with the reason."""
    comparisons: list[Comparison] = []
    missing: list[str] = []
    kind = scope.split_kind
    held = set(rows["dataset"]) & set(CLAIMED)
    stands_in = {NOT_COMPARABLE[name] for name in held if name in NOT_COMPARABLE}
    for dataset in in_order(held | (set(PAPER_DATASETS) - stands_in), PAPER_DATASETS):
        mine = cell(rows, dataset=dataset, split_kind=kind, model=ours)
        where = f"{names.dataset(dataset)}, {kind}" if name_kind else names.dataset(dataset)
        for rival in rivals:
            theirs = cell(rows, dataset=dataset, split_kind=kind, model=rival)
            reason = _untestable(mine, theirs, ours, rival)
            if reason:
                missing.append(f"{where} ({reason})")
            else:
                label = f"{where}: {names.model(ours)} − {names.model(rival)}"
                comparisons.append(test(label, compare(mine, theirs)))
    return Part(scope, adjust(comparisons), tuple(dict.fromkeys(missing)), main)


def _untestable(mine: pd.DataFrame, theirs: pd.DataFrame, ours: str, rival: str) -> str:
    for rows, model in ((mine, ours), (theirs, rival)):
        count = len(finished(rows))
        if count < 2:
            reason = missing_reason(rows) if count == 0 else "one run only"
            return f"{names.model(model)}: {reason}"
    return ""
