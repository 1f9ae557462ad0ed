"""The workflow's rules as a picture, from the graph that ``snakemake --rulegraph dot`` prints."""

import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from cgnn.errors import UserError
from cgnn.render.style import BLUE, INK, PAGE, Drawing

Rules = Mapping[str, set[str]]  # by rule: the rules whose output it reads
HEIGHT = 0.46  # of a box, where the distance between two levels is 1


def read_rules(dot: str) -> dict[str, set[str]]:
    """The rules and what they need; rules that only collect targets (``all``) are left out."""
    labels = dict(re.findall(r'(\d+)\[label = "(\w+)', dot))
    rules: dict[str, set[str]] = {name: set() for name in labels.values()}
    for source, target in re.findall(r"(\d+) -> (\d+)", dot):
        rules[labels[target]].add(labels[source])
    rules.pop("all", None)
    if not rules:
        raise UserError("found no rules; pipe the output of `snakemake --rulegraph dot` into this command")
    return rules


def reduced(rules: Rules) -> dict[str, set[str]]:
    """The rules without the edges that a longer path implies."""
    behind: dict[str, set[str]] = {}
    for name in TopologicalSorter(rules).static_order():
        behind[name] = set(rules[name]).union(*(behind[other] for other in rules[name]))
    return {
        name: {other for other in needs if not any(other in behind[third] for third in needs if third != other)}
        for name, needs in rules.items()
    }


def layers(rules: Rules) -> tuple[list[list[str]], list[list[str]]]:
    """The levels from top to bottom, each in order from left to right, and the paths of the arrows.

    A rule is placed as low as the rules that read its output allow. An arrow that passes a level has a placeholder
    there (a name that is not a rule), so that it crosses no box.
    """
    readers: dict[str, set[str]] = {name: set() for name in rules}
    for name, needs in rules.items():
        for other in needs:
            readers[other].add(name)
    height: dict[str, int] = {}
    for name in reversed(list(TopologicalSorter(rules).static_order())):
        height[name] = max((height[other] + 1 for other in readers[name]), default=0)
    top = max(height.values())
    level = {name: top - value for name, value in height.items()}
    rows: list[list[str]] = [sorted(name for name in level if level[name] == depth) for depth in range(top + 1)]
    paths = []
    for name in sorted(rules):
        for other in sorted(rules[name]):
            passed = [f"{other}>{name}@{depth}" for depth in range(level[other] + 1, level[name])]
            for depth, place in enumerate(passed, start=level[other] + 1):
                rows[depth].append(place)
            paths.append([other, *passed, name])
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for path in paths:
        for upper, lower in pairwise(path):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    # Barycentre method, downwards and upwards: each place moves to the mean of its neighbours until little changes.
    for _ in range(12):
        for neighbours, order in ((above, rows), (below, rows[::-1])):
            at = _places(rows)
            for row in order:
                row.sort(key=lambda item: float(np.mean([at[n] for n in neighbours.get(item, [item])])))
                at = _places(rows)
    return rows, paths


def _places(rows: list[list[str]]) -> dict[str, float]:
    return {name: index - (len(row) - 1) / 2 for row in rows for index, name in enumerate(row)}


def draw_dag(dot: str) -> Drawing:
    """One box per rule, from the data above to the paper below."""
    rules = reduced(read_rules(dot))
    rows, paths = layers(rules)
    figure = plt.figure(figsize=(PAGE, 0.5 * len(rows)))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    spread = _places(rows)
    reach = max(abs(place) for place in spread.values()) + 0.55
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-len(rows) + 0.45, 0.55)
    places = {name: (spread[name], -float(depth)) for depth, row in enumerate(rows) for name in row}
    for name in rules:
        axes.text(
            *places[name],
            name.replace("_", " "),
            ha="center",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "round,pad=0.35", "facecolor": "none", "edgecolor": BLUE, "linewidth": 0.9},
        )
    for path in paths:
        points = np.array([places[name] for name in path])
        points[0, 1] -= HEIGHT / 2
        points[-1, 1] += HEIGHT / 2
        # Vertical at both ends of every step, so that arrows leave and reach boxes straight.
        vertices, codes = [points[0]], [Path.MOVETO]
        for start, end in pairwise(points):
            middle = (start[1] + end[1]) / 2
            vertices += [(start[0], middle), (end[0], middle), end]
            codes += [Path.CURVE4] * 3
        arrow = FancyArrowPatch(
            path=Path(vertices, codes), arrowstyle="-|>", mutation_scale=7, color=INK, linewidth=0.7
        )
        arrow.set_fill(False)
        axes.add_patch(arrow)
    caption = "The rules of the workflow. An arrow leads from a rule to one that reads its output."
    return Drawing(figure, "The workflow's rules", caption, "Boxes for the rules of the workflow, joined by arrows.")
