"""Reading measured times: profiles.csv, and the benchmark's JSON."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cgnn.analysis.rows import read_table
from cgnn.errors import UserError
from cgnn.models import names

#: CGNN with a solver that someone who follows the paper would use, the authors' first.
GENERAL = ("cgnn_released", "cgnn_dopri5", "cgnn_adjoint")
#: Implementations of GCN by method. Profiles time PyG's propagation with the encoder of this project, ``gcn_ours``.
GCNS = {
    "gcn": "PyG's GCN with dense features",
    "gcn_pyg_sparse": "PyG's GCN with sparse features",
    "gcn_ours": "PyG's GCN with our sparse encoder",
    "gcn_fused": "our fastest GCN",
}


def load_profiles(path: Path | str) -> pd.DataFrame:
    """profiles.csv: one row per point."""
    needed = ("dataset", "method", "value", "status", "peak_bytes")
    return read_table(path, needed, "expected the aggregate of `python -m cgnn profile`")


def nearest(points: pd.DataFrame, value: float) -> pd.Series:
    """The row of profiles.csv that was measured nearest to ``value`` layers or ending time."""
    return points.iloc[int(np.argmin(np.abs(points["value"].to_numpy(dtype=float) - value)))]


def seconds_list(row: Any) -> list[float]:
    """The individual timings of a row of profiles.csv."""
    return [float(seconds) for seconds in json.loads(row["seconds"])]


def load_bench(path: Path | str | None) -> list[dict[str, Any]]:
    """Epoch times in the benchmark's JSON (dataset, threads, model, recipe, ms_per_epoch, ms), if the file exists."""
    if path is None or not Path(path).is_file():
        return []
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}: not JSON ({error}); run `make bench` again") from error
    rows = content.get("rows", []) if isinstance(content, dict) else content
    return [row for row in rows if isinstance(row, dict) and row.get("ms_per_epoch") is not None and row.get("model")]


def bench_name(row: dict[str, Any]) -> str:
    """A row's method by its name in profiles.csv: ``cgnn_released``, ``cgnn_adjoint``; PyG's GCN is ``gcn``."""
    model, recipe = str(row["model"]), str(row.get("recipe") or "")
    recipe = "adjoint" if recipe == "dopri5_adjoint" else recipe
    return model if recipe in ("", "pyg") else f"{model}_{recipe}"


def bench_label(method: str) -> str:
    """The label of a method of the benchmark, which times several implementations of a baseline."""
    if method.endswith("_floor"):
        return f"{names.model(method.removesuffix('_floor'))}, bare sparse products"
    return f"{names.method(method)}, PyG" if method in ("gcn", "gat") else names.method(method)


def most_threads(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows at the largest number of threads; times at different numbers are never divided by each other."""
    top = max((row.get("threads", 1) for row in rows), default=1)
    return [row for row in rows if row.get("threads", 1) == top]


def bench_seconds(rows: list[dict[str, Any]], dataset: str, method: str) -> list[float]:
    """Seconds per epoch of one method: all repeats, or the median if the repeats were not kept."""
    for row in most_threads(rows):
        if row.get("dataset") == dataset and bench_name(row) == method:
            return [float(value) / 1000 for value in row.get("ms") or [row["ms_per_epoch"]]]
    return []


def load_trials(path: Path | str) -> pd.DataFrame:
    """trials.csv: one row per trial, with the ``mean`` over the replicas of round two for the finalists.

    Searches with one round lack that column; there the mean is the value of the single replica.
    """
    trials = pd.read_csv(path)
    return trials if "mean" in trials.columns else trials.assign(mean=trials["objective"])
