"""A run keeps the code and the config it was started with: a copy that its jobs import, whatever is edited."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cgnn.errors import UserError

#: What jobs read of the project: the package, the paper's numbers and text, and the workflow itself, which a
#: cluster's job parses again when its turn comes.
FROZEN = ("cgnn", "paper", "workflow", "config.yaml", "environment.yml")
SKIPPED = ("__pycache__", ".snakemake")
CONFIG = "resolved_config.json"


def frozen_path(project: Path, results: str, config: Mapping[str, Any]) -> Path:
    """Where the copy of this very code and config lives; the same content has the same place."""
    digest = hashlib.sha256(_dump(config).encode())
    for path in _files(project):
        digest.update(f"\0{path.relative_to(project)}\0".encode() + path.read_bytes())
    return Path(results).absolute() / ".code" / digest.hexdigest()[:16]


def freeze(project: Path, target: Path, results: str, config: Mapping[str, Any]) -> None:
    """Make the copy, whole or not at all. ``target`` was computed when the DAG was planned."""
    if frozen_path(project, results, config) != target:
        raise UserError("the code was edited while the DAG was being planned; run the same command again")
    if target.is_dir():
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=target.parent, prefix=".partial-"))
    except OSError as error:
        raise UserError(
            f"{target.parent}: could not be written ({error.strerror}). Correct its permissions or choose another "
            "folder with the config key `results`, then run the same command again."
        ) from error
    try:
        for path in _files(project):
            copy = partial / path.relative_to(project)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
        (partial / CONFIG).write_text(_dump(config), encoding="utf-8")
        partial.chmod(0o755)
        os.rename(partial, target)
    except OSError as error:
        if not target.is_dir():  # else another run froze the same code a moment earlier
            raise UserError(
                f"{target}: could not be written ({error.strerror}). Free some space and try again."
            ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def frozen_config(code: Path) -> dict[str, Any]:
    """The config a frozen run was started with."""
    return json.loads((code / CONFIG).read_text(encoding="utf-8"))


def _dump(config: Mapping[str, Any]) -> str:
    return json.dumps(config, sort_keys=False, indent=1)


def _files(project: Path) -> list[Path]:
    found: list[Path] = []
    for name in FROZEN:
        top = project / name
        candidates = [top] if top.is_file() else top.rglob("*")
        found += [path for path in candidates if path.is_file() and not set(path.parts) & set(SKIPPED)]
    return sorted(path for path in found if not path.name.startswith(".partial-"))
