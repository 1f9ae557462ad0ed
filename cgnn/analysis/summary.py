"""summary.csv: one row per cell of the main tables with mean, deviation, interval, and difference from the paper."""

import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.rows import OK, compare, read_table, sample
from cgnn.analysis.statistics import SIGNIFICANCE, holm, welch_from_summary
from cgnn.paper.reported import NOT_COMPARABLE, Reported, Summary

CELL = ["dataset", "split_kind", "model", "preset", "hyperparameter_source", "variant"]
#: Identifies one column of one block of a table; its best model is marked.
BLOCK = ["dataset", "split_kind", "preset", "hyperparameter_source", "variant"]
COLUMNS = [
    *CELL,
    *("layers", "n", "n_ok", "n_diverged", "n_out_of_memory", "status", "mean", "std", "low", "high"),
    *("validation_mean", "paper_mean", "paper_std", "paper_n"),
    *("difference", "difference_low", "difference_high", "p", "p_holm", "hedges_g", "best"),
]


def summarise(rows: pd.DataFrame, reported: Reported) -> pd.DataFrame:
    """Group rows into cells; the p of a difference to the paper is Holm-adjusted over preset, source and split kind."""
    records, groups = [], {}
    for position, (keys, group) in enumerate(rows.groupby(CELL, sort=True, dropna=False)):
        dataset, kind, model = str(keys[0]), str(keys[1]), str(keys[2])
        layers = _layers(group)
        if model.startswith("gcn_residual"):
            paper = reported.residual(dataset, kind, int(layers)) if layers == layers else None
        elif str(keys[CELL.index("variant")]):
            paper = None  # the paper prints no number for a variant
        else:
            paper = reported.accuracy(NOT_COMPARABLE.get(dataset, dataset), kind, model)
        record = dict(zip(CELL, keys, strict=True)) | {"layers": layers}
        records.append(record | cell_record(group, paper, comparable=dataset not in NOT_COMPARABLE))
        groups[position] = group
    summary = pd.DataFrame(records).reindex(columns=COLUMNS)
    for _, family in summary.groupby(["preset", "hyperparameter_source", "split_kind"], dropna=False):
        summary.loc[family.index, "p_holm"] = holm(family["p"].astype(float).tolist())
    printed = set(reported.raw["fixed_split_accuracy"])
    plain = summary[summary["variant"] == ""]
    for _, block in plain.groupby([*BLOCK, plain["model"].isin(printed)], dropna=False):
        best = best_if_significant({position: groups[position] for position in block.index})
        summary.loc[block.index, "best"] = [int(position == best) for position in block.index]
    return summary


def cell_record(
    rows: pd.DataFrame, paper: Summary | None, column: str = "test_accuracy", *, comparable: bool = True
) -> dict[str, Any]:
    """All numbers of one cell; ``comparable`` is False if the paper's value is for another graph."""
    ours = sample(rows, column)
    low, high = ours.interval()
    record: dict[str, Any] = {
        "n": len(rows),
        "n_ok": ours.n,
        "n_diverged": int((rows["status"] == "diverged").sum()),
        "n_out_of_memory": int((rows["status"] == "out_of_memory").sum()),
        "status": OK if ours.n else "/".join(sorted(rows["status"].unique())),
        "mean": ours.mean,
        "std": ours.std,
        "low": low,
        "high": high,
        "validation_mean": sample(rows, "validation_accuracy").mean if "validation_accuracy" in rows else math.nan,
    }
    if paper is not None:
        record |= {"paper_mean": paper.mean, "paper_std": paper.std, "paper_n": paper.n}
    if paper is not None and comparable and ours.n:
        gap = welch_from_summary(ours, paper)
        record |= {
            "difference": gap.estimate,
            "difference_low": gap.low,
            "difference_high": gap.high,
            "p": gap.p,
            "hedges_g": gap.effect,
        }
    return record


def best_if_significant(groups: dict[Hashable, pd.DataFrame]) -> Hashable | None:
    """The group with the highest mean, if it differs from the next at 5 %; else None."""
    means = {name: sample(rows).mean for name, rows in groups.items() if sample(rows).n}
    ranked = sorted(means, key=lambda name: means[name], reverse=True)
    if len(ranked) < 2:
        return None
    p = compare(groups[ranked[0]], groups[ranked[1]]).p
    return ranked[0] if p < SIGNIFICANCE else None


def load_summary(path: Path | str) -> pd.DataFrame:
    """summary.csv as ``summarise`` wrote it."""
    advice = "write the file again with `python -m cgnn summarise`"
    summary = read_table(path, COLUMNS, advice, dtype={"variant": str})
    return summary.assign(variant=summary["variant"].fillna(""))


def _layers(rows: pd.DataFrame) -> float:
    """The number of layers that all rows of a cell share, or nan."""
    if "layers" not in rows:
        return math.nan
    values = pd.to_numeric(rows["layers"], errors="coerce").unique()
    return float(values[0]) if len(values) == 1 else math.nan
