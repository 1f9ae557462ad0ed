"""What several figures share: panels for datasets, series with error bars, empty panels that say why."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from cgnn.analysis.rows import sample
from cgnn.render.style import COLUMN, Look


def stacked(count: int, height: float = 2.0, width: float = COLUMN) -> tuple[Figure, list[Axes]]:
    """One panel a dataset, under each other, as in the paper."""
    figure, axes = plt.subplots(max(count, 1), 1, figsize=(width, height * max(count, 1) + 0.35), squeeze=False)
    return figure, list(axes[:, 0])


def say_empty(axes: Axes, why: str) -> None:
    """A panel without data says so instead of showing axes that mean nothing."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", transform=axes.transAxes, wrap=True)


def mean_and_error(rows: pd.DataFrame, axis: str) -> tuple[list[float], list[float], list[float]]:
    """Values of the axis, means, and half-widths of the 95 % intervals (0 where there is one run)."""
    places, means, halves = [], [], []
    for value, group in rows.groupby(axis, sort=True):
        summary = sample(group)
        if summary.n == 0:
            continue
        low, high = summary.interval()
        places.append(float(str(value)))
        means.append(summary.mean)
        halves.append((high - low) / 2 if summary.n > 1 else 0.0)
    return places, means, halves


def series(
    axes: Axes, x: Sequence[float], y: Sequence[float], error: Sequence[float] | None, style: Look, label: str
) -> None:
    """A line with markers and, if given, error bars."""
    axes.errorbar(
        x,
        y,
        yerr=error,
        label=label,
        color=style.color,
        marker=style.marker,
        linestyle=style.dashes,
        markeredgecolor="white",
        markeredgewidth=0.4,
        elinewidth=0.8,
        clip_on=True,
    )


def log_ticks(axes: Axes, values: Sequence[float], wanted: Sequence[float] = (1, 2, 4, 8, 16, 32, 50, 64, 100)) -> None:
    """A logarithmic x axis labelled with plain numbers."""
    axes.set_xscale("log", base=2)
    inside = [tick for tick in wanted if min(values) <= tick <= max(values)] if len(values) else list(wanted)
    kept: list[float] = []
    for tick in inside:
        if not kept or tick / kept[-1] >= 1.5:
            kept.append(tick)
    axes.xaxis.set_major_locator(FixedLocator(kept))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def plain_log_y(axes: Axes) -> None:
    """A logarithmic y axis labelled 1, 2, 5, 10, … in plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def legend_below(figure: Figure, axes: Sequence[Axes], columns: int = 2) -> None:
    """One legend for all panels, in the order of first appearance, under the lowest."""
    entries: dict[str, Artist] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        # Two of the longest labels with their handles have to fit beside each other.
        columns = columns if max(map(len, entries)) <= 24 else 1
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns)
