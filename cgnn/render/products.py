"""Read the finished tables and figures of a results tree, for the paper and the scorecard."""

import json
from pathlib import Path
from typing import Any

from cgnn.errors import UserError
from cgnn.render.catalogue import FIGURES, TABLES


def load_tables(results: Path) -> dict[str, dict[str, Any]]:
    """The tables of the run that have rows, in the order of the catalogue."""
    paths = {name: results / "tables" / f"{name}.json" for name in TABLES}
    found = {name: _json(path) for name, path in paths.items() if path.is_file()}
    return {name: table for name, table in found.items() if table["rows"]}


def load_figures(results: Path) -> dict[str, dict[str, Any]]:
    """Title, caption and alternative text of the figures of the run that show data."""
    found = {}
    for name in FIGURES:
        words, picture = results / "figures" / f"{name}.json", results / "figures" / f"{name}.svg"
        if words.is_file() and picture.is_file():
            found[name] = _json(words)
    return {name: content for name, content in found.items() if not content.get("empty", False)}


def load_claims(results: Path) -> dict[str, Any] | None:
    path = results / "claims.json"
    return _json(path) if path.is_file() else None


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}: not JSON ({error}); delete it and run snakemake again") from error
