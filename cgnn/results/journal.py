"""Store finished replicas until their file is complete, so that a killed job loses none of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cgnn.files import write_text


class Journal:
    """A folder ``<out>.journal/`` with one JSON file per replica; ``close`` removes it once the table is written.

    An entry is used only if all its inputs are unchanged: ``inputs`` contains the code's fingerprint, the hashes of
    data and split, every hyperparameter and switch, the versions, device and threads.
    """

    def __init__(self, out: Path | str) -> None:
        self.folder = Path(f"{out}.journal")

    def find(self, replica: int, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The entry of a replica that was finished earlier with exactly these inputs, or None."""
        try:
            entry = json.loads(self._path(replica).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return entry if isinstance(entry, dict) and entry.get("inputs") == _plain(inputs) else None

    def add(self, replica: int, inputs: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
        write_text(self._path(replica), json.dumps({"inputs": _plain(inputs), **entry}) + "\n")

    def close(self) -> None:
        if self.folder.is_dir():
            for path in self.folder.iterdir():
                path.unlink()
            self.folder.rmdir()

    def _path(self, replica: int) -> Path:
        return self.folder / f"{replica}.json"


def _plain(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(dict(inputs)))
