"""Rows of result files: reading, choosing a protocol, and comparing two groups, paired where possible."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cgnn.analysis.statistics import Difference, Sample, paired, welch
from cgnn.errors import UserError

NEEDED = ("dataset", "split_kind", "split", "model", "preset", "replica", "status", "test_accuracy")
OK = "ok"
#: Main tables and claims use the first of these protocols for which there are runs.
PROTOCOLS = (("search", "released"), ("published", "released"), ("search", "paper"), ("published", "paper"))


@dataclass(frozen=True)
class Protocol:
    """The source of the hyperparameters and the preset."""

    source: str
    preset: str

    def __str__(self) -> str:
        return f"{self.preset}/{self.source}"

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[(rows["hyperparameter_source"] == self.source) & (rows["preset"] == self.preset)]


def read_table(path: Path | str, needed: Sequence[str], advice: str, **options: Any) -> pd.DataFrame:
    """A CSV file of results, without rows if the file is empty; an error names a needed column that is missing."""
    try:
        table = pd.read_csv(path, **options)
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=list(needed))
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise UserError(f"{path}: column {missing[0]!r} is missing; {advice}")
    return table


def load_rows(path: Path | str) -> pd.DataFrame:
    """Read a runs, sweeps or fidelity file."""
    advice = "expected a file of `python -m cgnn train`"
    rows = read_table(path, NEEDED, advice, dtype={"split": str, "variant": str}, low_memory=False)
    if "hyperparameter_source" not in rows.columns:
        rows["hyperparameter_source"] = "published"
    if "variant" not in rows.columns:
        rows["variant"] = ""
    rows["variant"] = rows["variant"].fillna("")
    return rows


def protocols(rows: pd.DataFrame) -> list[Protocol]:
    """The protocols found in the rows, the main one first."""
    held = {tuple(pair) for pair in rows[["hyperparameter_source", "preset"]].drop_duplicates().itertuples(index=False)}
    ordered = [pair for pair in PROTOCOLS if pair in held] + sorted(held - set(PROTOCOLS))
    return [Protocol(*pair) for pair in ordered]


def choose_protocol(rows: pd.DataFrame, preset: str | None = None, source: str | None = None) -> Protocol:
    """The requested protocol, or the main one of those found in the rows."""
    held = protocols(rows)
    fitting = [p for p in held if (preset in (None, p.preset)) and (source in (None, p.source))]
    if not fitting:
        if preset or source:
            raise UserError(
                f"no runs with preset {preset or 'any'} and hyperparameters {source or 'any'}; "
                f"the file has {', '.join(map(str, held)) or 'no runs'}"
            )
        return Protocol(*PROTOCOLS[0])
    return fitting[0]


def cell(rows: pd.DataFrame, **where: object) -> pd.DataFrame:
    """The rows of one cell, in the order of their replicas."""
    keep = np.ones(len(rows), dtype=bool)
    for name, value in where.items():
        keep &= (rows[name] == value).to_numpy()
    return rows[keep].sort_values("replica", kind="stable")


def finished(rows: pd.DataFrame, column: str = "test_accuracy") -> pd.DataFrame:
    """The rows of finished runs that have a number in the column."""
    return rows[(rows["status"] == OK) & rows[column].notna()]


def sample(rows: pd.DataFrame, column: str = "test_accuracy") -> Sample:
    return Sample.of(finished(rows, column)[column].to_numpy(dtype=float))


def compare(a: pd.DataFrame, b: pd.DataFrame) -> Difference:
    """a − b: paired if the runs share their random split, or are variants of one model with one seed; else Welch."""
    for rows in (a, b):
        if "variant" in rows and rows["variant"].nunique() > 1:
            raise ValueError(f"a group of runs with several variants: {', '.join(sorted(set(rows['variant'])))}")
    pairs = paired_values(a, b)
    if pairs is not None:
        return paired(*pairs)
    return welch(*(finished(rows)["test_accuracy"].to_numpy(dtype=float) for rows in (a, b)))


def paired_values(a: pd.DataFrame, b: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """The accuracies of the runs that both groups finished, in pairs; None if there are fewer than two pairs."""
    a, b = finished(a), finished(b)
    key = _pairing_key(a, b)
    if key is None:
        return None
    left, right = a.set_index(key)["test_accuracy"], b.set_index(key)["test_accuracy"]
    common = left.index.intersection(right.index).sort_values()
    if len(common) < 2:
        return None
    return left.loc[common].to_numpy(dtype=float), right.loc[common].to_numpy(dtype=float)


def _pairing_key(a: pd.DataFrame, b: pd.DataFrame) -> str | None:
    if a.empty or b.empty:
        return None
    kinds = set(a["split_kind"]) | set(b["split_kind"])
    if len(kinds) == 1 and kinds != {"fixed"}:
        key = "split_sha256" if {"split_sha256"} <= set(a.columns) & set(b.columns) else "split"
        return key if a[key].is_unique and b[key].is_unique else None
    same_model = set(a["model"]) == set(b["model"]) and a["model"].nunique() == 1
    seeded = same_model and "seed" in a.columns and a["seed"].is_unique and b["seed"].is_unique
    return "seed" if seeded else None


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as plain values for ``write_csv``, with None for missing numbers."""
    plain = frame.astype(object)
    return plain.where(frame.notna(), None).to_dict("records")  # type: ignore[return-value]


def missing_reason(rows: pd.DataFrame) -> str:
    """Why a cell has no accuracy: it was not run, or how its runs ended."""
    if rows.empty:
        return "not run"
    states = [str(state) for state in rows["status"].unique()]
    return " / ".join(state.replace("_", " ") for state in sorted(states))


def in_order(found: Iterable[str], preferred: Iterable[str]) -> list[str]:
    """Names in the preferred order, followed by unknown ones in alphabetical order."""
    found = set(found)
    known = [name for name in dict.fromkeys(preferred) if name in found]
    return known + sorted(found - set(known))
