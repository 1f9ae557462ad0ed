"""The appendix's hyperparameters: what the paper prints, and what our search found."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.measured import load_trials
from cgnn.analysis.rows import in_order, load_rows
from cgnn.models import names
from cgnn.paper.hyperparameters import parse_own
from cgnn.paper.reported import load_reported
from cgnn.render.cells import count_text
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
#: The split kinds that have their own searches; the other rules for random splits use those of the random splits.
SEARCHED = ("fixed", "random")
KEYS = ["dataset", "split_kind", "model", "preset"]
#: The columns of trials.csv that are no hyperparameters.
TRIAL_COLUMNS = (*KEYS, "trial", "round", "status", "objective", "mean", "replicas")


def build(runs: Path, reported: Path, trials: Path | None = None) -> Table:
    """One row per search and one per printed setting."""
    rows = load_rows(runs)
    rows["own"] = rows["own"].fillna("") if "own" in rows.columns else ""
    printed = load_reported(reported)
    searches = _searches(trials)
    found = rows[rows["hyperparameter_source"] == "search"].drop_duplicates(KEYS)
    shown = [name for name in SHOWN if name in found.columns and found[name].notna().any()]
    table = []
    for dataset in in_order(set(rows["dataset"]), names.DATASETS):
        for model in in_order(set(rows["model"]), names.MODELS):
            for kind in in_order(set(rows["split_kind"]) & set(SEARCHED), SEARCHED):
                label = f"{names.model(model)}, {kind}"
                ours = found[(found["dataset"] == dataset) & (found["model"] == model) & (found["split_kind"] == kind)]
                for _, row in ours.iterrows():
                    keys = {"dataset": dataset, "split_kind": kind, "model": model, "preset": str(row["preset"])}
                    cells = {SHOWN[name]: _cell(name, row[name], keys) for name in shown}
                    cells["validation"] = _search_cell(searches, keys)
                    preset = f" ({row['preset']})" if len(ours) > 1 else ""
                    table.append(Row(label + preset, cells, names.dataset(dataset)))
                theirs = printed.hyperparameters(dataset, kind, model)
                if any(theirs.get(name) is not None for name in shown):
                    cells = {SHOWN[name]: _paper_cell(name, theirs.get(name)) for name in shown}
                    table.append(Row(f"{label}: paper", cells | {"validation": Cell("")}, names.dataset(dataset)))
    caption = (
        f"Hyperparameters found by our random search ({count_text(set(searches['count']))} trials each, ranked by "
        "validation accuracy alone), and those that the paper prints. Validation: mean accuracy in percent of the "
        "winning trial over the replicas (other seeds or splits) of round two. Splits drawn by another rule use the "
        "hyperparameters of the random splits."
    )
    columns = (*(SHOWN[name] for name in shown), "validation")
    notes = (*_own(found[found["split_kind"].isin(SEARCHED)], trials), *_tried(trials), *_repeated(trials))
    return Table("hyperparameters", "Hyperparameters", caption, "Model and splits", columns, tuple(table), notes)


def _own(found: pd.DataFrame, trials: Path | None) -> tuple[str, ...]:
    """The hyperparameters that only one model has, if they were searched."""
    searched = set() if trials is None else set(load_trials(trials).columns)
    words = []
    for _, row in found.iterrows():
        own = parse_own(row["own"])
        values = [f"{name.replace('_', ' ')} {value}" for name, value in own.items() if name in searched]
        if values:
            where = f"{names.model(row['model'])} on {names.dataset(row['dataset'])}, {row['split_kind']}"
            words.append(f"{where}: {', '.join(values)}")
    return (f"Further values found: {'; '.join(words)}.",) if words else ()


def _tried(trials: Path | None) -> tuple[str, ...]:
    """The smallest and largest value of each hyperparameter that the trials of each model had."""
    if trials is None:
        return ()
    rows = load_trials(trials)
    found: dict[str, list[str]] = {}  # models by what was tried for them
    for model in in_order(set(rows["model"]), names.MODELS):
        part = rows[rows["model"] == model]
        words = []
        for name in [*SHOWN, *(column for column in rows.columns if column not in (*SHOWN, *TRIAL_COLUMNS))]:
            values = part[name].dropna() if name in part.columns else part.iloc[:0]["model"]
            if len(values) and pd.api.types.is_numeric_dtype(values):
                label, low, high = SHOWN.get(name, name.replace("_", " ")), float(values.min()), float(values.max())
                words.append(f"{label} {_format(name, low)} to {_format(name, high)}")
            elif len(values):
                words.append(f"{name.replace('_', ' ')} {', '.join(sorted(set(values)))}")
        found.setdefault("; ".join(words), []).append(names.model(model))
    return tuple(f"Tried for {' and '.join(models)}: {words}." for words, models in found.items())


def _repeated(trials: Path | None) -> tuple[str, ...]:
    """Say that searches tried the same settings if they did, since equal winners would look like an error."""
    if trials is None:
        return ()
    rows = load_trials(trials)
    settings = [column for column in rows.columns if column not in TRIAL_COLUMNS]
    tried = rows.groupby(KEYS).apply(lambda part: part.sort_values("trial")[settings].to_csv(index=False))
    if not tried.duplicated().any():
        return ()
    return (
        "Searches with the same space of hyperparameters try the same settings, because all searches have the same "
        "seed; two of them may therefore have the same winner.",
    )


def _searches(trials: Path | None) -> pd.DataFrame:
    """Best mean of the last round, number of trials and of those that did not complete, for each search."""
    if trials is None:
        return pd.DataFrame(columns=[*KEYS, "best", "count", "failed"])
    rows = load_trials(trials)
    return rows.groupby(KEYS, as_index=False).agg(
        best=("mean", "max"),
        count=("objective", "size"),
        failed=("status", lambda status: int((status != "completed").sum())),
    )


def _search_cell(searches: pd.DataFrame, keys: dict[str, str]) -> Cell:
    chosen = searches
    for name, value in keys.items():
        chosen = chosen[chosen[name] == value]
    if chosen.empty:
        return Cell("–", missing="no search")
    row = chosen.iloc[0]
    under = (f"{row['failed']} of {row['count']} trials failed",) if row["failed"] else ()
    numbers = {"value": float(row["best"]), "n": float(row["count"])}
    return Cell(f"{row['best']:.1f}", under, numbers=numbers, file="trials", where=keys)


def _cell(name: str, value: float, keys: dict[str, str]) -> Cell:
    if pd.isna(value):
        return Cell("")
    where = {**keys, "hyperparameter_source": "search"}
    return Cell(_format(name, float(value)), numbers={"value": float(value)}, file="runs", where=where)


def _paper_cell(name: str, value: float | None) -> Cell:
    return Cell("") if value is None else Cell(_format(name, value), numbers={"paper": float(value)})


def _format(name: str, value: float) -> str:
    if name in ("lr", "weight_decay"):
        return f"{value:.2e}".replace("e-0", "e-").replace("e+00", "").replace("-", "−")
    if name == "hidden":
        return f"{value:.0f}"
    return f"{value:.1f}" if name == "t1" else f"{value:.3g}"
