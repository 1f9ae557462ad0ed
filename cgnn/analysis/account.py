"""What a results tree cost and what produced it, read from its files."""

from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.models import names

#: Readable names of the stages in seconds.csv.
STAGES = {
    "runs": "tables of accuracies and residual GCN",
    "sweeps": "sweeps of depth and time",
    "fidelity": "changed switches",
    "curves": "learning curves that no table shows",
    "search": "hyperparameter search",
}
AGGREGATES = ("runs", "sweeps", "fidelity")
#: The columns of the aggregates that say what produced a row.
COLUMNS = [
    *("dataset", "model", "sw_solver", "code_fingerprint", "graph_sha256", "split_sha256"),
    *("versions", "device", "threads"),
]


def cost(results: Path) -> list[dict[str, Any]]:
    """One entry per stage: trainings, epochs and hours; None where they were not recorded."""
    times = read(results / "seconds.csv")
    stages = []
    for stage, what in STAGES.items():
        rows = pd.DataFrame() if times is None else times[times["stage"] == stage]
        if len(rows):
            stages.append(_stage(what, len(rows), _epochs(results, stage), float(rows["seconds"].sum()) / 3600))
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
                "model": names.model(str(item["model"])),
                "solver": "" if pd.isna(item["sw_solver"]) else str(item["sw_solver"]),
                "fingerprint": item["code_fingerprint"],
            }
            for item in code.sort_values(["model", "sw_solver"]).to_dict("records")
        ],
        "graphs": [
            {"dataset": names.dataset(str(item.dataset)), "sha256": str(item.graph_sha256)}
            for item in graphs.sort_values("dataset").itertuples()
        ],
        "splits": int(rows["split_sha256"].nunique()),
        "rows": {name: len(frame) for name, frame in frames.items()},
    }


def read(path: Path) -> pd.DataFrame | None:
    """The file as a frame, or None if it does not exist or is empty."""
    try:
        return pd.read_csv(path, low_memory=False)
    except (FileNotFoundError, pd.errors.EmptyDataError):
        return None


def _epochs(results: Path, stage: str) -> int | None:
    """The epochs of the stage's rows; None for a search, whose trials do not record them."""
    rows = read(results / f"{stage}.csv")
    return None if rows is None or "epochs" not in rows else int(rows["epochs"].sum())


def _stage(what: str, count: int, epochs: int | None, hours: float | None) -> dict[str, Any]:
    return {"what": what, "count": count, "epochs": epochs, "hours": hours}
