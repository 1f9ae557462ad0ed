"""Every cell of Tables 2 and 3 against the paper's number."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.lines import Line2D

from cgnn.analysis.summary import load_summary
from cgnn.render.forest import (
    EQUATIONS,
    MARKERS,
    UNIT,
    compared,
    draw_lines,
    edges,
    lines_of,
    main_protocols,
    protocol_words,
    total_height,
)
from cgnn.render.plots import list_words, panels, say_empty
from cgnn.render.style import INK, Drawing

REACH = 8.0  # points on either side of 0; cells beyond are arrows


def draw(summary: Path) -> Drawing:
    """Fixed splits on the left, random ones on the right; one marker per protocol."""
    rows = compared(load_summary(summary))
    shown = main_protocols(rows)
    kinds = [kind for kind in ("fixed", "random") if (rows["split_kind"] == kind).any()]
    by_kind = {
        kind: {(line.dataset, line.model): line for line in lines_of(rows[rows["split_kind"] == kind], shown)}
        for kind in kinds
    }
    # The same lines in both panels, so that a model is at one height and is named once.
    every = [
        replace(line, cells=(), room=max(found[key].room for found in by_kind.values() if key in found))
        for line in lines_of(rows, shown)
        for key in [(line.dataset, line.model)]
    ]
    figure, grid = panels(1, len(kinds), UNIT * total_height(every) + 0.9)
    for column, (axes, kind) in enumerate(zip(grid[0], kinds, strict=False)):
        found = by_kind[kind]
        lines = [
            replace(line, cells=found[key].cells) if (key := (line.dataset, line.model)) in found else line
            for line in every
        ]
        draw_lines(axes, lines, shown, *edges(rows, REACH))
        axes.set_title(f"{kind} splits")
        if column:
            axes.set_yticklabels([])
    if not kinds:
        say_empty(figure, grid[0, 0], "no run can be compared with the paper")
    handles = [
        Line2D([], [], color=INK, marker=marker, mfc="none" if rank else INK, lw=1.0, ms=3.6, label=protocol_words(p))
        for rank, (marker, p) in enumerate(zip(MARKERS, shown, strict=False))
    ]
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
    caption = (
        f"{finding(rows)} Ours minus the paper's in percentage points with the 95 % interval (Welch, from the printed "
        f"mean, deviation and number of runs).{_cut(rows)}"
    )
    alt = "Forest plot: one line per model and dataset with the difference from the paper and its interval."
    return Drawing(figure, "Every cell against the paper", caption, alt, empty=not kinds)


def _cut(rows: pd.DataFrame) -> str:
    """What is cut at the edges of the panels, if anything is."""
    drawn = pd.concat([protocol.of(rows) for protocol in main_protocols(rows)] or [rows])
    sentences = []
    if (drawn["difference_low"] < -REACH).any() or (drawn["difference_high"] > REACH).any():
        sentences.append(f"Intervals are cut at {REACH:g} points")
    if (drawn["difference"].abs() > REACH).any():
        sentences.append(f"arrows with a number are cells beyond {REACH:g} points")
    text = "; ".join(sentences)
    return f" {text[0].upper()}{text[1:]}." if text else ""


def finding(rows: pd.DataFrame) -> str:
    """The number of cells that agree, by preset and split kind."""
    words = []
    for preset in dict.fromkeys(protocol.preset for protocol in main_protocols(rows)):
        counts = []
        for kind in ("fixed", "random"):
            here = rows[(rows["preset"] == preset) & (rows["split_kind"] == kind)]
            agree = int(((here["difference_low"] <= 0) & (here["difference_high"] >= 0)).sum())
            counts += [f"{agree} of {len(here)} cells on {kind} splits"] if len(here) else []
        words.append(f"with {EQUATIONS.get(preset, preset)} equations the interval includes 0 in {list_words(counts)}")
    text = "; ".join(words)
    return f"{text[0].upper()}{text[1:]}." if text else "No run can be compared with the paper."
