"""What a results tree cost and what produced it, from its own files."""

from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.models import names

#: By aggregate: what a reader calls it, and the folders of its jobs.
AGGREGATES = {
    "runs": ("main tables and residual GCN", ("runs", "residual")),
    "sweeps": ("sweeps of depth and time", ("sweeps",)),
    "fidelity": ("fidelity table, beyond runs of the main tables", ("fidelity",)),
}
REPLICA = ["dataset", "split", "model", "preset", "variant", "replica"]


def cost(results: Path) -> list[dict[str, Any]]:
    """One entry per stage: trainings, epochs, hours. Hours are None where no times were kept."""
    stages: list[dict[str, Any]] = []
    for name, (what, folders) in AGGREGATES.items():
        rows = read(results / f"{name}.csv")
        if rows is not None:
            times = _times([results / folder for folder in folders])
            if times is not None:
                rows = rows[~_keys(rows).isin(_keys(times[times["seconds"] == 0]))]  # taken from another stage
            seconds = None if times is None else float(times["seconds"].sum())
            stages.append(_stage(what, len(rows), rows.get("epochs"), seconds))
    trials = read(results / "trials.csv")
    if trials is not None:
        seconds = float(trials["seconds"].sum()) if "seconds" in trials else None
        stages.append(_stage("hyperparameter search", len(trials), None, seconds))
    profiles = read(results / "profiles.csv")
    if profiles is not None:
        stages.append(_stage("profiles of memory and time", len(profiles), None, None))
    return stages


def provenance(results: Path) -> dict[str, Any]:
    """Versions, devices, code and data behind the rows."""
    frames = {name: frame for name in AGGREGATES if (frame := read(results / f"{name}.csv")) is not None and len(frame)}
    if not frames:
        return {"versions": [], "devices": [], "threads": [], "code": [], "graphs": [], "splits": 0, "rows": {}}
    rows = pd.concat([frame.reindex(columns=COLUMNS) for frame in frames.values()], ignore_index=True)
    code = rows[["model", "sw_solver", "code_fingerprint"]].dropna(subset=["code_fingerprint"]).drop_duplicates()
    graphs = rows[["dataset", "graph_sha256"]].dropna().drop_duplicates()
    return {
        "versions": sorted({part for text in rows["versions"].dropna().unique() for part in str(text).split(";")}),
        "devices": sorted({str(item) for item in rows["device"].dropna()}),
        "threads": sorted({f"{item:g}" for item in rows["threads"].dropna()}),
        "code": [
            {
                "model": names.model(str(item.model)),
                "solver": _or_empty(item.sw_solver),
                "fingerprint": item.code_fingerprint,
            }
            for item in code.sort_values(["model", "sw_solver"]).itertuples()
        ],
        "graphs": [
            {"dataset": names.dataset(str(item.dataset)), "sha256": str(item.graph_sha256)}
            for item in graphs.sort_values("dataset").itertuples()
        ],
        "splits": int(rows["split_sha256"].nunique()),
        "rows": {name: len(frame) for name, frame in frames.items()},
    }


COLUMNS = [
    "dataset",
    "model",
    "sw_solver",
    "code_fingerprint",
    "graph_sha256",
    "split_sha256",
    "versions",
    "device",
    "threads",
]


def read(path: Path) -> pd.DataFrame | None:
    """The file as a frame, or None if it does not exist or is empty."""
    try:
        return pd.read_csv(path, low_memory=False)
    except (FileNotFoundError, pd.errors.EmptyDataError):
        return None


def _or_empty(value: object) -> str:
    return "" if value is None or value != value else str(value)


def _times(folders: list[Path]) -> pd.DataFrame | None:
    """Training times are kept in files beside the rows, since they differ from run to run."""
    files = [path for folder in folders for path in sorted(folder.rglob("*.seconds.csv"))]
    return pd.concat([pd.read_csv(path) for path in files], ignore_index=True) if files else None


def _keys(rows: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(rows[REPLICA].fillna("").astype(str))


def _stage(what: str, count: int, epochs: Any, seconds: float | None) -> dict[str, Any]:
    total = None if epochs is None else int(pd.to_numeric(epochs, errors="coerce").fillna(0).sum())
    return {"what": what, "count": count, "epochs": total, "hours": None if seconds is None else seconds / 3600}
