"""Replicas that another file holds already: the same in all that decides them, under another name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cgnn.results.collect import read_rows
from cgnn.results.schema import RESULTS

Inputs = Mapping[int, Mapping[str, Any]]


def equal_replicas(files: Sequence[Path], inputs: Inputs) -> dict[int, dict[str, Any]]:
    """Entries as a training journals them, for the replicas that ended well with just these inputs.

    All must agree but the variant, which is a name: code, data, split, settings, seed, versions, device, threads.
    No time was spent on them here, so their seconds are 0.
    """
    wanted = {replica: _texts(columns) for replica, columns in inputs.items()}
    found: dict[int, dict[str, Any]] = {}
    for path in files:
        for row in read_rows(path)[1]:
            replica = int(row["replica"])
            if row["status"] == "ok" and wanted.get(replica) == {key: row.get(key) for key in wanted.get(replica, ())}:
                found[replica] = {"results": {name: _value(name, row[name]) for name in RESULTS}, "seconds": 0.0}
    return found


def _texts(columns: Mapping[str, Any]) -> dict[str, str]:
    """As they stand in a CSV file."""
    return {key: str(value) for key, value in columns.items() if key != "variant"}


def _value(name: str, text: str) -> Any:
    return text if name == "status" else int(text) if name == "best_epoch" else float(text)
