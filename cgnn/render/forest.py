"""Differences between our results and the paper's, with intervals, for both forest figures."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cgnn.analysis.claims.base import signed
from cgnn.analysis.rows import Protocol, in_order, protocols
from cgnn.models import names
from cgnn.render.accuracy_table import LEFT_OUT, SOURCES
from cgnn.render.style import INK, look

#: One marker per protocol, in the order in which they are shown.
MARKERS = ("o", "D", "s", "^")
#: Heights in units of the distance between two markers of a line: the space between lines, a dataset's heading, and the
#: space above the heading.
SPACE, HEADING, ABOVE_HEADING = 1.4, 2.2, 0.6
UNIT = 0.068  # inches in forest.py, so that markers of 3.6 points do not touch
EQUATIONS = {"paper": "printed"}  # what the preset `paper` follows


@dataclass(frozen=True)
class Line:
    """One line of a forest plot: a model on a dataset, with the cells of all protocols."""

    dataset: str
    model: str
    cells: tuple[tuple[Protocol, pd.Series], ...]
    room: int  # for this number of markers; more than the cells if another panel shows more of them

    @property
    def height(self) -> float:
        return self.room + SPACE


def compared(summary: pd.DataFrame) -> pd.DataFrame:
    """The cells of Tables 2 and 3 for which the paper has a number."""
    return summary[summary["difference"].notna() & (summary["variant"] == "") & ~summary["model"].isin(LEFT_OUT)]


def lines_of(rows: pd.DataFrame, shown: Sequence[Protocol]) -> list[Line]:
    found = []
    for dataset in in_order(set(rows["dataset"]), names.DATASETS):
        for model in in_order(set(rows["model"]), names.MODELS):
            part = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
            cells = tuple((protocol, protocol.of(part).iloc[0]) for protocol in shown if len(protocol.of(part)))
            if cells:
                found.append(Line(dataset, model, cells, len(cells)))
    return found


def total_height(lines: Sequence[Line]) -> float:
    """The height of all lines and headings, in the units of ``SPACE``."""
    datasets = len({line.dataset for line in lines})
    return sum(line.height for line in lines) + datasets * HEADING + max(datasets - 1, 0) * ABOVE_HEADING


def draw_lines(axes: Axes, lines: Sequence[Line], shown: Sequence[Protocol], low_edge: float, high_edge: float) -> None:
    """Draw the lines from top to bottom, with a heading per dataset; cells beyond an edge are arrows with a number."""
    heights: list[float] = []
    height, dataset = 0.0, ""
    for line in lines:
        if line.dataset != dataset:
            dataset = line.dataset
            height -= ABOVE_HEADING if heights else 0.0
            axes.annotate(
                names.dataset(dataset),
                (0, height - HEADING / 2),
                (4, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                va="center",
                weight="bold",
            )
            height -= HEADING
        heights.append(height - line.height / 2)
        height -= line.height
    axes.axvline(0, color=INK, linewidth=0.8)
    for y, line in zip(heights, lines, strict=True):
        color = look(line.model).color
        beyond: dict[float, list[str]] = {}  # by the edge they are drawn at
        for i, (protocol, cell) in enumerate(line.cells):
            rank = shown.index(protocol)
            place = y + (len(line.cells) - 1) / 2 - i
            estimate, low, high = (float(cell[name]) for name in ("difference", "difference_low", "difference_high"))
            face, marker, at = color if rank == 0 else "none", MARKERS[rank % len(MARKERS)], estimate
            if not low_edge <= estimate <= high_edge:
                at, marker = (low_edge, "<") if estimate < low_edge else (high_edge, ">")
                beyond.setdefault(at, []).append(signed(estimate))
            elif low == low:
                axes.plot([max(low, low_edge), min(high, high_edge)], [place, place], color=color, linewidth=1.0)
            axes.plot([at], [place], marker, color=color, markerfacecolor=face, markersize=3.6, markeredgewidth=0.9)
        for at, texts in beyond.items():
            text, shift, side = ", ".join(texts), *((5, "left") if at == low_edge else (-5, "right"))
            axes.annotate(text, (at, y), (shift, 0), textcoords="offset points", va="center", ha=side, fontsize=7)
    axes.set_yticks(heights, [names.model(line.model) for line in lines])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.set_ylim(height, 0.0)
    margin = 0.03 * (high_edge - low_edge)
    axes.set_xlim(low_edge - margin, high_edge + margin)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_xlabel("ours − paper (points)")


def edges(rows: pd.DataFrame, reach: float = float("inf")) -> tuple[float, float]:
    """The range of the differences with their intervals, at most ``reach`` on either side of 0."""
    low = min(rows[["difference", "difference_low"]].min().min(), -1.0)
    high = max(rows[["difference", "difference_high"]].max().max(), 1.0)
    return max(float(low), -reach), min(float(high), reach)


def main_protocols(rows: pd.DataFrame) -> list[Protocol]:
    return protocols(rows)[: len(MARKERS)]


def protocol_words(protocol: Protocol) -> str:
    equations = EQUATIONS.get(protocol.preset, protocol.preset)
    return f"{equations} equations, {SOURCES.get(protocol.source, protocol.source)}"
