"""Orion's plots of a search, as HTML pages that work offline and as JSON."""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cgnn.files import write_text

#: The plots and what each shows; Orion's objective is the error, 100 − validation accuracy in percent.
PLOTS: Mapping[str, str] = {
    "parallel_coordinates": "Hyperparameters of each trial and its validation error in percent",
    "regret": "Validation error of each trial in percent, and the lowest error so far",
    "lpi": "Local parameter importance: share of the error's variance around the best trial, by random forests",
}
#: From the lowest error to the highest: the best trials are the darkest lines.
COLORSCALE = [[0.0, "#08306b"], [0.3, "#2171b5"], [1.0, "#c6c6c6"]]
BLUE, ORANGE = "#0072b2", "#d55e00"


def write_plots(
    client: Any, folder: Path, completed: int, seed: int, plotlyjs: Path | None, subject: str = "Hyperparameter search"
) -> None:
    """Write parallel coordinates, regret and LPI as ``folder/NAME.html`` and ``.json``.

    ``plotlyjs`` is a file of 5 MB that all pages share, written if it is missing; None embeds it in each page.
    ``subject`` names the search in the titles.
    """
    include: bool | str = True
    if plotlyjs is not None:
        _share(plotlyjs)
        include = os.path.relpath(plotlyjs, folder)
    for name, shows in PLOTS.items():
        figure = _plot(client, name, seed) if completed >= 2 else _empty()
        text = shows if completed >= 2 else f"{shows}: {completed} completed trials are too few to plot"
        figure.update_layout(
            title={"text": f"<b>{subject}</b><br>{text}", "font": {"size": 15}, "x": 0.02, "xanchor": "left"},
            template="plotly_white",
            font={"size": 13, "color": "#333333"},
            margin={"t": 140},
        )
        write_text(folder / f"{name}.html", figure.to_html(include_plotlyjs=include, full_html=True))
        write_text(folder / f"{name}.json", figure.to_json())


def _plot(client: Any, name: str, seed: int) -> Any:
    if name == "parallel_coordinates":
        figure = client.plot.parallel_coordinates(colorscale=COLORSCALE)
        for axis in figure.data[0].dimensions:
            _use_log_axis(axis)
        figure.update_traces(line={"colorbar": {"title": {"text": "error (%)"}}})
        return figure
    if name == "regret":
        figure = client.plot.regret()
        figure.update_layout(xaxis_title="trial", yaxis_title="validation error (%)")
        figure.update_traces(selector={"mode": "markers"}, marker={"color": BLUE, "size": 8})
        figure.update_traces(selector={"mode": "lines"}, line={"color": ORANGE, "width": 2}, name="lowest so far")
        return figure
    # Ten forests give the mean and deviation of the importance; 100 trees each, the default, take seconds.
    figure = client.plot.lpi(n_runs=10, model_kwargs={"random_state": seed, "n_estimators": 20})
    figure.update_layout(xaxis_title="hyperparameter", yaxis_title="importance (share of variance)")
    figure.update_traces(marker={"color": BLUE})
    return figure


def _use_log_axis(axis: Any) -> None:
    """Spread an axis that spans a factor of ten or more, such as the learning rate; Plotly has no log axis here."""
    low, high = axis.range or (0, 0)
    if axis.ticktext is not None or low <= 0 or high / low < 10 or axis.label == "error":
        return
    ticks = [
        digit * 10.0**power
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digit in (1, 3)
        if low <= digit * 10.0**power * (1 + 1e-9) and digit * 10.0**power <= high * (1 + 1e-9)
    ]
    axis.label = f"{axis.label} (log)"
    axis.values = [math.log10(value) for value in axis.values]
    axis.range = [math.log10(low), math.log10(high)]
    axis.tickvals, axis.ticktext = [math.log10(tick) for tick in ticks], [f"{tick:g}" for tick in ticks]


def _share(path: Path) -> None:
    from plotly.offline import get_plotlyjs

    if not path.is_file():
        write_text(path, get_plotlyjs())


def _empty() -> Any:
    from plotly.graph_objects import Figure

    return Figure()
