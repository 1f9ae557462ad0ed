"""Convert the Markdown of the findings to blocks of plain values that Typst can render."""

import re
from typing import Any

RUN = re.compile(r"\*\*(?P<strong>.+?)\*\*|`(?P<code>.+?)`|\[(?P<link>[^\[\]]+)\]\((?P<to>.+?)\)", re.DOTALL)


def blocks_of(markdown: str) -> list[dict[str, Any]]:
    """Headings, list items and paragraphs, each with its level and its runs (kind and text)."""
    found: list[tuple[str, int, list[str]]] = []
    level, continues = 0, False  # whether a line of text belongs to the last block
    for line in markdown.splitlines():
        if heading := re.fullmatch(r"(#+) (.+)", line):
            level, continues = len(heading[1]), False
            found.append(("heading", level, [heading[2]]))
        elif item := re.fullmatch(r"- (.+)", line):
            level, continues = 0, True
            found.append(("item", level, [item[1]]))
        elif not line.strip():
            continues = False
        elif continues:
            found[-1][2].append(line.strip())
        else:
            continues = True
            found.append(("paragraph", level, [line.strip()]))
    return [{"kind": kind, "level": level, "runs": runs_of(" ".join(lines))} for kind, level, lines in found]


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
