"""A table in Markdown, as GitHub shows it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cgnn.render.table import Cell, Table


def markdown_of(table: "Table") -> str:
    """Caption, one pipe table with one bold line per group, notes."""
    lines = [f"**{table.title}.** {table.caption}", ""]
    lines += [
        _line([escape(name) for name in (table.corner, *table.columns)]),
        _line(["---"] * (len(table.columns) + 1)),
    ]
    group = ""
    for row in table.rows:
        if row.group != group:
            group = row.group
            lines.append(_line([f"**{escape(group)}**", *[""] * len(table.columns)]))
        lines.append(_line([escape(row.label), *(_cell(row.cells.get(column)) for column in table.columns)]))
    if table.notes:
        lines += ["", *(f"- {note}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _cell(cell: "Cell | None") -> str:
    if cell is None:
        return "–"
    text = f"**{escape(cell.text)}**" if cell.bold else escape(cell.text)
    if cell.missing:
        text = f"{text} ({escape(cell.missing)})"
    return "<br>".join([text, *map(escape, cell.under)])


def escape(text: str) -> str:
    """Escape plain text for a cell of a pipe table, so that it cannot end the cell, start HTML or become emphasis."""
    for character in "\\|*_`<>":
        text = text.replace(character, "\\" + character)
    return text.replace("\n", " ")


def _line(parts: list[str]) -> str:
    return "| " + " | ".join(parts) + " |"
