"""Concatenate result files after checking that each is complete and that their rows belong together."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cgnn.datasets.splits import load_split
from cgnn.errors import UserError
from cgnn.results.chunks import Chunk
from cgnn.results.schema import BELONGING, IDENTITY, SECONDS_COLUMNS, check_rows

Row = dict[str, Any]

PROFILE_COLUMNS = (
    *("dataset", "method", "model", "axis", "value", "status", "epochs_timed", "seconds_per_epoch", "seconds"),
    *("peak_bytes", "memory_counter", "device", "threads", "code_fingerprint", "versions"),
)
STAGES = ("runs", "sweeps", "fidelity", "curves", "search")
#: The folders of a search below search/.
SEARCH = ("dataset", "split_kind", "model", "preset")
AGAIN = "Delete it and run the same snakemake command again, which recomputes it."


def collect_runs(files: Sequence[Path]) -> tuple[list[str], list[Row]]:
    """All rows of training files, in the order of the files."""
    columns: list[str] = []
    rows: list[Row] = []
    origin: list[Path] = []
    for path in files:
        header, found = read_rows(path)
        columns = columns or header
        if header != columns:
            raise UserError(f"{path}: its columns differ from those of {files[0]}. {AGAIN}")
        _check_replicas(path, found)
        check_rows(path, found)
        rows += found
        origin += [path] * len(found)
    _check_belonging(rows, origin)
    return columns, rows


def collect_seconds(files: Sequence[Path]) -> tuple[list[str], list[Row]]:
    """The times of all trainings and trials by stage; no result is computed from them."""
    rows: list[Row] = []
    for path in files:
        stage = next(part for part in reversed(path.parts) if part in STAGES)
        search = dict(zip(SEARCH, path.parts[-5:-1], strict=True)) if stage == "search" else {}
        rows += [{"stage": stage, **search, **row} for row in read_rows(path)[1]]
    return ["stage", *SECONDS_COLUMNS], rows


def collect_trials(files: Sequence[Path]) -> tuple[list[str], list[Row]]:
    """Trials of all searches, identified by their paths search/DATASET/SPLIT/MODEL/PRESET/trials.csv."""
    columns, rows = [*SEARCH], []
    for path in files:
        header, found = read_rows(path)
        columns += [name for name in header if name not in columns]
        rows += [{**dict(zip(SEARCH, path.parts[-5:-1], strict=True)), **row} for row in found]
    return columns, rows


def collect_profiles(files: Sequence[Path]) -> tuple[list[str], list[Row]]:
    """Profile points as rows; the individual times are a list in one column."""
    rows = []
    for path in files:
        try:
            point = json.loads(path.read_text(encoding="utf-8"))
            rows.append({name: "" if point[name] is None else point[name] for name in PROFILE_COLUMNS})
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: damaged: not a profile ({error!r}). {AGAIN}") from error
    return list(PROFILE_COLUMNS), rows


def check_splits(rows: Sequence[Row], folder: Path) -> None:
    """Refuse a row whose split is not the one in ``folder``, which the rule ``make_split`` wrote."""
    hashes: dict[Path, str] = {}
    for row in rows:
        path = folder / row["dataset"] / f"{row['split']}.json"
        if path not in hashes:
            hashes[path] = load_split(path).sha256
        if hashes[path] != row["split_sha256"]:
            raise UserError(
                f"{path}: its hash is {hashes[path]}, but replica {row['replica']} of {row['model']} was trained on "
                f"{row['split_sha256']}. Run the same snakemake command again; it recomputes what is out of date."
            )


def read_rows(path: Path) -> tuple[list[str], list[Row]]:
    """The rows of a CSV file as text, or an error if the file is truncated."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `snakemake` to create it") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: damaged: not text ({error}). {AGAIN}") from error
    reader = csv.DictReader(io.StringIO(text))
    rows = list(reader)
    header = list(reader.fieldnames or [])
    cut = not text.endswith("\n") or any(None in row or None in row.values() for row in rows)
    if not rows or cut:
        raise UserError(f"{path}: damaged: it ends in the middle ({len(rows)} rows, {len(text)} characters). {AGAIN}")
    return header, rows


def _check_replicas(path: Path, rows: list[Row]) -> None:
    """Check that a chunk contains exactly the replicas in its name."""
    chunk = Chunk.of(path)
    if chunk is not None:
        found = [row.get("replica") for row in rows]
        if found != [str(replica) for replica in range(chunk.first, chunk.last + 1)]:
            raise UserError(
                f"{path}: damaged: found replicas {', '.join(map(str, found))}, "
                f"expected {chunk.first} to {chunk.last}. {AGAIN}"
            )


def _check_belonging(rows: list[Row], origin: list[Path]) -> None:
    seen: dict[tuple[str, ...], Path] = {}
    for row, path in zip(rows, origin, strict=True):
        identity = tuple(row[name] for name in IDENTITY)
        if identity in seen:
            raise UserError(
                f"{path}: replica {row['replica']} is already in {seen[identity]}. Delete one of the two files."
            )
        seen[identity] = path
    for keys, value, meaning in BELONGING:
        first: dict[tuple[str, ...], tuple[str, Path]] = {}
        for row, path in zip(rows, origin, strict=True):
            key = tuple(row[name] for name in keys)
            known, where = first.setdefault(key, (row[value], path))
            if known != row[value]:
                raise UserError(
                    f"{path} and {where}: their rows for {', '.join(key)} {meaning} ({value} {row[value]} and "
                    f"{known}), so they cannot be in one table. Run the same snakemake command again; it recomputes "
                    "what is out of date."
                )
