"""Speed and accuracy: the time per epoch of every method beside what its model reaches."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter

from cgnn.analysis.measured import bench_name, load_bench, load_profiles, most_threads
from cgnn.analysis.rows import OK, choose_protocol, in_order, load_rows, sample
from cgnn.models import names
from cgnn.render.cells import short
from cgnn.render.plots import list_words, panels, say_empty
from cgnn.render.style import PAGE, Drawing, look

#: A solver that someone who follows the paper would use, the first that was timed.
GENERAL = ("cgnn_released", "cgnn_dopri5", "cgnn_adjoint")


def draw(runs: Path, profiles: Path, bench: Path | None = None) -> Drawing:
    """One row of panels per dataset and one line per method, so that no marker can hide another."""
    rows = load_rows(runs)
    rows = rows[rows["split_kind"] == "fixed"]
    protocol = choose_protocol(rows)
    rows = protocol.of(rows)
    timed = load_profiles(profiles)
    benched = load_bench(bench)
    # One source for all panels: times of two runs of a machine do not belong in one figure.
    profiled = not timed.empty
    measured = set(timed["dataset"]) if profiled else {row.get("dataset") for row in benched}
    datasets = in_order(set(rows["dataset"]) & measured, names.DATASETS)
    found = {}
    for dataset in datasets:
        times = _profiled(dataset, timed, rows) if profiled else _benched(dataset, benched)
        reached = {
            model: sample(rows[(rows["dataset"] == dataset) & (rows["model"] == model)]) for model, _ in times.values()
        }
        found[dataset] = {
            method: (milliseconds, reached[model])
            for method, (model, milliseconds) in times.items()
            if reached[model].n
        }
    most = max((len(lines) for lines in found.values()), default=8)
    figure, grid = panels(len(datasets), 2, 0.155 * most + 0.5, PAGE)
    for (left, right), (dataset, lines) in zip(grid, found.items(), strict=False):
        order = sorted(lines, key=lambda method: lines[method][0], reverse=True)
        for height, method in enumerate(order):
            milliseconds, reached_by = lines[method]
            style = look(method, height)
            left.plot([milliseconds], [height], style.marker, color=style.color, markersize=4.5)
            left.annotate(
                short(milliseconds), (milliseconds, height), (5, 0), textcoords="offset points", va="center", fontsize=7
            )
            low, high = reached_by.interval()
            if reached_by.n > 1:
                right.plot([low, high], [height, height], color=style.color, linewidth=1.1)
            right.plot([reached_by.mean], [height], style.marker, color=style.color, markersize=4.5)
        left.set_yticks(range(len(order)), [names.method(method) for method in order])
        right.set_yticks(range(len(order)), [""] * len(order))
        left.set_xscale("log")
        left.margins(x=0.12)
        left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        left.set_title(names.dataset(dataset))
        for axes in (left, right):
            axes.tick_params(axis="y", length=0)
            axes.set_ylim(-0.6, len(order) - 0.4)
    if datasets:
        grid[-1, 0].set_xlabel("milliseconds per epoch")
        grid[-1, 1].set_xlabel("test accuracy on the fixed split (%)")
    else:
        say_empty(figure, grid[0, 0], "no dataset was both trained and timed")
    caption = (
        f"{_finding(found)} Median time per epoch, and mean accuracy with its 95 % interval (preset {protocol.preset}, "
        f"hyperparameters: {protocol.source}). The solvers of a model compute the same function and share its accuracy."
    )
    alt = "Two aligned dot plots per dataset: milliseconds per epoch and test accuracy of each method."
    return Drawing(figure, "Speed and accuracy", caption, alt)


def _finding(found: dict[str, dict[str, tuple[float, Any]]]) -> str:
    faster, against = [], []
    for dataset, lines in found.items():
        general = next((method for method in GENERAL if method in lines), None)
        if general and "cgnn_exact" in lines:
            ratio = lines[general][0] / lines["cgnn_exact"][0]
            faster.append(f"{ratio:,.0f} times on {names.dataset(dataset)}")
        if "gcn" in lines and "cgnn_exact" in lines:
            against.append(f"{lines['cgnn_exact'][0] / lines['gcn'][0]:.2g} on {names.dataset(dataset)}")
    if not faster:
        return "No general solver was timed beside the exact one."
    sentence = f"An epoch of CGNN with the exact solver is faster than with a general one by {list_words(faster)}"
    return sentence + (f"; it takes {list_words(against)} times as long as an epoch of GCN." if against else ".")


def _profiled(dataset: str, timed: pd.DataFrame, rows: pd.DataFrame) -> dict[str, tuple[str, float]]:
    """Method: (model, median ms), from the profile nearest to what was trained."""
    found: dict[str, tuple[str, float]] = {}
    here = timed[(timed["dataset"] == dataset) & (timed["status"] == OK)]
    for method in in_order(set(here["method"]), names.METHODS):
        points = here[here["method"] == method]
        model, axis = str(points["model"].iloc[0]), str(points["axis"].iloc[0])
        trained = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
        aim = float(trained[axis].median()) if axis in trained.columns and trained[axis].notna().any() else 2.0
        nearest = points.iloc[int(np.argmin(np.abs(points["value"].to_numpy(dtype=float) - aim)))]
        found[method] = (model, 1000 * float(nearest["seconds_per_epoch"]))
    return found


def _benched(dataset: str, benched: list[dict[str, Any]]) -> dict[str, tuple[str, float]]:
    """The same from the benchmark."""
    return {
        bench_name(row): (str(row["model"]), float(row["ms_per_epoch"]))
        for row in most_threads(benched)
        if row.get("dataset") == dataset and row.get("recipe") != "floor"
    }
