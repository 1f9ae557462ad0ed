"""A comparison in which only the propagation differs: the ODE, its Euler steps and APPNP's steps."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import Protocol, cell, compare, in_order, load_rows
from cgnn.analysis.summary import CELL as SUMMARY_CELL
from cgnn.analysis.summary import cell_record
from cgnn.models import names
from cgnn.models.records import RECORDS
from cgnn.paper.fidelity import PRESETS
from cgnn.render.cells import accuracy_cell, change_cell, runs_text
from cgnn.render.table import Cell, Row, Table

CONTINUOUS, RESTART = "cgnn", "cgnn_appnp"
LABELS = {
    CONTINUOUS: "continuous: the ODE up to t₁",
    "cgnn_discrete": "discrete: unit Euler steps of the ODE",
    RESTART: "discrete: APPNP's steps",
}
#: Switches in which the compared runs may differ from the preset; that of the features depends on the dataset.
FREE = ("source_gradient", "features")
RESTART_NOTE = (
    " APPNP's steps are only run with the gradient through E, because without it their encoder learned nothing in a "
    "pilot run. They weigh the neighbours by CGNN's learned α and H(0) by 1 − α, where APPNP itself has 0.1."
)
GRADIENTS = {"cut": "gradient through E cut, as released", "flows": "gradient through E"}


def build(runs: Path) -> Table:
    """One block per split kind and gradient; one row per propagation, with its difference from the continuous model."""
    rows = Protocol("published", "released").of(load_rows(runs))
    table: list[Row] = []
    found: set[str] = set()
    counts: list[tuple[str, int]] = []
    for kind in ("fixed", "random"):
        for gradient, words in GRADIENTS.items():
            part = like_for_like(rows[rows["split_kind"] == kind], gradient)
            found |= set(part["dataset"])
            counts += [(kind, len(held)) for _, held in part.groupby(["dataset", "model"])]
            for model in in_order(set(part["model"]), LABELS):
                table.append(_row(part, model, f"{kind.capitalize()} splits, {words}"))
    columns = [f"{names.dataset(item)}, {side}" for item in in_order(found, names.DATASETS) for side in ("ours", "Δ")]
    restart = RESTART_NOTE if any(row.label == LABELS[RESTART] for row in table) else ""
    caption = (
        "Propagation schemes with the same encoder, decoder, training and hyperparameters (those that the paper "
        f"prints for CGNN): test accuracy in percent, mean ± standard deviation over {runs_text(counts)}, and Δ, the "
        "difference from the continuous model with its 95 % interval (paired by split on random splits, Welch on fixed "
        f"ones). There are t₁ steps, rounded.{restart}"
    )
    title = "Continuous and discrete propagation, like for like"
    return Table("propagation", title, caption, "Propagation", tuple(columns), tuple(table))


def like_for_like(rows: pd.DataFrame, gradient: str) -> pd.DataFrame:
    """The continuous model's rows with this switch of the gradient, and those of the other models that have the same
    hyperparameters, one variant per model; none of a dataset on which nothing can be compared."""
    shared = [name for name in RECORDS[CONTINUOUS].hyperparameters if name in rows.columns]
    plain = pd.Series(True, index=rows.index)
    for name, value in asdict(PRESETS["released"]).items():
        if name not in FREE:
            plain &= rows[f"sw_{name}"] == value
    # The gradient always flows through APPNP's steps, whatever the switch.
    restart = (rows["model"] == RESTART) & (gradient == "flows")
    fitting = rows[restart | (plain & (rows["sw_source_gradient"] == gradient) & (rows["model"] != RESTART))]
    parts = [rows.iloc[:0]]
    for _, part in fitting.groupby("dataset"):
        base = _first_variant(part[part["model"] == CONTINUOUS])
        if base.empty:
            continue
        same = part[(part[shared] == base[shared].iloc[0]).all(axis=1)]
        others = [_first_variant(same[same["model"] == model]) for model in LABELS if model != CONTINUOUS]
        parts += [base, *others] if any(len(other) for other in others) else []
    return pd.concat(parts)


def _first_variant(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["variant"] == rows["variant"].min()] if len(rows) else rows


def _row(rows: pd.DataFrame, model: str, group: str) -> Row:
    cells: dict[str, Cell] = {}
    for dataset in in_order(set(rows["dataset"]), names.DATASETS):
        chosen, base = (cell(rows, dataset=dataset, model=name) for name in (model, CONTINUOUS))
        where = {name: str(chosen[name].iloc[0]) for name in SUMMARY_CELL} if len(chosen) else {}
        record = cell_record(chosen, None) if len(chosen) else None
        cells[f"{names.dataset(dataset)}, ours"] = accuracy_cell(record, file="runs", where=where)
        differs = model != CONTINUOUS and len(chosen)
        cells[f"{names.dataset(dataset)}, Δ"] = change_cell(compare(chosen, base)) if differs else Cell("")
    return Row(LABELS[model], cells, group)
