"""The main block of Table 2 against the paper's numbers, small enough for the README."""

from pathlib import Path

from cgnn.analysis.summary import load_summary
from cgnn.render.forest import compared, draw_lines, edges, lines_of, main_protocols, protocol_words
from cgnn.render.plots import panels, say_empty
from cgnn.render.style import Drawing

MODELS = ("gcn", "gat", "cgnn_discrete", "cgnn", "cgnn_weight")


def draw(summary: Path) -> Drawing:
    """Five models, one panel per dataset, the main protocol."""
    rows = compared(load_summary(summary))
    rows = rows[(rows["split_kind"] == "fixed") & rows["model"].isin(MODELS)]
    shown = main_protocols(rows)[:1]
    lines = lines_of(rows, shown)
    datasets = list(dict.fromkeys(line.dataset for line in lines))
    figure, grid = panels(1, len(datasets), 1.45)
    for column, (axes, dataset) in enumerate(zip(grid[0], datasets, strict=False)):
        draw_lines(axes, [line for line in lines if line.dataset == dataset], shown, *edges(shown[0].of(rows)))
        if column:
            axes.set_yticklabels([])
    if not datasets:
        say_empty(figure, grid[0, 0], "no run can be compared with the paper")
    inside = sum(bool(c["difference_low"] <= 0 <= c["difference_high"]) for line in lines for _, c in line.cells)
    within = sum(abs(float(c["difference"])) <= 1 for line in lines for _, c in line.cells)
    protocol = protocol_words(shown[0]) if shown else "no runs"
    caption = (
        f"Fixed splits, {protocol}: {within} of {len(lines)} means are within one point of the paper's, and the 95 % "
        f"interval of the difference includes 0 in {inside}."
    )
    alt = "Forest plot of five models on each dataset: the difference from the paper with its interval."
    return Drawing(figure, "The main table against the paper", caption, alt, empty=not datasets)
