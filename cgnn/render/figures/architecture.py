"""Figure 1: a graph, the encoder, the ODE's flow from t = 0 to t₁, and the decoder. A drawing without data."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from cgnn.render.style import BLUE, GREEN, GREY, INK, ORANGE, PAGE, RED, Drawing, blend

#: A small graph of two groups: places of six nodes, its edges, and the class each ends in.
PLACES = np.array([[0.0, 0.75], [0.62, 1.0], [0.30, 0.30], [1.05, 0.52], [0.66, -0.05], [1.35, 0.05]])
EDGES = ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5))
CLASSES = (BLUE, BLUE, BLUE, GREEN, GREEN, GREEN)
#: Lower left corner of each node's feature bar, relative to the node, where it covers no edge.
BARS = ((-0.3, 0.16), (-0.16, 0.16), (-0.47, -0.2), (-0.1, 0.16), (-0.16, -0.29), (-0.16, -0.29))
HEIGHT = 2.05


def draw() -> Drawing:
    """From left to right in the order of the computation."""
    figure = plt.figure(figsize=(PAGE, HEIGHT))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, 13.5)
    axes.set_ylim(0.05, 0.05 + 13.5 * HEIGHT / PAGE)
    axes.set_axis_off()
    _graph(axes, (0.35, 2.05), ["#FFFFFF"] * 6, features=True)
    _box(axes, 2.45, 1.75, 1.15, "encoder", "dropout\nlinear")
    _frame(axes, (4.0, 0.72), 6.05, 3.32, RED, 0.08, pad=0.05)
    for place, strength, label in ((4.25, 0.25, "$H(0) = E$"), (6.3, 0.55, "$H(t)$"), (8.35, 1.0, "$H(t_1)$")):
        # The class becomes visible as t grows.
        _graph(axes, (place, 1.85), [blend(color, strength) for color in CLASSES])
        axes.text(place + 0.68, 1.42, label, ha="center", va="top", fontsize=8)
    for left, right in ((4.25, 6.3), (6.3, 8.35)):
        _flow(axes, left, right)
    axes.annotate("", (9.75, 0.98), (4.15, 0.98), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 0.9})
    axes.text(9.78, 1.0, "$t$", va="center", ha="left", fontsize=8)
    equation = r"$\dfrac{\mathrm{d}H}{\mathrm{d}t} = (A - I)\,H(t) + E$"
    axes.text(7.0, 3.62, equation, ha="center", va="center", fontsize=9.5, color=RED)
    axes.text(9.0, 3.62, "as printed", ha="left", va="center", fontsize=7, color=INK)
    terms = "neighbours through $AH$  ·  decay through $-H$  ·  the encoder's $E$ as a source at every $t$"
    axes.text(7.0, 0.33, terms, ha="center", va="center", fontsize=7, color=INK)
    _box(axes, 10.5, 1.75, 1.05, "decoder", "ReLU\ndropout\nlinear")
    _graph(axes, (11.95, 2.05), list(CLASSES))
    for label, x in (("graph with\nnode features $X$", 1.03), ("class of\neach node", 12.63)):
        axes.text(x, 1.42, label, ha="center", va="top", fontsize=7.5)
    for left, right in ((1.95, 2.42), (3.63, 3.93), (10.12, 10.46), (11.6, 11.88)):
        axes.annotate("", (right, 2.5), (left, 2.5), arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.0})
    caption = (
        "The encoder maps the features of each node to E without using the graph. The ODE, here as printed, evolves "
        "the states of all nodes from H(0) = E to H(t₁); orange lines show the exchange between neighbours. The "
        "decoder predicts the classes from H(t₁)."
    )
    alt = "A graph passes through an encoder, states of an ODE joined by flow lines, and a decoder to node classes."
    return Drawing(figure, "Architecture", caption, alt)


def _graph(axes: Axes, corner: tuple[float, float], colors: list[str], features: bool = False) -> None:
    places = PLACES + np.array(corner)
    for a, b in EDGES:
        axes.plot(*places[[a, b]].T, color=GREY, linewidth=0.8, zorder=2)
    for place, color in zip(places, colors, strict=True):
        axes.plot(
            *place, "o", markersize=7.5, markerfacecolor=color, markeredgecolor=INK, markeredgewidth=0.7, zorder=3
        )
    if features:
        for row, corner_of_bar in enumerate(places + np.array(BARS)):
            for bit in range(3):
                filled = ORANGE if (row * 5 + bit * 3) % 4 < 2 else "#FFFFFF"
                corner_of_bit = (corner_of_bar[0] + 0.11 * bit, corner_of_bar[1])
                axes.add_patch(
                    plt.Rectangle(corner_of_bit, 0.11, 0.11, facecolor=filled, edgecolor=INK, linewidth=0.4, zorder=4)
                )


def _flow(axes: Axes, left: float, right: float) -> None:
    """Draw lines from each node to itself and to its neighbours at the next time."""
    now, later = PLACES + np.array([left, 1.85]), PLACES + np.array([right, 1.85])
    pairs = [(i, i) for i in range(6)] + [pair for edge in EDGES for pair in (edge, edge[::-1])]
    for a, b in pairs:
        width, opacity = (0.9, 0.75) if a == b else (0.55, 0.35)
        line = FancyArrowPatch(now[a], later[b], arrowstyle="-", connectionstyle="arc3,rad=0.08", shrinkA=4, shrinkB=4)
        line.set(color=RED, zorder=1, linewidth=width, alpha=opacity)
        axes.add_patch(line)


def _box(axes: Axes, x: float, y: float, width: float, name: str, layers: str) -> None:
    _frame(axes, (x, y), width, 1.5, BLUE, 0.07, pad=0.03)
    axes.text(x + width / 2, y + 1.27, name, ha="center", va="center", fontsize=7.5, weight="bold")
    axes.text(x + width / 2, y + 0.55, layers, ha="center", va="center", fontsize=7.5, linespacing=1.5)


def _frame(
    axes: Axes, corner: tuple[float, float], width: float, height: float, color: str, opacity: float, pad: float
) -> None:
    face, style = (color, opacity), f"round,pad={pad}"
    axes.add_patch(FancyBboxPatch(corner, width, height, style, facecolor=face, edgecolor=color, linewidth=0.8))
