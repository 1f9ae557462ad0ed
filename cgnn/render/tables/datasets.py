"""Table 1: statistics of the datasets, ours next to the paper's, and why some numbers differ."""

from collections.abc import Sequence
from pathlib import Path

from cgnn.analysis.rows import in_order
from cgnn.datasets.graph import Graph, load_graph
from cgnn.models import names
from cgnn.paper.reported import NOT_COMPARABLE, Reported, load_reported
from cgnn.render.table import Cell, Row, Table

QUANTITIES = {
    name: name.capitalize().replace("_", " ") for name in ("nodes", "edges", "features", "classes", "label_rate")
}

CITATION_LINES = (
    "The paper counts the lines of the source's citation list, including citations in both directions, repeats and "
    "self-citations; ours are distinct undirected edges without self-loops."
)
NELL_ENTRIES = "The paper's number is half the entries of NELL's neighbour lists; ours are distinct undirected edges."
EXCHANGED = "Ours is training labels over nodes (140/2,708 and 120/3,327); the paper's two rates appear exchanged."
NELL_RATE = (
    "The paper prints the nominal rate of the source file; ours is training labels over nodes, one for each of the "
    "105 classes in use."
)
REASONS = {
    **{(dataset, "edges"): CITATION_LINES for dataset in ("cora", "citeseer", "pubmed")},
    ("nell", "edges"): NELL_ENTRIES,
    ("cora", "label_rate"): EXCHANGED,
    ("citeseer", "label_rate"): EXCHANGED,
    ("nell", "label_rate"): NELL_RATE,
}
NO_REASON = "Differs from the paper; the reason is not known."


def build(graphs: Sequence[Path], reported: Path) -> Table:
    """One row per graph; graphs that are not in the paper have no paper columns."""
    return table_of([load_graph(path) for path in graphs], load_reported(reported))


def table_of(graphs: Sequence[Graph], reported: Reported) -> Table:
    by_name = {graph.name: graph for graph in graphs}
    ordered = [by_name[name] for name in in_order(by_name, names.DATASETS)]
    printed = {graph.name: reported.statistics(graph.name) for graph in ordered}
    compared = any(printed.values())
    sides = (", ours", ", paper") if compared else ("",)
    columns = tuple(f"{title}{side}" for title in QUANTITIES.values() for side in sides)
    notes: dict[str, list[str]] = {}  # by text: what it explains
    rows = []
    for graph in ordered:
        ours, paper = quantities(graph), printed[graph.name]
        cells = {
            f"{title}{side}": _cell(key, numbers.get(key))
            for key, title in QUANTITIES.items()
            for side, numbers in zip(sides, (ours, paper), strict=False)
        }
        rows.append(Row(names.dataset(graph.name), cells))
        for key, reason in reasons(graph, reported).items():
            notes.setdefault(reason, []).append(f"{names.dataset(graph.name)}, {QUANTITIES[key].lower()}")
        if graph.note:
            note = f"{graph.note[0].upper()}{graph.note[1:]} ({int((graph.labels >= 0).sum()):,} labelled nodes)."
            notes.setdefault(note, []).append(names.dataset(graph.name))
    explained = tuple(f"{'; '.join(what)}: {text}" for text, what in notes.items())
    caption = "Statistics of the graphs as loaded" + (
        ", beside those the paper prints. The notes explain every difference." if compared else "."
    )
    title = "Statistics of the datasets (the paper's Table 1)"
    return Table("datasets", title, caption, "Dataset", columns, tuple(rows), explained)


def quantities(graph: Graph) -> dict[str, float]:
    train = len(graph.fixed_split.train) if graph.fixed_split else 0
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "label_rate": round(train / graph.num_nodes, 3),
    }


def reasons(graph: Graph, reported: Reported) -> dict[str, str]:
    """The reason for each quantity that differs from the paper's."""
    ours, paper = quantities(graph), reported.statistics(graph.name)
    name = NOT_COMPARABLE.get(graph.name, graph.name)
    return {key: REASONS.get((name, key), NO_REASON) for key in QUANTITIES if key in paper and paper[key] != ours[key]}


def _cell(key: str, value: float | None) -> Cell:
    if value is None:
        return Cell("–")
    return Cell(f"{value:.3f}" if key == "label_rate" else f"{int(value):,}", numbers={"value": float(value)})
