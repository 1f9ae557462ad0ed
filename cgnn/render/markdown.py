"""A table in Markdown, as GitHub shows it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cgnn.render.table import Cell, Table


def markdown_of(table: "Table") -> str:
    """Caption, one pipe table with a bold line a group, notes."""
    lines = [f"**{table.title}.** {table.caption}", ""]
    lines += [_line([table.corner, *table.columns]), _line(["---"] * (len(table.columns) + 1))]
    group = ""
    for row in table.rows:
        if row.group != group:
            group = row.group
            lines.append(_line([f"**{group}**", *[""] * len(table.columns)]))
        lines.append(_line([row.label, *(_cell(row.cells.get(column)) for column in table.columns)]))
    if table.notes:
        lines += ["", *(f"- {note}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _cell(cell: "Cell | None") -> str:
    if cell is None:
        return "–"
    text = f"**{cell.text}**" if cell.bold else cell.text
    if cell.missing:
        text = f"{text} ({cell.missing})"
    return "<br>".join([text, *cell.under])


def _line(parts: list[str]) -> str:
    return "| " + " | ".join(part.replace("|", "\\|") for part in parts) + " |"
