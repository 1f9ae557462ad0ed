"""One row a cell: mean, deviation, interval, and how far from the paper's printed value."""

import math

import pandas as pd

from cgnn.analysis.rows import OK, sample
from cgnn.analysis.statistics import holm, welch_from_summary
from cgnn.paper.reported import Reported

CELL = ["dataset", "split_kind", "model", "preset", "hyperparameter_source", "variant"]


def summarise(rows: pd.DataFrame, reported: Reported) -> pd.DataFrame:
    """Group rows into cells; the p of a difference to the paper is Holm-adjusted over preset, source and split kind."""
    records = []
    for keys, group in rows.groupby(CELL, sort=True, dropna=False):
        record = dict(zip(CELL, keys, strict=True))
        ours = sample(group)
        low, high = ours.interval()
        record |= {
            "n": len(group),
            "n_ok": ours.n,
            "n_diverged": int((group["status"] == "diverged").sum()),
            "n_out_of_memory": int((group["status"] == "out_of_memory").sum()),
            "status": OK if ours.n else "/".join(sorted(group["status"].unique())),
            "mean": ours.mean,
            "std": ours.std,
            "low": low,
            "high": high,
            "validation_mean": sample(group, "validation_accuracy").mean
            if "validation_accuracy" in group
            else math.nan,
        }
        paper = reported.accuracy(*(str(record[name]) for name in ("dataset", "split_kind", "model")))
        if paper is not None and ours.n:
            gap = welch_from_summary(ours, paper)
            record |= {
                "paper_mean": paper.mean,
                "paper_std": paper.std,
                "paper_n": paper.n,
                "difference": gap.estimate,
                "difference_low": gap.low,
                "difference_high": gap.high,
                "p": gap.p,
                "hedges_g": gap.effect,
            }
        records.append(record)
    columns = [
        *CELL,
        "n",
        "n_ok",
        "n_diverged",
        "n_out_of_memory",
        "status",
        "mean",
        "std",
        "low",
        "high",
        "validation_mean",
        "paper_mean",
        "paper_std",
        "paper_n",
        "difference",
        "difference_low",
        "difference_high",
        "p",
        "p_holm",
        "hedges_g",
    ]
    summary = pd.DataFrame(records).reindex(columns=columns)
    for _, family in summary.groupby(["preset", "hyperparameter_source", "split_kind"], dropna=False):
        summary.loc[family.index, "p_holm"] = holm(family["p"].astype(float).tolist())
    return summary
