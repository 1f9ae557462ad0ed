"""The speed table of ``make bench``."""

from pathlib import Path

from cgnn.analysis.measured import bench_label, bench_name, load_bench, most_threads
from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.cells import short
from cgnn.render.table import Cell, Row, Table


def build(bench: Path | None = None) -> Table:
    """Milliseconds per epoch by dataset, and as a multiple of an epoch of PyG's GCN."""
    rows = load_bench(bench)
    threads = max((int(row.get("threads", 1)) for row in rows), default=1)
    rows = most_threads(rows)
    datasets = in_order({str(row.get("dataset")) for row in rows}, names.DATASETS)
    by_key = {(bench_name(row), str(row.get("dataset"))): row for row in rows}
    table = []
    for method in dict.fromkeys(bench_name(row) for row in rows):
        cells: dict[str, Cell] = {}
        found = {dataset: by_key[method, dataset] for dataset in datasets if (method, dataset) in by_key}
        for dataset, row in found.items():
            milliseconds, gcn = float(row["ms_per_epoch"]), by_key.get(("gcn", dataset))
            ratio = milliseconds / float(gcn["ms_per_epoch"]) if gcn else float("nan")
            numbers = {"value": milliseconds, "n": len(row.get("ms") or [0])}
            cells[f"{names.dataset(dataset)}, ms"] = Cell(short(milliseconds), numbers=numbers)
            cells[f"{names.dataset(dataset)}, × GCN"] = Cell(short(ratio), numbers={"value": ratio})
        table.append(Row(bench_label(method), cells))
    columns = tuple(f"{names.dataset(item)}, {side}" for item in datasets for side in ("ms", "× GCN"))
    caption = (
        "Milliseconds per epoch (one training step and one evaluation), median of several repeats with "
        f"{threads} thread{'s' if threads > 1 else ''}, all methods timed in turn; and the ratio to PyG's GCN with "
        "dense features, as in PyG's examples."
    )
    if not rows:
        caption = "Not measured: run `make bench` first."
    return Table("speed", "Speed per epoch", caption, "Model and solver", columns, tuple(table))
