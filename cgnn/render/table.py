"""A table as data: cells and the rows they come from. Written as CSV (one row per cell), Markdown, LaTeX and JSON."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cgnn.files import write_csv, write_text
from cgnn.render.latex import latex_of
from cgnn.render.markdown import markdown_of

#: The columns of a table's CSV after the names of row and column; missing values are left empty.
NUMBERS = (
    *("value", "std", "n", "low", "high", "paper", "paper_std"),
    *("difference", "difference_low", "difference_high", "p"),
)
COLUMNS = ("group", "row", "column", "text", *NUMBERS, "bold", "missing")


@dataclass(frozen=True)
class Cell:
    """The text of one cell, with smaller lines below it; its numbers; and the file and rows that they come from."""

    text: str
    under: tuple[str, ...] = ()
    bold: bool = False
    missing: str = ""  # why there is no number: not run, out of memory, diverged
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    file: str = ""  # the aggregate that holds its rows
    where: Mapping[str, Any] = field(default_factory=dict)  # their keys


@dataclass(frozen=True)
class Row:
    label: str
    cells: Mapping[str, Cell]  # by column
    group: str = ""


@dataclass(frozen=True)
class Table:
    """Rows may be in groups with headings; columns such as ``Cora, ours`` share the header ``Cora``."""

    name: str
    title: str
    caption: str
    corner: str  # heading of the column of row labels
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


EMPTY = Cell("–", missing="not run")


def write_table(table: Table, stem: Path | str) -> list[Path]:
    """Write all four files and return their paths."""
    write_csv(f"{stem}.csv", COLUMNS, csv_rows(table))
    written = {
        "md": markdown_of(table),
        "tex": latex_of(table),
        "json": json.dumps(plain(table), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n",
    }
    for suffix, text in written.items():
        write_text(f"{stem}.{suffix}", text)
    return [Path(f"{stem}.{suffix}") for suffix in ("csv", *written)]


def csv_rows(table: Table) -> Iterator[dict[str, Any]]:
    """One record per cell, for machines."""
    for row in table.rows:
        for column in table.columns:
            cell = row.cells.get(column, EMPTY)
            yield {
                "group": row.group,
                "row": row.label,
                "column": column,
                "text": cell.text,
                "bold": int(cell.bold),
                "missing": cell.missing,
                **{name: _number(value) for name, value in cell.numbers.items()},
            }


def plain(table: Table) -> dict[str, Any]:
    """The table as plain JSON values."""
    return {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "corner": table.corner,
        "columns": list(table.columns),
        "notes": list(table.notes),
        "rows": [
            {
                "label": row.label,
                "group": row.group,
                "cells": [_plain_cell(row.cells.get(column, EMPTY)) for column in table.columns],
            }
            for row in table.rows
        ],
    }


def _plain_cell(cell: Cell) -> dict[str, Any]:
    content = {
        name: value for name, value in asdict(cell).items() if name == "text" or value not in ("", (), {}, False)
    }
    if "numbers" in content:
        content["numbers"] = {name: _finite(value) for name, value in content["numbers"].items()}
    return content


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")


def _number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.6g}"
