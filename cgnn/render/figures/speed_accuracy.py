"""Speed against accuracy: what an epoch costs and what the model reaches."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter

from cgnn.analysis.measured import bench_name, load_bench, load_profiles, most_threads
from cgnn.analysis.rows import OK, choose_protocol, in_order, load_rows, sample
from cgnn.models import names
from cgnn.render.cells import short
from cgnn.render.panels import legend_below, say_empty, stacked
from cgnn.render.style import Drawing, look


def draw(runs: Path, profiles: Path, bench: Path | None = None) -> Drawing:
    """A panel a dataset: median milliseconds of an epoch, mean accuracy on the fixed split with its interval."""
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
    figure, panels = stacked(len(datasets), 1.9)
    sentences = []
    for axes, dataset in zip(panels, datasets, strict=False):
        times = _profiled(dataset, timed, rows) if profiled else _benched(dataset, benched)
        for position, (method, (model, middle)) in enumerate(times.items()):
            reached = sample(rows[(rows["dataset"] == dataset) & (rows["model"] == model)])
            if reached.n == 0:
                continue
            low, high = reached.interval()
            style = look(method, position)
            axes.errorbar(
                [middle],
                [reached.mean],
                yerr=[[reached.mean - low], [high - reached.mean]] if reached.n > 1 else None,
                color=style.color,
                marker=style.marker,
                markersize=6,
                linestyle="none",
                label=names.method(method),
                markeredgecolor="black",
                markeredgewidth=0.4,
            )
            if method in ("gcn", "cgnn_exact", "cgnn_adjoint", "cgnn_released"):
                sentences.append(
                    f"{names.dataset(dataset)}, {names.method(method)} {short(middle)} ms, {reached.mean:.1f} %"
                )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_title(names.dataset(dataset), loc="left")
        axes.set_ylabel("test accuracy (%)")
    if datasets:
        panels[-1].set_xlabel("milliseconds of an epoch")
        legend_below(figure, panels, columns=2)
    else:
        say_empty(panels[0], "no dataset was both trained and timed")
    caption = (
        f"What an epoch costs and what the model reaches on the fixed split (preset {protocol.preset}, "
        f"{protocol.source} "
        f"hyperparameters), 95 % intervals. The solvers of CGNN share its accuracy. {'; '.join(sentences)}."
    )
    return Drawing(
        figure, "Speed against accuracy", caption, "Scatter chart of test accuracy over milliseconds of an epoch."
    )


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
