"""C5, C6, C7 and C12: how depth or ending time changes accuracy."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
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
    directional,
    from_difference,
    least_favourable,
    not_testable,
    one_sided,
    p_text,
    span,
)
from cgnn.analysis.rows import compare, finished, in_order
from cgnn.analysis.statistics import SIGNIFICANCE, Difference, bootstrap, depends_on_level, range_of_means
from cgnn.models import names
from cgnn.paper.reported import CLAIMED, Reported

SHALLOW = (2, 3)  # "optimal results are achieved when the number of layers is 2 or 3"
DEEPER = (4, 8, 16)  # the paper's residual GCNs besides the one with 2 layers
LATE = 10.0  # "optimal results are achieved when t > 10"
ROBUST = 2.0  # points that CGNN may lose between its best and its worst t > 10
MUCH = 2.0  # points: the smallest difference that counts as "much worse" or as a gain
LEARNED = 0.5  # of log(classes), the loss of a constant guess: a run below it has learned its training labels
LEARNING_SHARE = 0.9  # share of the runs at a depth that must have learned for the depth to count
#: The paper prints two equations without H(0), and the derivative in its code differs from the one in its text.
READINGS = tuple((derivative, form) for derivative in ("released", "paper") for form in ("discussion", "printed"))

#: Readings in words; `discussion` and `printed` are the values of the switch no_h0.
WORDS = {
    "released": "released",
    "paper": "printed",
    "discussion": "H' = (A − I)H(t)",
    "printed": "H' = (A − I)H(0)",
}

Levels = dict[float, pd.DataFrame]


def c5(evidence: Evidence) -> Claim:
    """GCN and GAT are best at 2 or 3 layers; deeper ones are worse."""
    test = (
        "For GCN and GAT on each dataset: accuracy at the deepest minus the better of 2 and 3 layers must be below 0 "
        "at 5 %, and no other depth significantly better than this one."
    )
    comparisons, missing = [], []
    for dataset in _datasets(evidence.sweeps):
        for model in ("gcn", "gat"):
            levels = _levels(evidence.sweeps, dataset, model, "layers")
            shallow = [depth for depth in levels if depth in SHALLOW]
            deep = [depth for depth in levels if depth > max(SHALLOW)]
            where = f"{names.dataset(dataset)}, {names.model(model)}"
            if not shallow or not deep:
                missing.append(f"{where} (depths {_list(levels)})")
                continue
            best, top = _best(levels, shallow), _best(levels, levels)
            beaten = top not in SHALLOW and compare(levels[top], levels[best]).p < SIGNIFICANCE
            gap = compare(levels[max(deep)], levels[best])
            label = f"{where}: {max(deep):g} − {best:g} layers"
            comparisons.append(
                directional(
                    Kind.DIFFERENCE, label, gap, -1, refuted=beaten, where=where, best_at=top, better_elsewhere=beaten
                )
            )
    if not comparisons:
        return not_testable("C5", test, "no sweep over layers of GCN or GAT with 2 or 3 and more layers", missing)
    least = least_favourable(comparisons)
    text = (
        f"No depth significantly better than the better of 2 and 3 layers, and a significant drop to the deepest, in "
        f"{sum(item.passed for item in comparisons)} of {len(comparisons)} sweeps; the least favourable is "
        f"{span(least)} points ({least.label}, {p_text(least.p)}). "
        + "; ".join(f"{item.details['where']}: {_optimum(item)} layers{_beyond(item)}" for item in comparisons)
        + "."
    )
    return conclude("C5", test, text, [Part(Scope(), adjust(comparisons), tuple(missing))])


def c6(evidence: Evidence) -> Claim:
    """CGNN is robust to the ending time and best for t > 10."""
    test = (
        f"For CGNN on each dataset: the worst t > {LATE:g} loses less than {ROBUST:g} points on the best t at 5 % "
        f"(one-sided), and no t ≤ {LATE:g} is significantly better than every t > {LATE:g}."
    )
    rows = _of_model(evidence.sweeps, "cgnn")
    presets = in_order(rows["preset"].unique(), (evidence.protocol.preset, "released"))
    parts = [_robust(rows[rows["preset"] == preset], preset, main=preset == presets[0]) for preset in presets]
    parts = [part for part in parts if part.main or part.comparisons]
    main = [item for part in parts if part.main for item in part.comparisons]
    if not main:
        return not_testable("C6", test, f"no sweep of CGNN over ending times on both sides of {LATE:g}", parts=parts)
    text = "; ".join(f"{item.label}: {span(item)} points, {_optimum(item, 't = ')}" for item in main) + "."
    return conclude("C6", test, text, parts)


def _robust(rows: pd.DataFrame, preset: str, main: bool) -> Part:
    comparisons, missing = [], []
    for dataset in _datasets(rows):
        levels = _levels(rows, dataset, "cgnn", "t1")
        late = [t for t in levels if t > LATE]
        if len(late) < 2 or len(late) == len(levels):
            missing.append(f"{names.dataset(dataset)} (t = {_list(levels)})")
            continue
        best, worst_late = _best(levels, levels), min(late, key=lambda t: _mean(levels[t]))
        early = best <= LATE and compare(levels[best], levels[_best(levels, late)]).p < SIGNIFICANCE
        gap = compare(levels[worst_late], levels[best])
        p = gap.p_above(-ROBUST)
        if early or (gap.estimate < -ROBUST and gap.high < 0):
            outcome = Outcome.CONTRADICTED
        else:
            outcome = Outcome.PASSED if p < SIGNIFICANCE else Outcome.TOO_FEW_RUNS
        label = f"{names.dataset(dataset)}: at t = {worst_late:g} minus at t = {best:g}"
        comparisons.append(
            from_difference(Kind.NON_INFERIORITY, label, gap, p, outcome, best_at=best, better_elsewhere=early)
        )
    return Part(Scope(preset), adjust(comparisons), tuple(missing), main)


def c7(evidence: Evidence) -> Claim:
    """Without H(0): much worse, and sensitive to the ending time."""
    test = (
        f"For each reading of the equation without H(0), on each dataset, over the ending times t > {LATE:g}: at "
        f"CGNN's best t, CGNN without H(0) is worse by more than {MUCH:g} points (one-sided test against that margin, "
        "5 %), its accuracy depends on t (permutation of t within replicas, 5 %), and its range over t is wider than "
        "CGNN's (95 % interval of a basic bootstrap over replicas)."
    )
    parts = [_without_h0(evidence.sweeps, derivative, form) for derivative, form in READINGS]
    judged = [part for part in parts if part.comparisons]
    if not judged:
        missing = tuple(dict.fromkeys(name for part in parts for name in part.missing))
        return not_testable("C7", test, "no sweep of CGNN with and without H(0) over common ending times", missing)
    text = " ".join(_collapse(part) for part in judged)
    if any(part.comparisons for part, (_, form) in zip(parts, READINGS, strict=True) if form == "printed"):
        text += " Part of the fall under the printed equation may be decay of the state's scale, not over-smoothing."
    return conclude("C7", test, text, parts)


def _collapse(part: Part) -> str:
    """One sentence per reading of the equation."""
    gaps, ranges = (
        ", ".join(f"{span(item)} points ({item.details['dataset']})" for item in part.comparisons if item.kind is kind)
        for kind in (Kind.MARGIN, Kind.RANGE)
    )
    return (
        f"With the {part.scope.reading}, leaving out H(0) changes the accuracy at CGNN's best t by "
        f"{gaps} and its range over t by {ranges}."
    )


def _without_h0(sweeps: pd.DataFrame | None, derivative: str, form: str) -> Part:
    reading = f"{WORDS[derivative]} derivative and {WORDS[form]}"
    rows = _of_model(sweeps, "cgnn_no_h0")
    rows = rows[_switch(rows, "derivative", "released").eq(derivative) & _switch(rows, "no_h0", "discussion").eq(form)]
    comparisons, missing = [], []
    for dataset in _datasets(sweeps):
        name = names.dataset(dataset)
        without = _levels(rows, dataset, "cgnn_no_h0", "t1")
        with_h0, same = _cgnn_of(sweeps, dataset, derivative)
        common = sorted(t for t in set(with_h0) & set(without) if t > LATE)
        if len(common) < 2:
            missing.append(f"{name}, {reading} (common t > {LATE:g}: {_list(common)})")
            continue
        other = "" if same else " (of the released derivative)"
        best = _best(with_h0, common)
        gap = compare(without[best], with_h0[best])
        where = f"{name}, {WORDS[derivative]} derivative, {WORDS[form]}"
        label = f"{where}: without − with H(0){other} at t = {best:g}"
        comparisons.append(_much_worse(label, name, gap, best, same))
        comparisons.append(_wider(without, with_h0, common, f"{where}: range over t, without − with H(0){other}", name))
    return Part(Scope(reading=reading), adjust(comparisons), tuple(missing), main=bool(comparisons))


def _cgnn_of(sweeps: pd.DataFrame | None, dataset: str, derivative: str) -> tuple[Levels, bool]:
    """CGNN with H(0) under the same derivative, or under any if that one was not swept."""
    rows = _of_model(sweeps, "cgnn")
    levels = _levels(rows[_switch(rows, "derivative", "released").eq(derivative)], dataset, "cgnn", "t1")
    return (levels, True) if levels else (_levels(rows, dataset, "cgnn", "t1"), False)


def _much_worse(label: str, dataset: str, gap: Difference, best: float, same: bool) -> Comparison:
    p = gap.p_below(-MUCH)
    if p < SIGNIFICANCE:
        outcome = Outcome.PASSED
    else:
        outcome = Outcome.CONTRADICTED if gap.p_above(-MUCH) < SIGNIFICANCE else Outcome.TOO_FEW_RUNS
    return from_difference(
        Kind.MARGIN, label, gap, p, outcome, dataset=dataset, margin=MUCH, t=best, same_derivative=same
    )


def _wider(without: Levels, with_h0: Levels, times: list[float], label: str, dataset: str) -> Comparison:
    """Range of the means over t, first minus second.

    The range of noisy means is biased upwards: even if t has no effect, a percentile bootstrap finds a wider range. So
    the interval is a basic one, and a permutation test must show that the accuracy without H(0) depends on t at all.
    """

    def difference(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        return range_of_means(samples[: len(times)], axis) - range_of_means(samples[len(times) :], axis)

    samples = [levels[t]["test_accuracy"].to_numpy(dtype=float) for levels in (without, with_h0) for t in times]
    low, high, _ = bootstrap(samples, difference, "basic")
    aligned = pd.concat([without[t].set_index("replica")["test_accuracy"] for t in times], axis=1, join="inner")
    p = depends_on_level([aligned.iloc[:, place].to_numpy(dtype=float) for place in range(len(times))])
    outcome = one_sided(low, high, +1)
    if outcome is Outcome.PASSED and not p < SIGNIFICANCE:
        outcome = Outcome.TOO_FEW_RUNS
    n_a, n_b = sum(map(len, samples[: len(times)])), sum(map(len, samples[len(times) :]))
    method = "basic bootstrap, permutation of t"
    estimate = float(difference(*samples))
    found = Comparison(Kind.RANGE, label, estimate, "points", method, outcome, low, high, p, n_a=n_a, n_b=n_b)
    return replace(found, details={"dataset": dataset})


def c12(evidence: Evidence) -> Claim:
    """Residual GCN does not gain from depth."""
    test = (
        "Residual GCN with 4, 8, 16 layers against 2, on each dataset and split kind: no significant gain, and the "
        f"95 % interval excludes a gain of {MUCH:g} points. A depth counts only if {LEARNING_SHARE:.0%} of its runs "
        f"learned their training labels (final loss below {LEARNED:g} · log(classes))."
    )
    frames = [frame for frame in (evidence.runs, evidence.sweeps) if frame is not None and not frame.empty]
    rows = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"split_kind": [], "dataset": []})
    parts = [_residual(rows[rows["split_kind"] == kind], kind, evidence.reported) for kind in ("fixed", "random")]
    judged = [item for part in parts for item in part.comparisons]
    if not judged:
        return not_testable("C12", test, "no residual GCN of 2 and of more layers that learned", parts=parts)
    most = least_favourable(judged)
    text = (
        f"Of {len(judged)} comparisons with 2 layers, {sum(item.low > 0 for item in judged)} show a significant gain; "
        f"the least favourable is {span(most)} points ({most.label}, two-sided {p_text(most.p)} for a gain of {MUCH:g} "
        "points or more)."
    )
    return conclude("C12", test, text, parts)


def _residual(rows: pd.DataFrame, kind: str, reported: Reported) -> Part:
    comparisons, missing = [], []
    for dataset in _datasets(rows):
        levels = _levels(rows, dataset, "gcn_residual", "layers")
        where = f"{names.dataset(dataset)}, {kind}"
        deeper = [depth for depth in levels if depth in DEEPER] or [depth for depth in levels if depth > 2]
        if 2 not in levels or not deeper:
            missing.append(f"{where} (depths {_list(levels)})")
            continue
        for depth in deeper:
            count, learned = len(levels[depth]), _learned(levels[depth], dataset, reported)
            if learned < LEARNING_SHARE * count:
                missing.append(f"{where}, {depth:g} layers ({learned} of {count} runs learned)")
                continue
            gap = compare(levels[depth], levels[2])
            p = min(1.0, 2 * gap.p_below(MUCH))  # below 5 % exactly if the 95 % interval ends below the margin
            if gap.low > 0:
                outcome = Outcome.CONTRADICTED
            else:
                outcome = Outcome.PASSED if p < SIGNIFICANCE else Outcome.TOO_FEW_RUNS
            label = f"{where}: {depth:g} − 2 layers"
            comparisons.append(
                from_difference(Kind.NO_GAIN, label, gap, p, outcome, margin=MUCH, learned=learned, runs=count)
            )
    return Part(Scope(split_kind=kind), adjust(comparisons), tuple(missing))


def _learned(rows: pd.DataFrame, dataset: str, reported: Reported) -> int:
    """The number of runs that fit their training labels better than a guess."""
    if "final_train_loss" not in rows.columns:
        return 0
    return int((rows["final_train_loss"] < LEARNED * math.log(reported.statistics(dataset)["classes"])).sum())


def _datasets(rows: pd.DataFrame | None) -> list[str]:
    return [] if rows is None or rows.empty else in_order(set(rows["dataset"]) & set(CLAIMED), CLAIMED)


def _of_model(rows: pd.DataFrame | None, model: str) -> pd.DataFrame:
    empty = pd.DataFrame(columns=["dataset", "model", "preset"])
    return empty if rows is None or rows.empty else rows[rows["model"] == model]


def _switch(rows: pd.DataFrame, name: str, default: str) -> pd.Series:
    column = f"sw_{name}"
    return rows[column] if column in rows.columns else pd.Series(default, index=rows.index)


def _levels(rows: pd.DataFrame | None, dataset: str, model: str, axis: str) -> Levels:
    """Finished rows of one protocol by value of the axis, for values with at least two rows."""
    if rows is None or rows.empty or axis not in rows.columns:
        return {}
    chosen = finished(rows[(rows["dataset"] == dataset) & (rows["model"] == model)])
    if chosen.empty:
        return {}
    # A depth may occur in a sweep and, with other settings, in the main table: use the protocol with most depths.
    by_protocol = [part for _, part in chosen.groupby(["preset", "hyperparameter_source"], sort=True)]
    widest = max(by_protocol, key=lambda part: (part[axis].nunique(), len(part)))
    levels = {}
    for value, group in widest.groupby(axis, sort=True):
        level = float(str(value))
        # Other variants at this depth build the model differently; the plain variant is named after its depth.
        parts = [part for _, part in group.groupby("variant", sort=True)]
        plain = [part for part in parts if part["variant"].iloc[0] == f"{axis}-{level:g}"]
        rows_of_level = max(plain or parts, key=len).drop_duplicates(["split", "replica"])
        if len(rows_of_level) >= 2:
            levels[level] = rows_of_level
    return levels


def _mean(rows: pd.DataFrame) -> float:
    return float(rows["test_accuracy"].mean())


def _best(levels: Levels, among: Iterable[float]) -> float:
    return max(among, key=lambda value: _mean(levels[value]))


def _optimum(item: Comparison, before: str = "") -> str:
    words = "significantly better" if item.details["better_elsewhere"] else "best mean"
    return f"{words} at {before}{item.details['best_at']:g}"


def _beyond(item: Comparison) -> str:
    """A best mean at a greater depth does not contradict the claim if it is not significantly better."""
    unclear = item.details["best_at"] not in SHALLOW and not item.details["better_elsewhere"]
    return " (not significantly better than the better of 2 and 3)" if unclear else ""


def _list(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values) or "none"
