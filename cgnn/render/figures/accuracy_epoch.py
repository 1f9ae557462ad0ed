"""Accuracy by epoch, and the epoch that the selection rule takes."""

from pathlib import Path

import numpy as np
import pandas as pd

from cgnn.analysis.claims.base import signed
from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.plots import label_ends, panels, say_empty
from cgnn.render.style import Drawing, look
from cgnn.results.recorded import Recorded, read_recorded

SMOOTHING = 15  # epochs of the running mean
CLIMB = 0.25  # share of the epochs that sets no axis limits, since the initial climb would flatten the rest


def draw(recorded: Path) -> Drawing:
    """One panel per dataset: smoothed mean and range over seeds, a dot where each seed was selected."""
    files = {(item.dataset, item.model): item for item in read_recorded(recorded)}
    datasets = in_order({dataset for dataset, _ in files}, names.DATASETS)
    figure, grid = panels(len(datasets), 1, 2.2)
    losses: list[float] = []
    for axes, dataset in zip(grid[:, 0], datasets, strict=False):
        ends, seen = [], []
        for position, model in enumerate(in_order({m for d, m in files if d == dataset}, names.MODELS)):
            rows = curves_of(files[dataset, model])
            style = look(model, position)
            wide = rows.pivot(index="epoch", columns="replica", values="test_accuracy")
            smooth = wide.rolling(SMOOTHING, center=True, min_periods=1).mean()
            mean = smooth.mean(axis=1)
            axes.plot(smooth.index, mean, color=style.color)
            low, high = smooth.min(axis=1), smooth.max(axis=1)
            axes.fill_between(smooth.index, low, high, color=style.color, alpha=0.13, linewidth=0)
            chosen = selected_epochs(rows)
            places = chosen["epoch"], chosen["test_accuracy"]
            axes.plot(*places, style.marker, color=style.color, markersize=4.5, markeredgewidth=0)
            ends.append((float(mean.index[-1]), float(mean.iloc[-1]), names.model(model), style.color))
            late = smooth[smooth.index >= CLIMB * smooth.index.max()]
            seen += [float(late.min().min()), float(smooth.max().max()), *chosen["test_accuracy"].tolist()]
            losses.append(float(chosen["test_accuracy"].mean() - wide.iloc[-1].mean()))
        axes.set_ylim(min(seen) - 1.0, max(seen) + 0.5)
        axes.set_title(names.dataset(dataset))
        axes.set_ylabel("test accuracy (%)")
        label_ends(axes, ends)
    if datasets:
        grid[-1, 0].set_xlabel("epoch")
    else:
        say_empty(figure, grid[0, 0], "no curves were saved")
    finding = "No curves were saved."
    if losses:
        finding = (
            "Reporting the epoch of best validation accuracy instead of the last one changes the mean accuracy of a "
            f"model by {signed(min(losses))} to {signed(max(losses))} points."
        )
    caption = (
        f"{finding} Lines are means over seeds, smoothed over {SMOOTHING} epochs; bands are the range over seeds; "
        "markers show each seed at the first epoch of its best validation accuracy. The axis leaves out the first "
        "epochs, where accuracy rises from chance level."
    )
    alt = "Line chart of test accuracy over epochs with the selected epochs marked."
    return Drawing(figure, "Accuracy by epoch", caption, alt)


def curves_of(recorded: Recorded) -> pd.DataFrame:
    """One row per replica and epoch; epochs count from 1."""
    epochs = recorded.test_accuracy.shape[1]
    return pd.DataFrame(
        {
            "replica": np.repeat(recorded.replica, epochs),
            "epoch": np.tile(np.arange(1, epochs + 1), len(recorded.replica)),
            "validation_accuracy": recorded.validation_accuracy.ravel(),
            "test_accuracy": recorded.test_accuracy.ravel(),
        }
    )


def selected_epochs(rows: pd.DataFrame) -> pd.DataFrame:
    """For each replica, the first row with the highest validation accuracy."""
    ordered = rows.sort_values(["replica", "epoch"])
    return ordered.loc[ordered.groupby("replica")["validation_accuracy"].idxmax()]
