"""The finished tables and figures of a results tree, as the paper and the scorecard read them."""

import csv
import json
from pathlib import Path
from typing import Any

from cgnn.errors import UserError
from cgnn.render.catalogue import FIGURES, TABLES


def load_tables(results: Path) -> dict[str, dict[str, Any]]:
    """Those that are there, in the catalogue's order, Table 1 first."""
    found = {}
    if (results / "tables" / "datasets.csv").is_file():
        found["datasets"] = _datasets(results / "tables" / "datasets.csv")
    for name in TABLES:
        path = results / "tables" / f"{name}.json"
        if path.is_file():
            found[name] = _json(path)
    return found


def load_figures(results: Path) -> dict[str, dict[str, Any]]:
    """Title, caption and alternative text of those that are there."""
    found = {}
    for name in FIGURES:
        words, picture = results / "figures" / f"{name}.json", results / "figures" / f"{name}.svg"
        if words.is_file() and picture.is_file():
            found[name] = _json(words)
    return found


def load_claims(results: Path) -> dict[str, Any] | None:
    path = results / "claims.json"
    return _json(path) if path.is_file() else None


def _json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}: not JSON ({error}); delete it and run snakemake again") from error


def _datasets(path: Path) -> dict[str, Any]:
    """Table 1 has a CSV of its own shape: a row a dataset, each quantity beside the paper's."""
    with open(path, encoding="utf-8", newline="") as stream:
        records = list(csv.DictReader(stream))
    header = list(records[0]) if records else []
    quantities = [name for name in header if f"{name}_paper" in header]
    notes: list[str] = []
    rows = []
    for record in records:
        cells = []
        for quantity in quantities:
            ours, paper = record[quantity], record[f"{quantity}_paper"]
            cell: dict[str, Any] = {"text": _grouped(ours)}
            if paper:
                cell["under"] = [f"paper {_grouped(paper)}"]
            cells.append(cell)
        rows.append({"label": _label(record["dataset"]), "group": "", "cells": cells})
        for note in (record.get("reasons", ""), record.get("note", "")):
            if note and (text := f"{_label(record['dataset'])}. {note}") not in notes:
                notes.append(text)
    return {
        "name": "datasets",
        "title": "Table 1, statistics of datasets",
        "caption": "The graphs as loaded, and under them the paper's numbers.",
        "corner": "Dataset",
        "columns": [name.replace("_", " ") for name in quantities],
        "rows": rows,
        "notes": notes,
    }


def _label(name: str) -> str:
    from cgnn.models import names

    return names.dataset(name)


def _grouped(text: str) -> str:
    return f"{int(text):,}" if text.isdigit() else text
