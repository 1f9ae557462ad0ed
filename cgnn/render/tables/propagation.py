"""A comparison that changes only the propagation: the ODE, its Euler steps and APPNP's steps."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import Protocol, cell, compare, in_order, load_rows
from cgnn.analysis.summary import cell_record
from cgnn.models import names
from cgnn.render.cells import accuracy_cell, change_cell, count_text
from cgnn.render.table import Cell, Row, Table

CONTINUOUS = "cgnn"
MODELS = {
    CONTINUOUS: "continuous: the ODE up to t₁",
    "cgnn_discrete": "discrete: unit Euler steps of the ODE",
    "cgnn_appnp": "discrete: APPNP's steps, with the gradient through E",
}
#: Without this model the runs contain only the comparison in Tables 2 and 3.
NEEDED = "cgnn_appnp"


def build(runs: Path, fidelity: Path) -> Table:
    """One block per split kind, and one in which all models have the gradient through E; one row per propagation, with
    its difference from the continuous model."""
    rows = Protocol("published", "released").of(load_rows(runs))
    rows = rows[(rows["variant"] == "") & rows["model"].isin(MODELS)]
    held = rows[rows["model"] == NEEDED]
    datasets = in_order(set(held["dataset"]), names.DATASETS)
    table = [
        _row(rows, model, label, kind, datasets)
        for kind in in_order(set(held["split_kind"]), ("fixed", "random"))
        for model, label in MODELS.items()
    ]
    flowing = with_gradient(rows, load_rows(fidelity)) if len(held) else held
    if CONTINUOUS in set(flowing["model"]):
        group = "Fixed splits, gradient through E in all three"
        table += [_row(flowing, model, label, "fixed", datasets, group) for model, label in MODELS.items()]
    counts = {len(part) for _, part in rows.groupby(["dataset", "split_kind", "model"])}
    caption = (
        "The same encoder, decoder, α, γ and training with three propagation schemes: test accuracy in percent, mean ± "
        f"standard deviation over {count_text(counts)} runs, and Δ, the difference from the continuous model with its "
        "95 % interval (paired by split on random splits, Welch on fixed ones). The released code cuts the gradient "
        "through E; APPNP's steps keep it, because without it their encoder learns nothing."
    )
    columns = tuple(f"{names.dataset(item)}, {side}" for item in datasets for side in ("ours", "Δ"))
    title = "Continuous and discrete propagation, like for like"
    return Table("propagation", title, caption, "Propagation", columns, tuple(table))


def with_gradient(rows: pd.DataFrame, fidelity: pd.DataFrame) -> pd.DataFrame:
    """The fixed-split rows of all models with the gradient through E: APPNP's as they are, the others from the rows of
    the fidelity file that differ in this switch alone."""
    fixed = rows[rows["split_kind"] == "fixed"]
    switches = [name for name in rows.columns if name.startswith("sw_") and name != "sw_source_gradient"]
    parts = [fixed[fixed["model"] == NEEDED]]
    for (dataset, model), part in fixed[fixed["model"] != NEEDED].groupby(["dataset", "model"]):
        same = (fidelity["dataset"] == dataset) & (fidelity["model"] == model)
        same &= fidelity["sw_source_gradient"] == "flows"
        for name in switches:
            same &= fidelity[name].astype(str) == str(part[name].iloc[0])
        parts.append(fidelity[same])
    return pd.concat(parts)


def _row(rows: pd.DataFrame, model: str, label: str, kind: str, datasets: list[str], group: str = "") -> Row:
    cells: dict[str, Cell] = {}
    for dataset in datasets:
        where = {"dataset": dataset, "split_kind": kind, "model": model}
        chosen = cell(rows, dataset=dataset, split_kind=kind, model=model)
        variant = str(chosen["variant"].iloc[0]) if len(chosen) else ""
        where |= {"preset": "released", "hyperparameter_source": "published", "variant": variant}
        record = cell_record(chosen, None) if len(chosen) else None
        cells[f"{names.dataset(dataset)}, ours"] = accuracy_cell(
            record, file="fidelity" if variant else "runs", where=where
        )
        base = cell(rows, dataset=dataset, split_kind=kind, model=CONTINUOUS)
        differs = model != CONTINUOUS and len(chosen) and len(base)
        cells[f"{names.dataset(dataset)}, Δ"] = change_cell(compare(chosen, base)) if differs else Cell("")
    return Row(label, cells, group or f"{kind.capitalize()} splits")
