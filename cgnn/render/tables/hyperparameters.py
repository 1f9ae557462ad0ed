"""The appendix's hyperparameters: what the paper prints, and what our search found."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import in_order, load_rows
from cgnn.models import names
from cgnn.paper.reported import load_reported
from cgnn.render.table import Cell, Row, Table

SHOWN = {
    "lr": "lr",
    "t1": "t₁",
    "alpha": "α",
    "gamma": "γ",
    "weight_decay": "weight decay",
    "input_dropout": "input dropout",
    "dropout": "dropout",
    "hidden": "hidden",
}
KEYS = ["dataset", "split_kind", "model", "preset"]


def build(runs: Path, reported: Path, trials: Path | None = None) -> Table:
    """A row a search or a printed setting; the paper's value under ours."""
    rows = load_rows(runs)
    printed = load_reported(reported)
    searches = _searches(trials)
    found = rows[rows["hyperparameter_source"] == "search"].drop_duplicates(KEYS)
    shown = [name for name in SHOWN if name in rows.columns]
    table = []
    datasets = in_order(set(rows["dataset"]) | set(searches.get("dataset", [])), names.DATASETS)
    models = in_order(set(rows["model"]) | set(searches.get("model", [])), names.MODELS)
    for dataset in datasets:
        for model in models:
            for kind in ("fixed", "random"):
                theirs = printed.hyperparameters(dataset, kind, model)
                ours = found[(found["dataset"] == dataset) & (found["model"] == model) & (found["split_kind"] == kind)]
                presets = in_order(set(ours["preset"]), ("released", "paper")) or [""]
                for preset in presets:
                    row = ours[ours["preset"] == preset].iloc[0] if preset else None
                    if row is None and not theirs:
                        continue
                    keys = {"dataset": dataset, "split_kind": kind, "model": model, "preset": preset}
                    cells = {SHOWN[name]: _cell(name, row, theirs, keys) for name in shown}
                    cells["search"] = _search_cell(searches, keys)
                    label = f"{names.model(model)}, {kind}" + (f" ({preset})" if len(presets) > 1 else "")
                    table.append(Row(label, cells, names.dataset(dataset)))
    caption = (
        "Hyperparameters found by our random search on validation accuracy, and under them those the paper prints. The "
        "column search gives the winner's mean validation accuracy in percent over the replicas of round two, the "
        "number of trials, and how many of them diverged or ran out of memory (lost)."
    )
    columns = (*(SHOWN[name] for name in shown), "search")
    return Table("hyperparameters", "Hyperparameters", caption, "Model and splits", columns, tuple(table))


def _searches(trials: Path | None) -> pd.DataFrame:
    """Best mean of round two, number of trials and of those that did not complete, for each search."""
    if trials is None:
        return pd.DataFrame(columns=[*KEYS, "best", "count", "failed"])
    rows = pd.read_csv(trials)
    return rows.groupby(KEYS, as_index=False).agg(
        best=("mean", "max"),
        count=("objective", "size"),
        failed=("status", lambda status: int((status != "completed").sum())),
    )


def _search_cell(searches: pd.DataFrame, keys: dict[str, str]) -> Cell:
    chosen = searches
    for name, value in keys.items():
        if value:
            chosen = chosen[chosen[name] == value]
    if chosen.empty:
        return Cell("–", missing="no search")
    row = chosen.iloc[0]
    under = (f"{row['count']} trials" + (f", {row['failed']} lost" if row["failed"] else ""),)
    numbers = {"value": float(row["best"]), "n": float(row["count"])}
    return Cell(f"{row['best']:.1f}", under, numbers=numbers, file="trials", where={k: v for k, v in keys.items() if v})


def _cell(name: str, row: pd.Series | None, theirs: dict[str, float | None], keys: dict[str, str]) -> Cell:
    paper = theirs.get(name)
    under = (f"paper {_format(name, paper)}",) if paper is not None else ()
    numbers: dict[str, float | None] = {} if paper is None else {"paper": float(paper)}
    value = None if row is None else row[name]
    if value is None or pd.isna(value):
        missing = "not run" if row is None else ""
        return Cell("–", under, missing=missing, numbers=numbers)
    where = {**keys, "hyperparameter_source": "search"}
    return Cell(
        _format(name, float(value)), under, numbers={**numbers, "value": float(value)}, file="runs", where=where
    )


def _format(name: str, value: float) -> str:
    if name in ("lr", "weight_decay"):
        return f"{value:.2e}".replace("e-0", "e-").replace("e+00", "")
    if name == "hidden":
        return f"{value:.0f}"
    return f"{value:.1f}" if name == "t1" else f"{value:.3g}"
