"""Speed and accuracy: the time per epoch of every method, and the accuracy of its model."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cgnn.analysis.measured import GENERAL, bench_label, bench_name, load_bench, load_profiles, most_threads, nearest
from cgnn.analysis.rows import OK, choose_protocol, in_order, load_rows, sample
from cgnn.models import names
from cgnn.render.accuracy_table import SOURCES
from cgnn.render.cells import count_text, short
from cgnn.render.plots import list_words, panels, say_empty
from cgnn.render.style import PAGE, Drawing, look

Times = dict[str, tuple[str, float]]  # by method: its model, and milliseconds per epoch


def draw(runs: Path, profiles: Path, bench: Path | None = None) -> Drawing:
    """One column per dataset: the time of each method at the top, the accuracy of each model below.

    Every method and every model has a separate line, so that no marker hides another.
    """
    rows = load_rows(runs)
    rows = rows[(rows["split_kind"] == "fixed") & (rows["variant"] == "")]
    protocol = choose_protocol(rows)
    rows = protocol.of(rows)
    # All panels use one source, because times from different measurements must not be mixed in one figure.
    benched, timed = load_bench(bench), load_profiles(profiles)
    measured = {str(row.get("dataset")) for row in benched} if benched else set(timed["dataset"])
    datasets = in_order(set(rows["dataset"]) & measured, names.DATASETS)
    times = {name: _benched(name, benched) if benched else _profiled(name, timed, rows) for name in datasets}
    methods: Times = {}
    for by_method in times.values():
        methods |= {method: known for method, known in by_method.items() if method not in methods}
    order = sorted(methods, key=lambda method: methods[method][1], reverse=True)
    models = in_order({model for model, _ in methods.values()}, names.MODELS)[::-1]
    caption = "No dataset was both trained and timed."
    if datasets:
        heights = [0.14 * len(order), 0.14 * len(models)]
        figure, grid = plt.subplots(
            2, len(datasets), figsize=(PAGE, sum(heights) + 1.25), height_ratios=heights, squeeze=False
        )
        for column, dataset in enumerate(datasets):
            _times(grid[0, column], order, times[dataset])
            grid[0, column].set_title(names.dataset(dataset))
            _accuracies(grid[1, column], models, rows[rows["dataset"] == dataset])
        name_of = bench_label if benched else names.method
        _label(grid[0], [name_of(method) for method in order], "milliseconds per epoch")
        _label(grid[1], [names.model(model) for model in models], "test accuracy (%)")
        caption = (
            f"{_finding(times)} Above: median time per epoch, from {_measurement(benched, timed)}. {_labels(order)}"
            "Below: mean accuracy on the fixed split with its 95 % interval, which is the same for all solvers of a "
            f"model (preset {protocol.preset}, {SOURCES.get(protocol.source, protocol.source)})."
        )
    else:
        figure, grid = panels(1, 1, 1.5)
        say_empty(figure, grid[0, 0], "no dataset was both trained and timed")
    alt = "Dot plots per dataset: milliseconds per epoch of each method, and test accuracy of each model."
    return Drawing(figure, "Speed and accuracy", caption, alt, empty=not datasets)


def _measurement(benched: list[dict[str, Any]], timed: pd.DataFrame) -> str:
    """Where the times are from, and the number of threads."""
    source = "the benchmark" if benched else "the profiles"
    found = [row.get("threads") for row in most_threads(benched)] if benched else timed.get("threads", [])
    threads = {int(count) for count in found if count == count and count is not None}
    return f"{source} with {count_text(threads)} thread{'' if threads == {1} else 's'}" if threads else source


def _labels(order: list[str]) -> str:
    """What the names of the implementations of GCN and GAT mean."""
    words = {
        "_fused": "“ours” has fused sparse products",
        "_ours": "“our encoder” is PyG's layers behind this project's sparse first layer",
    }
    shown = [text for end, text in words.items() if any(method.endswith(end) for method in order)]
    return f"For GCN and GAT, {list_words(shown)}. " if shown else ""


def _times(axes: Axes, order: list[str], times: Times) -> None:
    for height, method in enumerate(order):
        if method in times:
            model, milliseconds = times[method]
            axes.plot([milliseconds], [height], look(method).marker, color=look(model).color, markersize=4)
            text, place = short(milliseconds), (milliseconds, height)
            axes.annotate(text, place, (5, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set_xscale("log")
    # The space on the right is for the label of the slowest method.
    axes.set_xlim(0.5 * min(t for _, t in times.values()), 25 * max(t for _, t in times.values()))
    axes.xaxis.set_major_locator(LogLocator(base=100))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _accuracies(axes: Axes, models: list[str], rows: pd.DataFrame) -> None:
    for height, model in enumerate(models):
        reached = sample(rows[rows["model"] == model])
        if reached.n:
            style = look(model)
            if reached.n > 1:
                axes.plot(reached.interval(), [height, height], color=style.color, linewidth=1.1)
            axes.plot([reached.mean], [height], style.marker, color=style.color, markersize=4)


def _label(row: np.ndarray, labels: list[str], what: str) -> None:
    for column, axes in enumerate(row):
        axes.set_yticks(range(len(labels)), labels if column == 0 else [""] * len(labels))
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(-0.6, len(labels) - 0.4)
        axes.set_xlabel(what)


def _finding(times: dict[str, Times]) -> str:
    faster, against = [], []
    for dataset, lines in times.items():
        general = next((method for method in GENERAL if method in lines), None)
        if general and "cgnn_exact" in lines:
            faster.append(f"{lines[general][1] / lines['cgnn_exact'][1]:,.0f} on {names.dataset(dataset)}")
        baselines = [time for model, time in lines.values() if model == "gcn"]
        if baselines and "cgnn_exact" in lines:
            against.append(f"{lines['cgnn_exact'][1] / min(baselines):.1f} ({names.dataset(dataset)})")
    if not faster:
        return "No general-purpose solver was timed together with the exact one."
    sentence = "An epoch of CGNN is faster with the exact solver than with a general-purpose one, by a factor of "
    sentence += list_words(faster)
    return sentence + (
        f". It takes {list_words(against)} times as long as an epoch of the fastest GCN." if against else "."
    )


def _profiled(dataset: str, timed: pd.DataFrame, rows: pd.DataFrame) -> Times:
    """Times from the profiles nearest to the trained settings."""
    found: Times = {}
    here = timed[(timed["dataset"] == dataset) & (timed["status"] == OK)]
    for method in in_order(set(here["method"]), names.METHODS):
        points = here[here["method"] == method]
        model, axis = str(points["model"].iloc[0]), str(points["axis"].iloc[0])
        trained = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
        aim = float(trained[axis].median()) if axis in trained.columns and trained[axis].notna().any() else 2.0
        found[method] = (model, 1000 * float(nearest(points, aim)["seconds_per_epoch"]))
    return found


def _benched(dataset: str, benched: list[dict[str, Any]]) -> Times:
    return {
        bench_name(row): (str(row["model"]), float(row["ms_per_epoch"]))
        for row in most_threads(benched)
        if row.get("dataset") == dataset and row.get("recipe") != "floor"
    }
