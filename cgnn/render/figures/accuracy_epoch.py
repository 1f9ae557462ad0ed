"""Accuracy by epoch, and the epoch that the selection rule takes."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.panels import legend_below, say_empty, stacked
from cgnn.render.style import Drawing, look


def draw(curves: list[Path]) -> Drawing:
    """A panel a dataset: mean test accuracy with the range of replicas, a marker where each replica was selected."""
    files = {(Path(path).parent.name, Path(path).stem): Path(path) for path in curves}
    datasets = in_order({dataset for dataset, _ in files}, names.DATASETS)
    figure, panels = stacked(len(datasets), 1.85)
    sentences = []
    for axes, dataset in zip(panels, datasets, strict=False):
        lowest = []
        for position, model in enumerate(in_order({m for d, m in files if d == dataset}, names.MODELS)):
            rows = pd.read_csv(files[dataset, model])
            style = look(model, position)
            wide = rows.pivot(index="epoch", columns="replica", values="test_accuracy")
            axes.plot(
                wide.index,
                wide.mean(axis=1),
                color=style.color,
                linestyle=style.dashes,
                label=names.model(model),
            )
            axes.fill_between(
                wide.index, wide.min(axis=1), wide.max(axis=1), color=style.color, alpha=0.15, linewidth=0
            )
            chosen = selected_epochs(rows)
            axes.plot(
                chosen["epoch"],
                chosen["test_accuracy"],
                style.marker,
                color=style.color,
                markeredgecolor="black",
                markeredgewidth=0.5,
                markersize=4,
                linestyle="none",
            )
            lowest.append(float(wide.iloc[min(20, len(wide) - 1)].min()))
            sentences.append(
                f"{names.dataset(dataset)}, {names.model(model)}: selected epochs {chosen['epoch'].min():g} to "
                f"{chosen['epoch'].max():g}, there {chosen['test_accuracy'].mean():.1f} %, at the last epoch "
                f"{wide.iloc[-1].mean():.1f} %, best of all epochs {wide.max().mean():.1f} %"
            )
        top = axes.get_ylim()[1]
        axes.set_ylim(min(lowest), top)  # the first epochs climb from chance and would flatten the rest
        axes.set_title(names.dataset(dataset), loc="left")
        axes.set_ylabel("test accuracy (%)")
    if datasets:
        panels[-1].set_xlabel("epoch")
        legend_below(figure, panels, columns=2)
    else:
        say_empty(panels[0], "no curves were saved")
    caption = (
        "Test accuracy by epoch, mean and range over replicas; each marker is a replica at the first epoch of its best "
        f"validation accuracy. {'. '.join(sentences)}."
    )
    return Drawing(
        figure, "Accuracy by epoch", caption, "Line chart of test accuracy over epochs with the selected epochs marked."
    )


def selected_epochs(rows: pd.DataFrame) -> pd.DataFrame:
    """For each replica its first row of highest validation accuracy."""
    ordered = rows.sort_values(["replica", "epoch"])
    return ordered.loc[ordered.groupby("replica")["validation_accuracy"].idxmax()]
