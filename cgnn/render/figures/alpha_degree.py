"""The learned α of each node over its degree."""

from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.ticker import FuncFormatter

from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.panels import say_empty, stacked
from cgnn.render.style import BLUE, RED, Drawing

SHADES = LinearSegmentedColormap.from_list("shades", ["#E8F1F8", BLUE])


def draw(alpha: list[Path]) -> Drawing:
    """Density of nodes with the median and the middle half of nodes by degree."""
    files = {Path(path).stem: Path(path) for path in alpha}
    datasets = in_order(files, names.DATASETS)
    figure, panels = stacked(len(datasets), 1.75)
    sentences = []
    for axes, dataset in zip(panels, datasets, strict=False):
        with np.load(files[dataset]) as content:
            by_replica, degree = content["alpha"], content["degree"].astype(float)
        value = by_replica.mean(axis=0)
        connected = degree > 0
        x, y = degree[connected], value[connected]
        shade = axes.hexbin(x, y, xscale="log", gridsize=(34, 16), bins="log", cmap=SHADES, mincnt=1, linewidths=0.1)
        centre, low, middle, high = _by_degree(x, y)
        axes.fill_between(centre, low, high, color=RED, alpha=0.22, linewidth=0, label="middle half")
        axes.plot(centre, middle, color=RED, marker="o", markersize=2.5, label="median")
        axes.set_title(names.dataset(dataset), loc="left")
        axes.set_ylabel("learned α")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
        figure.colorbar(shade, ax=axes, label="nodes", pad=0.02)
        from scipy.stats import spearmanr

        replicas = f"{len(by_replica)} replica" + ("s" if len(by_replica) > 1 else "")
        rank = float(spearmanr(x, y).statistic)
        sentences.append(
            f"{names.dataset(dataset)}: {replicas}, α from {value.min():.2f} to {value.max():.2f}, "
            f"rank correlation with degree {rank:+.2f}".replace("-", "−")
        )
    if datasets:
        panels[0].legend(loc="best")
        panels[-1].set_xlabel("node degree")
    else:
        say_empty(panels[0], "no α was saved")
    caption = f"Learned α of every node, mean over replicas, against its degree. {'. '.join(sentences)}."
    plt.close(figure)
    return Drawing(
        figure, "Learned α over node degree", caption, "Density of nodes by degree and learned α, with median line."
    )


def _by_degree(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Quartiles of α in bins of degree that double, those with at least five nodes."""
    edges = 2.0 ** np.arange(0, np.ceil(np.log2(x.max() + 1)) + 1)
    rows = []
    for left, right in pairwise(edges):
        inside = (x >= left) & (x < right)
        if inside.sum() >= 5:
            rows.append((np.exp(np.log(x[inside]).mean()), *np.quantile(y[inside], [0.25, 0.5, 0.75])))
    table = np.array(rows).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]
