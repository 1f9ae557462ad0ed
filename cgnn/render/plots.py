"""Helpers that figures share: runs as dots with mean and interval, labels at the ends of lines, empty panels."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cgnn.analysis.rows import finished, sample
from cgnn.render.style import INK, PAGE, Look

LABEL_SIZE = 7.0  # points: of the labels at the ends of lines
#: How the models of recorded.npz were trained; the file does not say it (``curves`` in config.yaml).
RECORDED = "trained on the fixed split with preset released and published hyperparameters"


def panels(rows: int, columns: int, height: float) -> tuple[Figure, np.ndarray]:
    """A grid of panels, each row ``height`` inches."""
    rows, columns = max(rows, 1), max(columns, 1)
    return plt.subplots(rows, columns, figsize=(PAGE, height * rows + 0.3), squeeze=False)


def say_empty(figure: Figure, axes: Axes, why: str) -> None:
    """Show a message instead of empty axes in a figure without data."""
    for panel in figure.axes:
        panel.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", transform=axes.transAxes, wrap=True)


def runs_mean_interval(
    axes: Axes, rows: pd.DataFrame, axis: str, style: Look, line: str = "-"
) -> tuple[list[float], list[float]]:
    """Accuracies as dots, their mean as a line, its 95 % interval as a band; returns places and means."""
    rows = finished(rows)
    places, means, lows, highs = [], [], [], []
    for value, group in rows.groupby(axis, sort=True):
        summary = sample(group)
        low, high = summary.interval()
        places.append(float(str(value)))
        means.append(summary.mean)
        lows.append(low if summary.n > 1 else summary.mean)
        highs.append(high if summary.n > 1 else summary.mean)
    # Limits of accuracies outside 0 to 100 would only stretch the axis.
    axes.fill_between(places, np.clip(lows, 0, 100), np.clip(highs, 0, 100), color=style.color, alpha=0.15, linewidth=0)
    axes.plot(rows[axis], rows["test_accuracy"], ".", color=style.color, markersize=2.5, alpha=0.55, markeredgewidth=0)
    axes.plot(places, means, line, color=style.color, marker=style.marker, markersize=3.5)
    return places, means


def label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Labels of lines (x and y of the end, text, colour of the line) next to the panel, moved apart if they overlap.

    The text has the colour of all text, because light line colours are hard to read. Call it when the limits of the
    axes are final.
    """
    if not ends:
        return
    box = axes.get_position()
    points = box.height * axes.figure.get_figheight() * 72  # type: ignore[union-attr]
    step = 1.25 * LABEL_SIZE / points
    to_fraction = axes.transScale + axes.transLimits
    wanted = sorted((float(to_fraction.transform((x, y))[1]), x, y, text, color) for x, y, text, color in ends)
    places = _apart([min(max(item[0], 0.0), 1.0) for item in wanted], step)
    for place, (_, x, y, text, color) in zip(places, wanted, strict=True):
        axes.annotate(
            text,
            xy=(x, y),
            xytext=(1.05, place),
            textcoords="axes fraction",
            fontsize=LABEL_SIZE,
            color=INK,
            va="center",
            ha="left",
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.4,
                "relpos": (0, 0.5),  # from the left edge, so that a line to a moved label does not cross another label
                "shrinkA": 0,
                "shrinkB": 3,
                "alpha": 0.7,
            },
            annotation_clip=False,
        )


def _apart(wanted: list[float], step: float) -> list[float]:
    """Ascending places at least ``step`` apart, as near as possible to the wanted ones."""
    # Least squares under minimal gaps: pool neighbours that overlap and centre each pool on its mean.
    pools: list[list[float]] = []
    for value in wanted:
        pools.append([value])
        while len(pools) > 1 and _start(pools[-2], step) + step * len(pools[-2]) > _start(pools[-1], step):
            pools[-2:] = [pools[-2] + pools[-1]]
    return [_start(pool, step) + step * i for pool in pools for i in range(len(pool))]


def _start(pool: list[float], step: float) -> float:
    return float(np.mean(pool)) - step * (len(pool) - 1) / 2


def list_words(items: Sequence[str]) -> str:
    """``A, B and C``"""
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)
