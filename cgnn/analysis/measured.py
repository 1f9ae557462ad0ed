"""Reading measured times: profiles.csv, and the benchmark's JSON."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.errors import UserError


def load_profiles(path: Path | str) -> pd.DataFrame:
    """profiles.csv: a row a point."""
    try:
        profiles = pd.read_csv(path)
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=["dataset", "method", "value", "status", "peak_bytes", "seconds_per_epoch"])
    missing = [name for name in ("dataset", "method", "value", "status", "peak_bytes") if name not in profiles.columns]
    if missing:
        raise UserError(f"{path}: column {missing[0]!r} is missing; expected the aggregate of `python -m cgnn profile`")
    return profiles


def seconds_list(row: Any) -> list[float]:
    """The single timings of a profile's row, however the CSV holds the list; else its median alone."""
    text = str(row.get("seconds", "")).strip().strip("[]")
    numbers = [part for part in text.replace(";", " ").replace(",", " ").split() if part.lower() != "nan"]
    if numbers:
        return [float(part) for part in numbers]
    return [float(row["seconds_per_epoch"])]


def load_bench(path: Path | str | None) -> list[dict[str, Any]]:
    """Rows of the benchmark's JSON; a file that is not there has none."""
    if path is None or not Path(path).is_file():
        return []
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}: not JSON ({error}); run `make bench` again") from error
    rows = content.get("rows", []) if isinstance(content, dict) else content
    return [row for row in rows if isinstance(row, dict)]


def bench_name(row: dict[str, Any]) -> str:
    """A row's method as profiles name it: model and recipe, ``cgnn_released``, ``cgnn_exact``, ``gcn``."""
    model = str(row.get("model") or row.get("name") or "")
    recipe = str(row.get("recipe") or row.get("solver") or "")
    return f"{model}_{recipe}" if recipe and model.startswith("cgnn") and not model.endswith(recipe) else model


def bench_seconds(rows: list[dict[str, Any]], dataset: str, method: str) -> list[float]:
    """Seconds an epoch of one method, each repeat or the median."""
    for row in rows:
        if row.get("dataset") == dataset and bench_name(row) == method and row.get("ms_per_epoch") is not None:
            repeats = row.get("ms") or row.get("repeats_ms") or [row["ms_per_epoch"]]
            return [float(value) / 1000 for value in repeats] if isinstance(repeats, list) else [row["ms_per_epoch"] / 1000]
    return []
