"""The paper's last table: residual GCN by depth."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import in_order, load_rows
from cgnn.models import names
from cgnn.paper.reported import load_reported
from cgnn.render.cells import accuracy_cell
from cgnn.render.table import Row, Table

DATASETS = ("cora", "citeseer", "pubmed")
LAYERS = (2, 4, 8, 16)


def build(runs: Path, reported: Path, sweeps: Path | None = None) -> Table:
    """Depths by dataset and split kind, from the main runs and the sweeps, whichever hold more of a cell."""
    printed = load_reported(reported)
    sources = {"runs": load_rows(runs)} | ({"sweeps": load_rows(sweeps)} if sweeps else {})
    frames = {name: frame[frame["model"] == "gcn_residual"] for name, frame in sources.items()}
    held = set().union(*(set(frame["dataset"]) for frame in frames.values()))
    datasets = in_order(held | set(DATASETS), names.DATASETS)
    columns = {
        (dataset, kind): f"{names.dataset(dataset)}, {kind}" for dataset in datasets for kind in ("random", "fixed")
    }
    table = []
    for layers in LAYERS:
        cells = {}
        for (dataset, kind), column in columns.items():
            file, rows = _best_source(frames, dataset, kind, layers)
            where: dict[str, object] = {
                "dataset": dataset,
                "split_kind": kind,
                "model": "gcn_residual",
                "layers": layers,
            }
            if len(rows):
                where |= {
                    "preset": rows["preset"].iloc[0],
                    "hyperparameter_source": rows["hyperparameter_source"].iloc[0],
                }
            cells[column] = accuracy_cell(rows, printed.residual(dataset, kind, layers), file=file, where=where)
        table.append(Row(f"{layers} layers", cells))
    caption = (
        "GCN with residual links by depth: test accuracy in percent, mean ± standard deviation (number of runs); "
        "under it "
        "the paper's value and ours minus the paper's with its 95 % interval (Welch)."
    )
    title = "Residual GCN and increasing depth"
    return Table("gcn_residual", title, caption, "Depth", tuple(columns.values()), tuple(table))


def _best_source(frames: dict[str, pd.DataFrame], dataset: str, kind: str, layers: int) -> tuple[str, pd.DataFrame]:
    """The largest group of rows under one protocol; rows of two protocols are never pooled."""
    found: list[tuple[str, pd.DataFrame]] = []
    for name, frame in frames.items():
        if frame.empty:
            continue
        chosen = frame[(frame["dataset"] == dataset) & (frame["split_kind"] == kind) & (frame["layers"] == layers)]
        for _, part in chosen.groupby(["preset", "hyperparameter_source", "variant"], sort=True):
            found.append((name, part))
    return max(found, key=lambda item: len(item[1]), default=("runs", next(iter(frames.values())).iloc[:0]))
