"""The one style of all figures: sizes, colours that colour-blind readers can tell apart, deterministic files."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from cgnn.files import atomic_path, write_text

COLUMN = 3.25  # inches: one column of the paper's two
PAGE = 6.75  # both columns

# Okabe and Ito's palette.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
GREY = "#767676"
#: Text, axes and black lines: one known colour, which the page replaces in its dark theme.
INK = "#333333"


@dataclass(frozen=True)
class Look:
    """Colour, marker and dashes: each alone tells lines apart in print without colour."""

    color: str
    marker: str
    dashes: str | tuple[int, tuple[float, ...]]


LOOKS = {
    "gcn": Look(BLUE, "s", "--"),
    "gat": Look(GREEN, "^", "-."),
    "gcn_residual": Look(SKY, "D", ":"),
    "cgnn_discrete": Look(ORANGE, "v", (0, (5, 1, 1, 1, 1, 1))),
    "cgnn": Look(RED, "o", "-"),
    "cgnn_weight": Look(PINK, "P", "-"),
    "cgnn_no_h0": Look(BLACK, "X", ":"),
    "gcn_gode": Look(GREY, "<", "--"),
    "gat_gode": Look(GREY, ">", "-."),
    "cgnn_adjoint": Look(RED, "o", "-"),
    "cgnn_released": Look(BLACK, "*", "-"),
    "cgnn_dopri5": Look(BLACK, "*", "--"),
    "cgnn_rk4": Look(ORANGE, "d", "--"),
    "cgnn_exact": Look(PINK, "P", "-"),
    "cgnn_exact_recompute": Look(BLACK, "X", (0, (4, 2))),
    "cgnn_weight_released": Look(GREY, "*", "-"),
    "cgnn_weight_dopri5": Look(GREY, "*", "--"),
    "cgnn_weight_adjoint": Look(GREY, "o", "-"),
    "cgnn_weight_exact": Look(GREY, "P", "-"),
    "cgnn_weight_rk4": Look(GREY, "d", "--"),
}
FALLBACK = (Look(GREY, "h", "-"), Look(GREY, "p", "--"), Look(GREY, "8", ":"))

RC: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "font.family": "DejaVu Sans",  # ships with matplotlib, so files agree between machines
    "mathtext.fontset": "dejavusans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": INK,  # faint by its opacity, so that it is faint on a dark page too
    "grid.alpha": 0.13,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "errorbar.capsize": 1.8,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.0,
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "cgnn",  # element ids come from it instead of from chance
    "path.simplify": True,
}


@dataclass(frozen=True)
class Drawing:
    """A figure with the words that go under it and the words for those who cannot see it."""

    figure: Figure
    title: str
    caption: str
    alt: str


@contextmanager
def use_style() -> Iterator[None]:
    """The style for the time of drawing; the user's own settings have no effect."""
    with plt.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield
        plt.close("all")


def look(name: str, position: int = 0) -> Look:
    """The fixed look of a known method, or a grey one for a method someone added."""
    return LOOKS.get(name, FALLBACK[position % len(FALLBACK)])


def write_figure(drawing: Drawing, stem: Path | str) -> list[Path]:
    """PDF, SVG and PNG without dates or versions in them, and the caption as JSON."""
    metadata: dict[str, dict[str, str | None]] = {
        "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None, "Title": drawing.title},
        "svg": {"Date": None, "Creator": None, "Title": drawing.title},
        "png": {"Software": None, "Title": drawing.title},
    }
    paths = []
    for suffix, content in metadata.items():
        path = Path(f"{stem}.{suffix}")
        with atomic_path(path) as temporary:
            drawing.figure.savefig(temporary, metadata=content, transparent=suffix == "svg")
        paths.append(path)
    path = Path(f"{stem}.json")
    words = {"title": drawing.title, "caption": drawing.caption, "alt": drawing.alt}
    write_text(path, json.dumps(words, ensure_ascii=False, indent=1) + "\n")
    return [*paths, path]
