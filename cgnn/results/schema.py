"""The files a training leaves: runs.csv, its seconds beside it, and on request the curves and the learned α."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgnn.files import atomic_path, write_csv
from cgnn.models import registry
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters, own_text
from cgnn.seeds import derive_seed

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph
    from cgnn.datasets.splits import Split
    from cgnn.training.experiment import Experiment

IDENTITY = ("dataset", "split_kind", "split", "model", "preset", "hyperparameter_source", "variant", "replica")
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
COLUMNS = (
    *IDENTITY,
    *RESULTS,
    *(field.name for field in fields(Hyperparameters)),
    *(f"sw_{field.name}" for field in fields(Fidelity)),
    *("seed", "code_fingerprint", "graph_sha256", "split_sha256", "versions", "device", "threads"),
)
SECONDS_COLUMNS = ("dataset", "split", "model", "preset", "variant", "replica", "seconds", "seconds_per_epoch")


def results_of(outcome: Any) -> dict[str, Any]:
    """The result columns of an ``Outcome``: plain values, empty unless it ended well."""
    results: dict[str, Any] = dict.fromkeys(RESULTS, "")
    results["status"] = outcome.status
    if outcome.selected is not None:
        results |= asdict(outcome.selected)
        results["final_train_loss"] = float(outcome.curves.train_loss[-1])
    return results


def inputs_of(
    experiment: "Experiment", graph: "Graph", split: "Split", replica: int, fingerprint: str, versions: str
) -> dict[str, Any]:
    """Every column of a row that is known before it is trained: identity, settings, provenance."""
    settings = {**asdict(experiment.hyperparameters), "own": own_text(experiment.hyperparameters)}
    used = (*registry.entry(experiment.model).hyperparameters, "own")
    return {
        "dataset": experiment.dataset,
        "split_kind": experiment.split_kind,
        "split": split.name,
        "model": experiment.model,
        "preset": experiment.preset,
        "hyperparameter_source": experiment.source,
        "variant": experiment.variant,
        "replica": replica,
        **{key: value if key in used else "" for key, value in settings.items()},
        **{f"sw_{field.name}": getattr(experiment.fidelity, field.name) for field in fields(Fidelity)},
        "seed": derive_seed(experiment.dataset, split.name, experiment.model, replica, "init"),
        "code_fingerprint": fingerprint,
        "graph_sha256": graph.sha256,
        "split_sha256": split.sha256,
        "versions": versions,
        "device": experiment.device_name,
        "threads": experiment.threads,
    }


def seconds_path(out: Path | str) -> Path:
    """Times differ from run to run, so they live beside ``runs.csv`` and not in it."""
    return Path(out).with_suffix(".seconds.csv")


def write_curves(path: Path | str, curves: Mapping[int, Mapping[str, Sequence[float]]]) -> None:
    """One line an epoch and replica; epochs count from 1."""
    columns = ("train_loss", "validation_accuracy", "test_accuracy")
    rows = (
        {"replica": replica, "epoch": epoch, **dict(zip(columns, values, strict=True))}
        for replica, by_name in sorted(curves.items())
        for epoch, values in enumerate(zip(*(by_name[name] for name in columns), strict=True), start=1)
    )
    write_csv(path, ("replica", "epoch", *columns), rows)


def write_alpha(path: Path | str, alpha: Mapping[int, Sequence[float]], edges: np.ndarray, num_nodes: int) -> None:
    """α (R, n) in the order of the replicas, and each node's degree (n,)."""
    degree = np.bincount(edges.ravel(), minlength=num_nodes)
    stacked = np.array([alpha[replica] for replica in sorted(alpha)], dtype=np.float32).reshape(-1, num_nodes)
    with atomic_path(path) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, alpha=stacked, degree=degree, replica=np.array(sorted(alpha)), allow_pickle=False)
