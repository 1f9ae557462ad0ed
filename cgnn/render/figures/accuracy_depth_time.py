"""Figure 2: accuracy against the number of layers or the ending time."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import finished, in_order, load_rows
from cgnn.models import names
from cgnn.render.panels import legend_below, log_ticks, mean_and_error, say_empty, series, stacked
from cgnn.render.style import Drawing, look

AXIS = {"gcn": "layers", "gat": "layers", "gcn_residual": "layers"}  # all others: t1


def draw(sweeps: Path) -> Drawing:
    """A panel a dataset, a line a model, 95 % intervals over seeds."""
    rows = finished(load_rows(sweeps))
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    figure, panels = stacked(len(datasets), 2.1)
    best: list[str] = []
    for axes, dataset in zip(panels, datasets, strict=False):
        of_dataset = rows[rows["dataset"] == dataset]
        values: set[float] = set()
        heights: list[float] = []
        for position, model in enumerate(in_order(set(of_dataset["model"]), names.MODELS)):
            x, y, error = mean_and_error(_main(of_dataset[of_dataset["model"] == model]), AXIS.get(model, "t1"))
            series(axes, x, y, error, look(model, position), names.model(model))
            values |= set(x)
            heights += y
            if model in ("gcn", "gat", "cgnn", "cgnn_no_h0") and y:
                top = max(range(len(y)), key=lambda i: y[i])
                best.append(f"{names.dataset(dataset)}, {names.model(model)} {y[top]:.1f} at {x[top]:g}")
        log_ticks(axes, sorted(values))
        if heights:  # two seeds can give an interval wider than the chart; the means set its height
            axes.set_ylim(max(0.0, min(heights) - 4), min(100.0, max(heights) + 4))
        axes.set_title(names.dataset(dataset), loc="left")
        axes.set_ylabel("test accuracy (%)")
    if datasets:
        panels[-1].set_xlabel("number of layers, or ending time $t_1$")
        legend_below(figure, panels, columns=2)
    else:
        say_empty(panels[0], "no sweep was run")
    seeds = sorted({len(group) for _, group in rows.groupby(["dataset", "model", "layers", "t1"], dropna=False)})
    caption = (
        "Test accuracy against the number of layers (GCN, GAT, residual GCN) or the ending time (CGNN and its "
        "variants; "
        f"steps for CGNN discrete). Mean of {_range(seeds)} seeds with 95 % intervals. Best means: {'; '.join(best)}."
    )
    alt = "Line chart of test accuracy over depth or ending time, one panel a dataset, one line a model."
    return Drawing(figure, "Accuracy against depth or time", caption, alt)


def _main(rows: pd.DataFrame) -> pd.DataFrame:
    """One protocol only: the one with most rows."""
    parts = [part for _, part in rows.groupby(["preset", "hyperparameter_source"], sort=True)]
    return max(parts, key=len, default=rows)


def _range(values: list[int]) -> str:
    if not values:
        return "0"
    return f"{values[0]}" if values[0] == values[-1] else f"{values[0]} to {values[-1]}"
