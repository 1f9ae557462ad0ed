"""The running time in the appendix: seconds per epoch on Cora, and as a multiple of a GCN epoch."""

from pathlib import Path

import numpy as np

from cgnn.analysis.measured import (
    GCNS,
    bench_name,
    bench_seconds,
    load_bench,
    load_profiles,
    most_threads,
    nearest,
    seconds_list,
)
from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.paper.reported import Reported, load_reported
from cgnn.render.cells import short
from cgnn.render.table import Cell, Row, Table

#: The paper's three models, with the solvers that are relevant to its table.
METHODS = (
    *("gcn", "cgnn_released", "cgnn_dopri5", "cgnn_adjoint", "cgnn_exact"),
    *("cgnn_weight_released", "cgnn_weight_dopri5", "cgnn_weight_adjoint", "cgnn_weight_exact"),
)
Timed = tuple[list[float], dict[str, object]]  # seconds per epoch, and the keys of the row in profiles.csv


def build(profiles: Path, reported: Path, bench: Path | None = None) -> Table:
    """Use the benchmark, which times all methods side by side, if it was run; otherwise the profiles."""
    printed = load_reported(reported)
    profiled = _profiled(profiles, printed)
    # The benchmark always measures Cora; results without Cora have no use for it.
    benched = most_threads([row for row in load_bench(bench) if row.get("dataset") == "cora" and profiled])
    found: dict[str, Timed] = {
        bench_name(row): (bench_seconds(benched, "cora", bench_name(row)), {}) for row in benched
    }
    source, gcn = ("the benchmark", GCNS["gcn"]) if found else ("the profiles", GCNS["gcn_ours"])
    found = found or profiled
    base = float(np.median(found["gcn"][0])) if "gcn" in found else float("nan")
    shown = [method for method in METHODS if method in found]
    # The paper timed each model with one general solver, so its number is shown next to the first of ours.
    beside = {_model(method): method for method in reversed(shown) if not method.endswith("_exact")}
    table = [_row(method, *found[method], base, printed if method in beside.values() else None) for method in shown]
    caption = (
        f"Seconds per epoch on Cora (median, from {source}), and the ratio to an epoch of {gcn}. The paper measured "
        "on a GTX 960M and does not say which implementation of GCN, so the times cannot be compared, and the ratios "
        "only roughly. The released recipe is dopri5 with the tolerances, the doubled state and the dense features of "
        "the authors' code."
    )
    columns = ("ours, seconds", "ours, times GCN", "paper, seconds", "paper, times GCN")
    return Table("running_time", "Running time per epoch on Cora", caption, "Method", columns, tuple(table))


def _profiled(profiles: Path, printed: Reported) -> dict[str, Timed]:
    """The profiled point nearest to the published ending time."""
    timed = load_profiles(profiles)
    timed = timed[(timed["dataset"] == "cora") & (timed["status"] == "ok")]
    found: dict[str, Timed] = {}
    for method in in_order(set(timed["method"]), METHODS):
        points = timed[timed["method"] == method]
        aim = printed.hyperparameters("cora", "fixed", str(points["model"].iloc[0])).get("t1") or 2.0
        point = nearest(points, float(aim))
        where = {"dataset": "cora", "method": method, "value": float(point["value"])}
        found[method] = (seconds_list(point), where)
    return found


def _model(method: str) -> str:
    return "cgnn_weight" if method.startswith("cgnn_weight") else method.partition("_")[0]


def _row(method: str, seconds: list[float], where: dict[str, object], base: float, printed: Reported | None) -> Row:
    median = float(np.median(seconds))
    file = "profiles" if where else ""
    numbers = {"value": median, "n": len(seconds)}
    cells = {
        "ours, seconds": Cell(short(median), numbers=numbers, file=file, where=where),
        "ours, times GCN": Cell(short(median / base), numbers={"value": median / base}, file=file, where=where),
        "paper, seconds": Cell(""),
        "paper, times GCN": Cell(""),
    }
    paper = printed.seconds_per_epoch(_model(method)) if printed else None
    gcn = printed.seconds_per_epoch("gcn") if printed else None
    if paper and gcn:
        cells["paper, seconds"] = Cell(f"{paper:g}", numbers={"paper": paper})
        cells["paper, times GCN"] = Cell(short(paper / gcn), numbers={"paper": paper / gcn})
    return Row(names.method(method), cells)
