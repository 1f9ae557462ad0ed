"""Orion's own plots of a search, as pages that open without a network and as JSON."""

import os
from pathlib import Path
from typing import Any

from cgnn.files import write_text

PLOTS = ("parallel_coordinates", "regret", "lpi")


def write_plots(client: Any, folder: Path, completed: int, seed: int, plotlyjs: Path | None) -> None:
    """Parallel coordinates, regret, and LPI: the local importance of each parameter by a random forest.

    ``plotlyjs``: a file all pages share (it has 5 MB), written if it is not there; None puts it into each page.
    """
    options: dict[str, dict[str, Any]] = {"lpi": {"model_kwargs": {"random_state": seed}}}
    include: bool | str = True
    if plotlyjs is not None:
        _share(plotlyjs)
        include = os.path.relpath(plotlyjs, folder)
    for name in PLOTS:
        figure = getattr(client.plot, name)(**options.get(name, {})) if completed >= 2 else _too_few(name, completed)
        write_text(folder / f"{name}.html", figure.to_html(include_plotlyjs=include, full_html=True))
        write_text(folder / f"{name}.json", figure.to_json())


def _share(path: Path) -> None:
    from plotly.offline import get_plotlyjs

    if not path.is_file():
        write_text(path, get_plotlyjs())


def _too_few(name: str, completed: int) -> Any:
    from plotly.graph_objects import Figure

    return Figure(layout={"title": {"text": f"{name}: {completed} completed trials are too few to plot"}})
