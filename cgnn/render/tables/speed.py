"""The speed table of ``make bench``."""

from pathlib import Path
from typing import Any

from cgnn.analysis.measured import bench_name, load_bench
from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.cells import short
from cgnn.render.table import Cell, Row, Table

RECIPES = {
    "released": "released recipe",
    "exact": "exact solver",
    "exact_recompute": "exact solver, recomputing",
    "dopri5_adjoint": "dopri5 with adjoint",
    "dopri5": "dopri5",
    "rk4": "rk4",
    "floor": "its bare sparse products alone",
    "pyg": "PyG, dense features",
    "pyg_sparse": "PyG, sparse features",
    "ours": "this project's input path",
    "fused": "fused sparse products",
}
Key = tuple[int, str, str]  # threads, method, dataset


def build(bench: Path | None = None) -> Table:
    """Milliseconds of an epoch by dataset; under it how much faster than the released recipe, and GCN's multiple."""
    rows = load_bench(bench)
    datasets = in_order({str(row.get("dataset")) for row in rows}, names.DATASETS)
    by_key: dict[Key, dict[str, Any]] = {(_threads(row), bench_name(row), str(row.get("dataset"))): row for row in rows}
    table = []
    for threads in sorted({_threads(row) for row in rows}, reverse=True):
        group = f"{threads} thread" + ("s" if threads > 1 else "")
        for method in dict.fromkeys(bench_name(row) for row in rows if _threads(row) == threads):
            found = {
                dataset: by_key[threads, method, dataset]
                for dataset in datasets
                if (threads, method, dataset) in by_key
            }
            cells = {names.dataset(dataset): _cell(by_key, row, threads, dataset) for dataset, row in found.items()}
            table.append(Row(_label(next(iter(found.values()))), cells, group))
    caption = (
        "Milliseconds of one whole epoch (training step, validation and test accuracy), one replica, median of several "
        "repeats, all measured in one run side by side; under it the factor to the released recipe of the same "
        "model, to GCN "
        "as PyG users run it, and to the bare sparse products of the epoch."
    )
    if not rows:
        caption = "Not measured: `make bench` has not been run, so there is no number to show."
    columns = tuple(names.dataset(item) for item in datasets)
    return Table("speed", "Speed of one epoch", caption, "Model and solver", columns, tuple(table))


def _threads(row: dict[str, Any]) -> int:
    return int(row.get("threads", 1))


def _label(row: dict[str, Any]) -> str:
    recipe = str(row.get("recipe") or "")
    model = names.model(str(row["model"]))
    return f"{model}, {RECIPES.get(recipe, recipe)}" if recipe else model


def _cell(by_key: dict[Key, dict[str, Any]], row: dict[str, Any], threads: int, dataset: str) -> Cell:
    milliseconds = float(row["ms_per_epoch"])
    model, recipe = str(row["model"]), row.get("recipe")
    numbers = {"value": milliseconds, "n": len(row.get("ms") or [0])}
    if recipe == "floor":
        return Cell(short(milliseconds), numbers=numbers)
    under = []
    released, gcn = by_key.get((threads, f"{model}_released", dataset)), by_key.get((threads, "gcn", dataset))
    if released is not None and released is not row:
        under.append(f"{short(float(released['ms_per_epoch']) / milliseconds)}× faster than released")
    if gcn is not None and gcn is not row:
        under.append(f"{short(milliseconds / float(gcn['ms_per_epoch']))}× GCN")
    floor = by_key.get((threads, f"{model}_floor", dataset))
    if floor is not None and recipe == "exact":
        under.append(f"{short(milliseconds / float(floor['ms_per_epoch']))}× its sparse products")
    return Cell(short(milliseconds), tuple(under), numbers=numbers)
