"""The speed table of ``make bench``."""

from pathlib import Path
from typing import Any

from cgnn.analysis import names
from cgnn.analysis.measured import bench_name, load_bench
from cgnn.analysis.rows import in_order
from cgnn.render.cells import short
from cgnn.render.table import Cell, Row, Table

RECIPES = {"released": "released recipe", "exact": "exact solver", "adjoint": "dopri5 with adjoint", "dopri5": "dopri5", "rk4": "rk4"}


def build(bench: Path | None = None) -> Table:
    """Milliseconds of an epoch by dataset; under it how much faster than the released recipe, and GCN's multiple."""
    rows = [row for row in load_bench(bench) if row.get("ms_per_epoch") is not None]
    datasets = in_order({str(row.get("dataset")) for row in rows}, names.DATASETS)
    by_key = {(bench_name(row), str(row.get("dataset"))): row for row in rows}
    methods = list(dict.fromkeys(bench_name(row) for row in rows))
    table = []
    for method in methods:
        first = next(row for (name, _), row in by_key.items() if name == method)
        cells = {
            names.dataset(dataset): _cell(by_key, method, dataset) for dataset in datasets if (method, dataset) in by_key
        }
        table.append(Row(_label(first), cells))
    caption = (
        "Milliseconds of one whole epoch (training step, validation and test accuracy), one replica, median of several "
        "repeats, all measured in one run side by side; under it the factor to the released recipe of the same model and to "
        "GCN."
    )
    if not rows:
        caption = "Not measured: `make bench` has not been run, so there is no number to show."
    columns = tuple(names.dataset(item) for item in datasets)
    return Table("speed", "Speed of one epoch", caption, "Model and solver", columns, tuple(table))


def _label(row: dict[str, Any]) -> str:
    model = names.model(str(row.get("model") or row.get("name")))
    recipe = str(row.get("recipe") or row.get("solver") or "")
    return f"{model}, {RECIPES.get(recipe, recipe)}" if recipe else model


def _cell(by_key: dict[tuple[str, str], dict[str, Any]], method: str, dataset: str) -> Cell:
    row = by_key[method, dataset]
    milliseconds = float(row["ms_per_epoch"])
    under = []
    model = str(row.get("model") or row.get("name"))
    released, gcn = by_key.get((f"{model}_released", dataset)), by_key.get(("gcn", dataset))
    if released is not None and released is not row:
        under.append(f"{short(float(released['ms_per_epoch']) / milliseconds)}× faster than released")
    if gcn is not None and gcn is not row:
        under.append(f"{short(milliseconds / float(gcn['ms_per_epoch']))}× GCN")
    if row.get("floor_ms"):
        under.append(f"{short(milliseconds / float(row['floor_ms']))}× its sparse products")
    return Cell(short(milliseconds), tuple(under), numbers={"value": milliseconds})
