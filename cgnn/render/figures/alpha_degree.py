"""The learned α of each node: its distribution, and its dependence on the node's degree."""

from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, PercentFormatter

from cgnn.analysis.rows import in_order
from cgnn.analysis.statistics import SIGNIFICANCE
from cgnn.models import names
from cgnn.render.plots import RECORDED, list_words, panels, say_empty
from cgnn.render.style import INK, Drawing, look
from cgnn.results.recorded import Recorded, read_recorded

MIDDLE, NEAR = 0.5, 0.02  # σ(0), and how near to it counts
MAJORITY = 0.5  # share of the nodes near MIDDLE above which the caption gives the reason
TAIL = 0.01  # share of the nodes on either side that sets no limits of the histogram
BINS = 40


def draw(recorded: Path) -> Drawing:
    """One row per dataset: share of nodes by α on the left, quantiles of α over the degree on the right."""
    files = {item.dataset: item for item in read_recorded(recorded) if item.model == "cgnn"}
    datasets = in_order(files, names.DATASETS)
    figure, grid = panels(len(datasets), 2, 1.75)
    near, outside, color = {}, [], look("cgnn").color
    for (left, right), dataset in zip(grid, datasets, strict=False):
        by_replica, degree = files[dataset].alpha, files[dataset].degree.astype(float)
        value = by_replica.mean(axis=0)
        near[dataset] = share_near_half(files[dataset])
        low, high = limits(value)
        outside.append(float(((value < low) | (value > high)).mean()))
        left.hist(value, bins=_bins(low, high), weights=np.full(len(value), 1 / len(value)), color=color)
        left.set_xlim(low, high)
        left.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        left.set_ylabel("share of nodes")
        connected = degree > 0
        places, quantiles = _by_degree(degree[connected], value[connected])
        for outer, strength in ((0, 0.18), (1, 0.32)):
            right.fill_between(
                places, quantiles[:, outer], quantiles[:, 4 - outer], color=color, alpha=strength, linewidth=0
            )
        right.plot(places, quantiles[:, 2], color=color, marker="o", markersize=2.5)
        right.axhline(MIDDLE, color=INK, linewidth=0.7, linestyle=":")
        right.set_xscale("log")
        right.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
        right.xaxis.set_minor_formatter(NullFormatter())
        right.set_ylabel("learned α")
        for axes in (left, right):
            axes.set_title(names.dataset(dataset))
    if datasets:
        grid[-1, 0].set_xlabel("learned α")
        grid[-1, 1].set_xlabel("node degree")
    else:
        say_empty(figure, grid[0, 0], "no α was saved")
    many = bool(datasets) and all(far_nodes_have_more_neighbours(files[dataset]) for dataset in datasets)
    caption = (
        f"{_finding(near, many)} Left: histogram of the learned α of the nodes (mean over seeds){_left_out(outside)}. "
        f"Right: median, central 50 % and central 90 % of the nodes by degree. CGNN is {RECORDED}."
    )
    alt = "Histogram of the learned α with a peak at one half, and quantiles of α over node degree."
    return Drawing(figure, "Learned α over node degree", caption, alt, empty=not datasets)


def share_near_half(recorded: Recorded) -> float:
    """The share of the nodes whose learned α, averaged over the replicas, is within NEAR of one half."""
    return float(_near_half(recorded).mean())


def far_nodes_have_more_neighbours(recorded: Recorded) -> bool:
    """The degrees of the nodes whose α is not near one half are larger than those of the others (Mann–Whitney)."""
    from scipy import stats  # imported here because it loads slowly

    near = _near_half(recorded)
    if near.all() or not near.any():
        return False
    test = stats.mannwhitneyu(recorded.degree[~near], recorded.degree[near], alternative="greater")
    return bool(test.pvalue < SIGNIFICANCE)


def _near_half(recorded: Recorded) -> np.ndarray:
    return np.abs(recorded.alpha.mean(axis=0) - MIDDLE) < NEAR


def limits(value: np.ndarray) -> tuple[float, float]:
    """The range of α without its tails, rounded outwards to 0.05 and at least 0.45 to 0.55."""
    low, high = np.quantile(value, [TAIL, 1 - TAIL])
    return min(float(np.floor(20 * low)) / 20, 0.45), max(float(np.ceil(20 * high)) / 20, 0.55)


def _bins(low: float, high: float) -> np.ndarray:
    """Edges of bins of one width from ``low`` or below to ``high`` or above, one of them centred on σ(0)."""
    width = (high - low) / BINS
    first, last = np.floor((low - MIDDLE) / width), np.ceil((high - MIDDLE) / width)
    return MIDDLE + width * (np.arange(first, last + 2) - 0.5)


def _left_out(outside: list[float]) -> str:
    if not any(outside):
        return ""
    most = f"{max(outside):.1%}".replace("%", " %")
    return f"; its axis leaves out {'at most ' if len(outside) > 1 else ''}{most} of them"


def _finding(near: dict[str, float], many_neighbours: bool) -> str:
    """Where α ends; ``many_neighbours`` says that nodes far from one half have larger degrees than the others."""
    if not near:
        return "No α was saved."
    shares = list_words(
        [f"{share:.0%} of the nodes of {names.dataset(name)}".replace("%", " %") for name, share in near.items()]
    )
    sentence = f"{shares} end within {NEAR} of α = {MIDDLE}"
    if min(near.values()) > MAJORITY:
        few = "only few nodes" + (", more often those with many neighbours," if many_neighbours else "")
        sentence += (
            f": the code learns α = σ(θ), weight decay pulls θ towards 0, and {few} receive a gradient large enough "
            "to counteract it"
        )
    return sentence + "."


def _by_degree(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles (5, 25, 50, 75, 95 %) of α in degree bins of doubling width with at least five nodes."""
    edges = 2.0 ** np.arange(0, np.ceil(np.log2(x.max() + 1)) + 1)
    places, rows = [], []
    for left, right in pairwise(edges):
        inside = (x >= left) & (x < right)
        if inside.sum() >= 5:
            places.append(np.exp(np.log(x[inside]).mean()))
            rows.append(np.quantile(y[inside], [0.05, 0.25, 0.5, 0.75, 0.95]))
    return np.array(places), np.array(rows).reshape(-1, 5)
