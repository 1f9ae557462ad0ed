"""Convert the Markdown of the findings to blocks of plain values that Typst can render."""

import re
from typing import Any

RUN = re.compile(r"\*\*(?P<strong>.+?)\*\*|`(?P<code>.+?)`|\[(?P<link>.+?)\]\((?P<to>.+?)\)", re.DOTALL)


def blocks_of(markdown: str) -> list[dict[str, Any]]:
    """Headings, list items and paragraphs, each with its level and its runs (kind and text)."""
    found: list[dict[str, Any]] = []
    lines: list[str] = []
    kind = ""

    def close() -> None:
        if lines:
            found.append({"kind": kind, "level": level, "runs": runs_of(" ".join(lines))})
            lines.clear()

    level = 0
    for line in markdown.splitlines():
        heading = re.fullmatch(r"(#+) (.+)", line)
        item = re.fullmatch(r"- (.+)", line)
        if heading or item or not line.strip():
            close()
            kind = ""
        if heading:
            kind, level = "heading", len(heading[1])
            lines.append(heading[2])
            close()
        elif item:
            kind, level = "item", 0
            lines.append(item[1])
        elif line.strip():
            kind = kind or "paragraph"
            lines.append(line.strip())
    close()
    return found


def runs_of(text: str) -> list[dict[str, str]]:
    """Plain, strong, code and link runs of one block; a link keeps its text."""
    runs, end = [], 0
    for match in RUN.finditer(text):
        if match.start() > end:
            runs.append({"kind": "plain", "text": text[end : match.start()]})
        kind = next(name for name in ("strong", "code", "link") if match[name])
        runs.append({"kind": kind, "text": match[kind]})
        end = match.end()
    if end < len(text):
        runs.append({"kind": "plain", "text": text[end:]})
    return runs
