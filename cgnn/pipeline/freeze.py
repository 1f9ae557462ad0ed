"""Copy the code and the config when a run starts; its jobs use this copy even if the originals are edited."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cgnn.errors import UserError

#: The parts of the project that jobs read: the package, the paper's numbers and text, and the workflow itself, which a
#: cluster job parses again when it starts.
FROZEN = ("cgnn", "paper", "workflow", "config.yaml", "environment.yml")
SKIPPED = ("__pycache__", ".snakemake")
CONFIG = "resolved_config.json"


def frozen_path(project: Path, results: str, config: Mapping[str, Any]) -> Path:
    """The path of the copy of this code and config; the same content always has the same path."""
    return Path(results).absolute() / ".code" / _digest(project, _dump(config))


def freeze(project: Path, target: Path, results: str, config: Mapping[str, Any]) -> None:
    """Write the copy atomically. ``target`` was computed when the DAG was planned."""
    if frozen_path(project, results, config) != target:
        raise UserError("the code was edited while the DAG was being planned; run the same command again")
    if target.is_dir():
        check_frozen(target)
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


def check_frozen(code: Path) -> None:
    """Refuse a copy whose content does not match the hash in its name: a results folder may come from somebody else.

    Python looks in this folder first, so an additional file or a link could replace a module. Compiled modules are not
    part of the hash; they are deleted, and Python compiles them again.
    """
    links = []
    for folder, folders, files in os.walk(code):
        links += [name for name in (*folders, *files) if os.path.islink(os.path.join(folder, name))]
        if "__pycache__" in folders and "__pycache__" not in links:
            shutil.rmtree(os.path.join(folder, "__pycache__"), ignore_errors=True)
            folders.remove("__pycache__")
    config = code / CONFIG
    strange = [*links, *(path.name for path in code.iterdir() if path.name not in (*FROZEN, CONFIG))]
    if strange or not config.is_file() or _digest(code, config.read_text(encoding="utf-8")) != code.name:
        raise UserError(
            f"{code}: this copy of the code was edited or damaged; its content does not have the hash in its name"
            f"{': ' if strange else ''}{', '.join(sorted(strange))}. Nothing was run. Delete this folder and run the "
            "same command again."
        )


def frozen_config(code: Path) -> dict[str, Any]:
    """The config with which a frozen run was started."""
    return json.loads((code / CONFIG).read_text(encoding="utf-8"))


def _digest(folder: Path, config: str) -> str:
    digest = hashlib.sha256(config.encode())
    for path in _files(folder):
        digest.update(f"\0{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _dump(config: Mapping[str, Any]) -> str:
    return json.dumps(config, sort_keys=False, indent=1)


def _files(project: Path) -> list[Path]:
    found: list[Path] = []
    for name in FROZEN:
        top = project / name
        found += [top] if top.is_file() else []
        for folder, folders, files in os.walk(top):
            folders[:] = [name for name in folders if name not in SKIPPED]
            found += [Path(folder, name) for name in files if not name.startswith(".partial-")]
    return sorted(path for path in found if path.is_file())
