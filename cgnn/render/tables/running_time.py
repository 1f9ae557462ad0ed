"""The appendix's running time: seconds by epoch on Cora, and how many GCN epochs that is."""

from pathlib import Path

import numpy as np

from cgnn.analysis.measured import bench_name, bench_seconds, load_bench, load_profiles, most_threads, seconds_list
from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.paper.reported import Reported, load_reported
from cgnn.render.cells import short
from cgnn.render.table import Cell, Row, Table


def build(profiles: Path, reported: Path, bench: Path | None = None) -> Table:
    """Methods by seconds and by multiples of GCN; what was timed where is in the row."""
    printed = load_reported(reported)
    timed = load_profiles(profiles)
    timed = timed[timed["dataset"] == "cora"]
    found: dict[str, tuple[list[float], str, dict[str, object]]] = {}
    for method in in_order(set(timed["method"]), names.METHODS):
        points = timed[(timed["method"] == method) & (timed["status"] == "ok")]
        if points.empty:
            continue
        model = str(points["model"].iloc[0])
        aim = printed.hyperparameters("cora", "fixed", model).get("t1") or 2.0
        nearest = points.iloc[int(np.argmin(np.abs(points["value"].to_numpy(dtype=float) - float(aim))))]
        axis = "t₁" if nearest["axis"] == "t1" else nearest["axis"]
        where = {"dataset": "cora", "method": method, "value": float(nearest["value"])}
        found[method] = (seconds_list(nearest), f"{axis} = {nearest['value']:g}", where)
    base = float(np.median(found["gcn"][0])) if "gcn" in found else float("nan")
    table = [_row(method, *content, base, printed, "Profiles") for method, content in found.items()]
    # Times of another run of the machine: they stand beside their own GCN.
    benched = most_threads(
        [row for row in load_bench(bench) if row.get("dataset") == "cora" and row.get("recipe") != "floor"]
    )
    base = float(np.median(bench_seconds(benched, "cora", "gcn") or [float("nan")]))
    for row in benched:
        seconds = bench_seconds(benched, "cora", bench_name(row))
        at = f"{row.get('threads', 1)} thread(s)"
        table.append(_row(bench_name(row), seconds, at, {}, base, printed, "Benchmark, side by side"))
    device = ", ".join(sorted({str(item) for item in timed.get("device", [])})) or "not run"
    threads = ", ".join(sorted({f"{item:g}" for item in timed.get("threads", [])})) or "–"
    caption = (
        f"Seconds of one epoch on Cora (median), and how many GCN epochs that is; device {device}, {threads} "
        "thread(s). The "
        "paper's values are from a GTX 960M, so only the ratios can be compared."
    )
    columns = ("seconds", "times GCN")
    return Table("running_time", "Running time by epoch on Cora", caption, "Method", columns, tuple(table))


def _row(
    method: str, seconds: list[float], at: str, where: dict[str, object], base: float, printed: Reported, group: str
) -> Row:
    median = float(np.median(seconds))
    model = "cgnn_weight" if method.startswith("cgnn_weight") else "cgnn" if method.startswith("cgnn_") else method
    if method == "cgnn_discrete":
        model = method
    paper, paper_gcn = printed.seconds_per_epoch(model), printed.seconds_per_epoch("gcn")
    under = (f"paper {paper:g}",) if paper else ()
    ratio_under = (f"paper {paper / paper_gcn:.1f}",) if paper and paper_gcn else ()
    ratio = median / base
    file = "profiles" if where else ""
    cells = {
        "seconds": Cell(
            short(median), under, numbers={"value": median, "n": len(seconds), "paper": paper}, file=file, where=where
        ),
        "times GCN": Cell(
            short(ratio),
            ratio_under,
            numbers={"value": ratio, "paper": paper / paper_gcn if paper and paper_gcn else None},
            file=file,
            where=where,
        ),
    }
    return Row(f"{names.method(method)} ({at})", cells, group)
