"""Table 1: what the datasets are, the paper's numbers beside ours, and why some differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cgnn.datasets.graph import Graph
from cgnn.files import write_csv, write_text

QUANTITIES = ("nodes", "edges", "features", "classes", "label_rate")
HEADERS = {"nodes": "Nodes", "edges": "Edges", "features": "Features", "classes": "Classes", "label_rate": "Label rate"}
LABELS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed", "nell": "NELL", "nell_partial": "NELL (partial)"}
#: nell_partial stands beside the paper's NELL: the same graph with part of its labels.
PAPER_NAME = {"nell_partial": "nell"}

CITATION_LINES = (
    "the paper counts the lines of the source's citation list, with citations both ways, repeats and self-citations; "
    "ours are distinct undirected edges without self-loops"
)
NELL_ENTRIES = "the paper counts the entries of NELL's neighbour lists by twos; ours are distinct undirected edges"
EXCHANGED = "ours is training labels over nodes (140/2,708 and 120/3,327); the paper's two rates appear exchanged"
NELL_RATE = (
    "the paper prints the nominal rate of the source file; ours is training labels over nodes, one for each of the "
    "105 classes in use"
)
REASONS: dict[tuple[str, str], str] = {
    ("cora", "edges"): CITATION_LINES,
    ("citeseer", "edges"): CITATION_LINES,
    ("pubmed", "edges"): CITATION_LINES,
    ("nell", "edges"): NELL_ENTRIES,
    ("cora", "label_rate"): EXCHANGED,
    ("citeseer", "label_rate"): EXCHANGED,
    ("nell", "label_rate"): NELL_RATE,
}
NO_REASON = "differs from the paper; the reason is not known"


@dataclass(frozen=True)
class Row:
    """One dataset. ``paper`` is empty where the paper does not have it; ``reasons`` by quantity."""

    name: str
    ours: dict[str, float]
    paper: dict[str, float]
    reasons: dict[str, str]
    labels: int
    note: str
    sha256: str

    @property
    def label(self) -> str:
        return LABELS.get(self.name, self.name)


def rows_of(graphs: Sequence[Graph], reported: dict[str, dict[str, Any]]) -> list[Row]:
    """``reported`` is the section ``dataset_statistics`` of paper/reported.yaml."""
    return [_row(graph, reported.get(PAPER_NAME.get(graph.name, graph.name), {})) for graph in graphs]


def _row(graph: Graph, paper: dict[str, Any]) -> Row:
    train = len(graph.fixed_split.train) if graph.fixed_split else 0
    ours = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "label_rate": round(train / graph.num_nodes, 3),
    }
    name = PAPER_NAME.get(graph.name, graph.name)
    differing = [quantity for quantity in QUANTITIES if quantity in paper and paper[quantity] != ours[quantity]]
    return Row(
        name=graph.name,
        ours=ours,
        paper={quantity: paper[quantity] for quantity in QUANTITIES if quantity in paper},
        reasons={quantity: REASONS.get((name, quantity), NO_REASON) for quantity in differing},
        labels=int((graph.labels >= 0).sum()),
        note=graph.note,
        sha256=graph.sha256,
    )


def write_all(rows: Sequence[Row], stem: Path | str) -> None:
    """``stem`` + .csv, .md and .tex."""
    pairs = [column for quantity in QUANTITIES for column in (quantity, f"{quantity}_paper")]
    columns = ["dataset", *pairs, "labels", "reasons", "note", "graph_sha256"]
    write_csv(f"{stem}.csv", columns, map(csv_row, rows))
    for suffix, text in ((".md", as_markdown(rows)), (".tex", as_latex(rows))):
        write_text(f"{stem}{suffix}", text)


def csv_row(row: Row) -> dict[str, Any]:
    return {
        "dataset": row.name,
        **row.ours,
        **{f"{quantity}_paper": value for quantity, value in row.paper.items()},
        "labels": row.labels,
        "reasons": "; ".join(f"{HEADERS[quantity]}: {reason}" for quantity, reason in row.reasons.items()),
        "note": row.note,
        "graph_sha256": row.sha256,
    }


def as_markdown(rows: Sequence[Row]) -> str:
    notes = _Notes(rows)
    lines = [
        "| Dataset | " + " | ".join(f"{HEADERS[quantity]}, ours / paper" for quantity in QUANTITIES) + " | Labels |",
        "|---" + "|---:" * (len(QUANTITIES) + 1) + "|",
    ]
    for row in rows:
        cells = [
            _cell(row, quantity, "–") + notes.mark(row.reasons.get(quantity), "<sup>{}</sup>")
            for quantity in QUANTITIES
        ]
        name = row.label + notes.mark(row.note, "<sup>{}</sup>")
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {row.labels:,} |")
    lines += ["", *(f"<sup>{number}</sup> {_sentence(text)}  " for number, text in notes.numbered())]
    return "\n".join(lines).rstrip() + "\n"


def as_latex(rows: Sequence[Row]) -> str:
    notes = _Notes(rows)
    lines = [r"\begin{tabular}{l" + "r" * (len(QUANTITIES) + 1) + "}", r"\toprule"]
    lines.append("Dataset & " + " & ".join(HEADERS[quantity] for quantity in QUANTITIES) + r" & Labels \\")
    lines += [r" & \multicolumn{5}{c}{ours / paper} & \\", r"\midrule"]
    for row in rows:
        cells = [
            _cell(row, quantity, "--") + notes.mark(row.reasons.get(quantity), "$^{{{}}}$") for quantity in QUANTITIES
        ]
        name = _escape(row.label) + notes.mark(row.note, "$^{{{}}}$")
        lines.append(f"{name} & " + " & ".join(cells) + rf" & {row.labels:,} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize $^{{{number}}}$ {_escape(_sentence(text))}" for number, text in notes.numbered()]
    return "\n".join(lines) + "\n"


class _Notes:
    """Each different reason or note once, numbered in the order of the table."""

    def __init__(self, rows: Sequence[Row]) -> None:
        texts = [
            text for row in rows for text in (row.note, *(row.reasons.get(quantity) for quantity in QUANTITIES)) if text
        ]
        self._numbers = {text: number for number, text in enumerate(dict.fromkeys(texts), start=1)}

    def mark(self, text: str | None, template: str) -> str:
        return template.format(self._numbers[text]) if text else ""

    def numbered(self) -> list[tuple[int, str]]:
        return [(number, text) for text, number in self._numbers.items()]


def _cell(row: Row, quantity: str, absent: str) -> str:
    paper = row.paper.get(quantity)
    return f"{_number(quantity, row.ours[quantity])} / {absent if paper is None else _number(quantity, paper)}"


def _number(quantity: str, value: float) -> str:
    return f"{value:.3f}" if quantity == "label_rate" else f"{int(value):,}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _escape(text: str) -> str:
    return "".join("\\" + character if character in "&%$#_{}" else character for character in text)
