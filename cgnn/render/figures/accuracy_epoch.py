"""Accuracy by epoch, and the epoch that the selection rule takes."""

from pathlib import Path

import numpy as np
import pandas as pd

from cgnn.analysis.claims.base import signed
from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.plots import RECORDED, label_ends, panels, say_empty
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
            item, style = files[dataset, model], look(model, position)
            test = by_epoch(item, item.test_accuracy)
            smooth = test.rolling(SMOOTHING, center=True, min_periods=1).mean()
            mean = smooth.mean(axis=1)
            axes.plot(smooth.index, mean, color=style.color)
            low, high = smooth.min(axis=1), smooth.max(axis=1)
            axes.fill_between(smooth.index, low, high, color=style.color, alpha=0.13, linewidth=0)
            chosen = selected(by_epoch(item, item.validation_accuracy), test)
            axes.plot(chosen.index, chosen, style.marker, color=style.color, markersize=4.5, markeredgewidth=0)
            ends.append((float(mean.index[-1]), float(mean.iloc[-1]), names.model(model), style.color))
            late = smooth[smooth.index >= CLIMB * smooth.index.max()]
            seen += [float(late.min().min()), float(smooth.max().max()), *chosen.tolist()]
            losses.append(float(chosen.mean() - test.iloc[-1].mean()))
        margin = 0.04 * (max(seen) - min(seen))
        axes.set_ylim(min(seen) - margin, max(seen) + margin)
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
        f"epochs, where accuracy rises from chance level. All models are {RECORDED}."
    )
    alt = "Line chart of test accuracy over epochs with the selected epochs marked."
    return Drawing(figure, "Accuracy by epoch", caption, alt, empty=not datasets)


def by_epoch(recorded: Recorded, curve: np.ndarray) -> pd.DataFrame:
    """A curve with one row per epoch, counted from 1, and one column per replica."""
    return pd.DataFrame(curve.T, index=np.arange(1, curve.shape[1] + 1), columns=recorded.replica)


def selected(validation: pd.DataFrame, test: pd.DataFrame) -> pd.Series:
    """For each replica, the test accuracy at the first epoch of its highest validation accuracy, by that epoch."""
    epochs = validation.idxmax()
    return pd.Series(test.to_numpy()[epochs - 1, np.arange(len(epochs))], index=epochs)
