"""The main results in a few sentences generated from the numbers, for the abstract, the page and the README."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.measured import GCNS, GENERAL, bench_name, load_bench, load_profiles, most_threads
from cgnn.analysis.rows import OK, Protocol, cell, choose_protocol, compare, in_order, load_rows
from cgnn.analysis.statistics import Difference
from cgnn.analysis.summary import load_summary
from cgnn.models import names
from cgnn.paper.fidelity import PRESETS
from cgnn.paper.reported import CLAIMED, NOT_COMPARABLE, load_reported
from cgnn.render.accuracy_table import SOURCES
from cgnn.render.cells import mean_text, number
from cgnn.render.plots import list_words

EQUATIONS = {"released": "equation of the released code", "paper": "printed equation"}


@dataclass(frozen=True)
class Sentence:
    """A finding, and the claims and tables that support it."""

    text: str
    claims: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


def headline(results: Path) -> list[Sentence]:
    """At most five sentences; experiments that were not run are left out."""
    if not (results / "runs.csv").is_file() or not (results / "summary.csv").is_file():
        return []
    rows, summary = load_rows(results / "runs.csv"), load_summary(results / "summary.csv")
    known = [name for name in CLAIMED if name not in NOT_COMPARABLE]
    rows, summary = rows[rows["dataset"].isin(known)], summary[summary["dataset"].isin(known)]
    found = (
        Sentence(_equations(summary), tables=("fixed_splits", "fidelity")),
        Sentence(_against_baselines(rows), ("C1",), ("fixed_splits",)),
        Sentence(_continuous_or_discrete(rows), ("C3",), ("fixed_splits", "propagation", "fidelity")),
        Sentence(_random_splits(summary), ("C2",), ("random_splits", "split_rules")),
        Sentence(_cost(results), ("C11",), ("speed",)),
    )
    return [sentence for sentence in found if sentence.text]


def compact_table(results: Path) -> str:
    """The paper's five models on its three datasets as Markdown: our mean ± deviation, and the paper's."""
    summary = load_summary(results / "summary.csv")
    part = summary[(summary["split_kind"] == "fixed") & (summary["variant"] == "")]
    protocol = choose_protocol(part)
    part = protocol.of(part)
    datasets = [name for name in CLAIMED if name in set(part["dataset"])]
    header = "".join(f" | {names.dataset(name)}, ours | paper" for name in datasets)
    lines = [f"| test accuracy in %{header} |", "| --- |" + " ---: |" * (2 * len(datasets))]
    for model in ("gcn", "gat", "cgnn_discrete", "cgnn", "cgnn_weight"):
        cells = []
        for dataset in datasets:
            found = part[(part["model"] == model) & (part["dataset"] == dataset)].to_dict("records")
            row = found[0] if found else {}
            cells += [_pair(row, "mean", "std"), _pair(row, "paper_mean", "paper_std")]
        lines.append(f"| {names.model(model)} | {' | '.join(cells)} |")
    note = (
        f"Fixed splits, {EQUATIONS[protocol.preset]}, {SOURCES[protocol.source]}; mean ± standard deviation over "
        f"{int(part['n_ok'].max())} seeds."
    )
    return "\n".join(lines) + f"\n\n{note}"


def _pair(row: dict[Any, Any], mean: str, std: str) -> str:
    return mean_text(float(row.get(mean, float("nan"))), float(row.get(std, float("nan"))))


def _equations(summary: pd.DataFrame) -> str:
    """CGNN's accuracy with the released and with the printed equations, published hyperparameters, fixed splits."""
    part = summary[(summary["model"] == "cgnn") & (summary["split_kind"] == "fixed") & (summary["variant"] == "")]
    source = "published" if (part["hyperparameter_source"] == "published").any() else "search"
    released, printed = (
        Protocol(source, preset).of(part).set_index("dataset").dropna(subset=["difference"])
        for preset in ("released", "paper")
    )
    if released.empty:
        return ""
    where = list_words([names.dataset(name) for name in in_order(released.index, names.DATASETS)])
    sentence = (
        f"With {SOURCES[source]}, CGNN's accuracy on the fixed splits of {where} is {_distance(released)} with the "
        "equation of the released code"
    )
    if printed.empty:
        return f"{sentence}."
    also = in_order(printed.index, names.DATASETS)
    only = "" if set(also) == set(released.index) else f" on {list_words([names.dataset(name) for name in also])}"
    return f"{sentence} and {_distance(printed)} with the printed one{only}."


def _distance(rows: pd.DataFrame) -> str:
    """``0.6 to 1.5 points below the paper (significantly on Cora and Pubmed)``, from rows of the summary by dataset."""
    gaps = rows["difference"]
    if (gaps < 0).all() or (gaps > 0).all():
        text = f"{_range(gaps.abs())} points {'below' if (gaps < 0).all() else 'above'} the paper"
    else:
        text = f"within {gaps.abs().max():.1f} points of the paper"
    significant = rows.index[(rows["difference_high"] < 0) | (rows["difference_low"] > 0)]
    where = list_words([names.dataset(name) for name in in_order(significant, names.DATASETS)])
    if not where:
        return f"{text} (not significantly)"
    return f"{text} (significantly{'' if len(significant) == len(rows) else f' on {where}'})"


def _against_baselines(rows: pd.DataFrame) -> str:
    """The datasets on which CGNN leads, trails or does neither, under the main protocol."""
    fixed = rows[(rows["split_kind"] == "fixed") & (rows["variant"] == "")]
    if fixed.empty:
        return ""
    protocol = choose_protocol(fixed)
    fixed = protocol.of(fixed)
    gaps = {rival: _gaps(fixed, "cgnn", rival) for rival in ("gcn", "gat")}
    gaps = {rival: found for rival, found in gaps.items() if found}
    if not gaps:
        return ""
    ahead = {rival: [name for name, gap in found.items() if gap.low > 0] for rival, found in gaps.items()}
    behind = {rival: [name for name, gap in found.items() if gap.high < 0] for rival, found in gaps.items()}
    start = f"With {SOURCES.get(protocol.source, protocol.source)}, on the fixed splits, CGNN is significantly better"
    text = f"{start} {_than(ahead)}"
    if any(behind.values()):
        text += f", and significantly worse {_than({rival: where for rival, where in behind.items() if where})}"
    others = sum(map(len, gaps.values())) - sum(map(len, (*ahead.values(), *behind.values())))
    if others:
        text += f"; the other {others} differences are" if others > 1 else "; the other difference is"
        text += " not significant"
    return text + "."


def _than(datasets: dict[str, list[str]]) -> str:
    """``than GCN on Cora and Pubmed and than GAT on Pubmed``, from the datasets by rival."""
    rivals: dict[str, list[str]] = {}
    for rival, found in datasets.items():
        where = list_words([names.dataset(name) for name in found])
        rivals.setdefault(where or "no dataset", []).append(names.model(rival))
    return list_words([f"than {list_words(models)} on {where}" for where, models in rivals.items()])


def _continuous_or_discrete(rows: pd.DataFrame) -> str:
    """CGNN against CGNN discrete, with the released and with the printed equations."""
    fixed = rows[(rows["split_kind"] == "fixed") & (rows["variant"] == "")]
    parts: list[str] = []
    for preset, equation in EQUATIONS.items():
        gaps = _gaps(Protocol("published", preset).of(fixed), "cgnn", "cgnn_discrete")
        if gaps:
            rival = "" if parts else f" {names.model('cgnn_discrete')}"  # named once
            steps = PRESETS[preset].discrete_steps
            beside = f" and {steps} discrete steps" if steps != "t1" else ""
            parts.append(f"{_compared(gaps, rival)} with the {equation}{beside}")
    return f"With {SOURCES['published']}, on the fixed splits, CGNN is {', and '.join(parts)}." if parts else ""


def _compared(gaps: dict[str, Difference], rival: str) -> str:
    """``significantly less accurate than CGNN discrete on Cora (by 1.3 points)``; the other datasets are left out."""
    parts: list[str] = []
    for word, sign in (("more", 1), ("less", -1)):
        found = {name: gap for name, gap in gaps.items() if min(sign * gap.low, sign * gap.high) > 0}
        if found:
            points = _range(pd.Series([abs(gap.estimate) for gap in found.values()]))
            than = f" than{rival}" if rival and not parts else ""
            where = list_words([names.dataset(name) for name in found])
            parts.append(f"significantly {word} accurate{than} on {where} (by {points} points)")
    if parts:
        return " and ".join(parts)
    where = list_words([names.dataset(name) for name in gaps])
    return f"not significantly different{f' from{rival}' if rival else ''} on {where}"


def _random_splits(summary: pd.DataFrame) -> str:
    """Name the datasets on which GCN is below the paper as well as CGNN, so that CGNN is not the reason."""
    part = summary[(summary["split_kind"] == "random") & (summary["variant"] == "") & summary["difference"].notna()]
    if part.empty:
        return ""
    protocol = choose_protocol(part)
    part = protocol.of(part)
    gcn, cgnn = (part[part["model"] == model].set_index("dataset") for model in ("gcn", "cgnn"))
    below = [
        dataset
        for dataset in in_order(set(gcn.index) & set(cgnn.index), names.DATASETS)
        if gcn["difference_high"][dataset] < 0 and cgnn["difference_high"][dataset] < 0
    ]
    if not below:
        return ""
    where = list_words([names.dataset(name) for name in below])
    return (
        f"With {SOURCES.get(protocol.source, protocol.source)}, on random splits of {where}, CGNN is "
        f"{_range(-cgnn['difference'][below])} points and the baseline GCN {_range(-gcn['difference'][below])} points "
        "below the paper, which does not describe how its splits were drawn."
    )


def _cost(results: Path) -> str:
    """The time of an epoch with a general solver and with the exact one, in GCN epochs on Cora."""
    seconds = epoch_seconds(results, "cora")
    general = next((name for name in GENERAL if name in seconds), None)
    timed = [name for name in GCNS if name in seconds]
    if general is None or not timed or "cgnn_exact" not in seconds:
        return ""
    base, exact = timed[0], seconds["cgnn_exact"]
    faster = [name for name in ("gcn_ours", "gcn_fused") if name in timed[1:] and seconds[name] < seconds[base]]
    beside = list_words([f"{_times(exact / seconds[name])} as long as {GCNS[name]}" for name in faster])
    theirs = load_reported().seconds_per_epoch
    cgnn, gcn = theirs("cgnn"), theirs("gcn")
    paper = f" (paper: {cgnn / gcn:.0f} times, on a GPU)" if cgnn and gcn else ""
    threads = next((row.get("threads", 1) for row in most_threads(load_bench(results / "bench.json"))), None)
    where = "" if threads is None else f", on a CPU with {threads} thread{'s' if threads > 1 else ''}"
    return (
        f"CGNN's high cost comes from the solver, not from the model: on Cora{where}, an epoch with a general-purpose "
        f"solver takes {seconds[general] / seconds[base]:.0f} times as long as an epoch of {GCNS[base]}{paper}; "
        f"with our exact solver, which exists because the ODE is linear, {_times(exact / seconds[base])} as long."
        + (f" Compared with faster implementations of GCN, that is {beside}." if beside else "")
    )


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times" if ratio < 1 else f"{ratio:.1f} times"


def epoch_seconds(results: Path, dataset: str) -> dict[str, float]:
    """Median seconds per epoch by method, from the benchmark if it was run, otherwise from the profiles."""
    benched = [row for row in most_threads(load_bench(results / "bench.json")) if row.get("dataset") == dataset]
    if benched:
        return {bench_name(row): float(row["ms_per_epoch"]) / 1000 for row in benched}
    if not (results / "profiles.csv").is_file():
        return {}
    timed = load_profiles(results / "profiles.csv")
    timed = timed[(timed["dataset"] == dataset) & (timed["status"] == OK)]
    # GCN with its two layers, CGNN near the ending times of the paper's tables.
    nearest: dict[str, float] = {}
    for method, points in timed.groupby("method"):
        aim = 2.0 if points["axis"].iloc[0] == "layers" else 15.0
        place = int((points["value"] - aim).abs().argmin())
        nearest["gcn_ours" if method == "gcn" else str(method)] = float(points["seconds_per_epoch"].iloc[place])
    return nearest


def _gaps(rows: pd.DataFrame, a: str, b: str) -> dict[str, Difference]:
    found = {}
    for dataset in in_order(set(rows["dataset"]), names.DATASETS):
        left, right = cell(rows, dataset=dataset, model=a), cell(rows, dataset=dataset, model=b)
        gap = compare(left, right) if len(left) > 1 and len(right) > 1 else None
        if gap is not None and gap.low == gap.low:
            found[dataset] = gap
    return found


def _range(values: Any) -> str:
    low, high = float(values.min()), float(values.max())
    return number(low) if f"{low:.1f}" == f"{high:.1f}" else f"{number(low)} to {number(high)}"
