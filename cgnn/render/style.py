"""The style of all figures: sizes, colours that colour-blind readers can distinguish, deterministic files."""

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
from cgnn.models import records
from cgnn.models.records import RECORDS, SOLVER_DASHES, Dashes, split_method

PAGE = 6.75  # inches: both columns of the paper

BLUE, GREEN, GREY, ORANGE, RED = records.BLUE, records.GREEN, records.GREY, records.ORANGE, records.RED
#: Text, axes and black lines: one known colour, which the page replaces in its dark theme.
INK = "#333333"


@dataclass(frozen=True)
class Look:
    """Colour and marker of a model, dashes of a solver; lines can be distinguished without colour."""

    color: str
    marker: str
    dashes: Dashes


#: A colour and a marker per model; dashes belong to solvers, so a model alone is a solid line.
LOOKS = {
    name: Look(INK if record.color == records.BLACK else record.color, record.marker, "-")
    for name, record in RECORDS.items()
}
FALLBACK = (Look(GREY, "h", "-"), Look(GREY, "p", "-"), Look(GREY, "8", "-"))

RC: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so files are the same on all machines
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
    "grid.color": INK,  # made faint by its opacity, so that it is also faint on a dark page
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
    "svg.hashsalt": "cgnn",  # makes element ids deterministic
    "path.simplify": True,
}


@dataclass(frozen=True)
class Drawing:
    """A figure with its title, caption and alternative text.

    An ``empty`` figure has no data; it is written, but the PDF and the page leave it out.
    """

    figure: Figure
    title: str
    caption: str
    alt: str
    empty: bool = False


@contextmanager
def use_style() -> Iterator[None]:
    """Use the style inside the block; the user's matplotlib settings have no effect."""
    with plt.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield
        plt.close("all")


def look(name: str, position: int = 0) -> Look:
    """The look of a model, or of a CGNN model with a solver (the model's colour, the solver's dashes); else grey."""
    model, solver = split_method(name)
    if solver:
        dashes, marker = SOLVER_DASHES[solver]
        return Look(LOOKS[model].color, marker, dashes)
    return LOOKS.get(name, FALLBACK[position % len(FALLBACK)])


def blend(color: str, share: float, with_color: str = "#FFFFFF") -> str:
    """A ``share`` of ``color`` blended with another colour, both as ``#RRGGBB``."""
    channels = zip(*([int(text[i : i + 2], 16) for i in (1, 3, 5)] for text in (color, with_color)), strict=True)
    return "#" + "".join(f"{round(other + share * (own - other)):02X}" for own, other in channels)


def write_figure(drawing: Drawing, stem: Path | str) -> list[Path]:
    """Write PDF, SVG and PNG without dates or versions, and the caption as JSON."""
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
    words = {"title": drawing.title, "caption": drawing.caption, "alt": drawing.alt, "empty": drawing.empty}
    write_text(path, json.dumps(words, ensure_ascii=False, indent=1) + "\n")
    return [*paths, path]
