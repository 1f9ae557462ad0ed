"""The schema of a row: the columns that identify it, its results, and its provenance.

All code that writes, collects, groups or shows rows takes the column names from here.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgnn.errors import UserError
from cgnn.models import registry
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters, own_text
from cgnn.seeds import derive_seed

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph
    from cgnn.datasets.splits import Split
    from cgnn.training.experiment import Experiment
    from cgnn.training.replicas import Outcome

#: Columns that identify one cell of a table or point of a figure; its replicas share them.
CELL = ("dataset", "split_kind", "model", "preset", "hyperparameter_source", "variant")
#: Columns that identify one row: no two rows of a file may agree in all of these.
IDENTITY = (*CELL, "replica")
RESULTS = (
    "status",
    "validation_accuracy",
    "test_accuracy",
    "best_epoch",
    "test_last_best_validation",
    "test_final_epoch",
    "test_oracle",
    "final_train_loss",
)
ACCURACIES = tuple(name for name in RESULTS if name.startswith(("validation", "test")))
STATUSES = ("ok", "diverged", "out_of_memory")
SETTINGS = tuple(field.name for field in fields(Hyperparameters))
SWITCHES = tuple(f"sw_{field.name}" for field in fields(Fidelity))
PROVENANCE = ("seed", "code_fingerprint", "graph_sha256", "split_sha256", "versions", "device", "threads")
COLUMNS = (*CELL[:2], "split", *CELL[2:], "replica", *RESULTS, *SETTINGS, *SWITCHES, *PROVENANCE, "row_digest")
#: Times differ between runs, so they are in a separate file next to the rows.
SECONDS_COLUMNS = (*IDENTITY, "split", "seconds", "seconds_per_epoch")

#: (columns that agree, column that must then agree too, what a difference means)
BELONGING = (
    (("model", "sw_solver"), "code_fingerprint", "were computed by different code"),
    (("dataset",), "graph_sha256", "were computed on different graphs"),
    (("dataset", "split"), "split_sha256", "were computed on different splits"),
)


def inputs_of(
    experiment: "Experiment", graph: "Graph", split: "Split", replica: int, fingerprint: str, versions: str
) -> dict[str, Any]:
    """Every column of a row that is known before it is trained: identity, settings, provenance."""
    training = experiment.training
    settings = {**asdict(experiment.hyperparameters), "own": own_text(experiment.hyperparameters)}
    used = (*registry.entry(training.model).hyperparameters, "own")
    return {
        **{name: getattr(training, name) for name in CELL},
        "split": split.name,
        "replica": replica,
        **{key: value if key in used else "" for key, value in settings.items()},
        **{f"sw_{key}": value for key, value in asdict(experiment.fidelity).items()},
        "seed": derive_seed(training.dataset, split.name, training.model, replica, "init"),
        "code_fingerprint": fingerprint,
        "graph_sha256": graph.sha256,
        "split_sha256": split.sha256,
        "versions": versions,
        "device": experiment.device_name,
        "threads": experiment.threads,
    }


def results_of(outcome: "Outcome") -> dict[str, Any]:
    """The result columns of an ``Outcome``: plain values, empty unless it succeeded."""
    results: dict[str, Any] = dict.fromkeys(RESULTS, "")
    results["status"] = outcome.status
    if outcome.selected is not None and outcome.curves is not None:
        results |= asdict(outcome.selected)
        results["final_train_loss"] = float(outcome.curves.train_loss[-1])
    return results


def with_digest(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the digest of all its other columns, so that a value edited later is noticed."""
    return {**row, "row_digest": digest_of(row)}


def digest_of(row: Mapping[str, Any]) -> str:
    text = "\x1f".join(f"{name}={row.get(name, '')}" for name in COLUMNS if name != "row_digest")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_rows(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Refuse rows, read as text, whose values cannot be results or were edited; the first line of a file is 1."""
    for line, row in enumerate(rows, start=2):
        problem = _problem(row)
        if problem:
            raise UserError(
                f"{path}, line {line}: {problem}. Delete the file and run the same snakemake command again, which "
                "recomputes it."
            )


def _problem(row: Mapping[str, str]) -> str | None:
    if row["status"] not in STATUSES:
        return f"status: found {row['status']!r}, expected one of {', '.join(STATUSES)}"
    for name in RESULTS[1:]:
        text = row[name]
        if row["status"] != "ok":
            if text:
                return f"{name}: found {text!r} in a row with status {row['status']}, expected nothing"
            continue
        try:
            value = float(text)
        except ValueError:
            return f"{name}: found {text!r}, expected a number"
        if not math.isfinite(value) or (name in ACCURACIES and not 0 <= value <= 100):
            expected = "a percentage from 0 to 100" if name in ACCURACIES else "a finite number"
            return f"{name}: found {text}, expected {expected}"
    if row["row_digest"] != digest_of(row):
        return f"row_digest: found {row['row_digest']}, but the row's values give {digest_of(row)}: a value was edited"
    return None


def seconds_path(out: Path | str) -> Path:
    return Path(out).with_suffix(".seconds.csv")


def recorded_path(out: Path | str) -> Path:
    return Path(out).with_suffix(".npz")
