"""What a training records besides its rows: learning curves, and the learned α of models that have one.

Each job writes one npz without pickles; ``collect_recorded`` joins those that a figure shows into one of the same form.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cgnn.errors import UserError
from cgnn.files import atomic_path

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph
    from cgnn.training.record import Training
    from cgnn.training.replicas import Outcome

CURVES = ("train_loss", "validation_accuracy", "test_accuracy")


@dataclass(frozen=True, eq=False)
class Recorded:
    """Data of successful replicas: curves (R, epochs), accuracies in percent; α (R, n), or (R, 0) without α."""

    dataset: str
    model: str
    replica: np.ndarray
    train_loss: np.ndarray
    validation_accuracy: np.ndarray
    test_accuracy: np.ndarray
    alpha: np.ndarray
    degree: np.ndarray  # (n,)


ARRAYS = tuple(field.name for field in fields(Recorded))[2:]


def recording_of(outcome: "Outcome") -> dict[str, Any] | None:
    """Curves and α of one replica as plain lists, as the journal keeps them."""
    if outcome.curves is None:
        return None
    curves = {name: getattr(outcome.curves, name).tolist() for name in CURVES}
    return {**curves, "alpha": [] if outcome.alpha is None else outcome.alpha.tolist()}


def record(training: "Training", graph: "Graph", recordings: Mapping[int, Mapping[str, Any]]) -> Recorded:
    """The recordings of a training's replicas, by replica."""
    replicas = sorted(recordings)
    stacked = {
        name: np.array([recordings[replica][name] for replica in replicas] or np.empty((0, 0)), dtype=np.float32)
        for name in (*CURVES, "alpha")
    }
    degree = np.bincount(graph.edges.ravel(), minlength=graph.num_nodes)
    return Recorded(training.dataset, training.model, np.array(replicas, dtype=np.int64), degree=degree, **stacked)


def write_recorded(path: Path | str, recorded: Iterable[Recorded]) -> None:
    """Write the npz. Equal recordings give equal bytes, because NumPy sets the dates of all members to 1980."""
    arrays = {f"{item.dataset}/{item.model}/{name}": getattr(item, name) for item in recorded for name in ARRAYS}
    with atomic_path(path) as temporary, open(temporary, "wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)  # type: ignore[arg-type]


def read_recorded(path: Path | str) -> list[Recorded]:
    """Read a file that ``write_recorded`` wrote: one item per dataset and model."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            keys = dict.fromkeys(name.rpartition("/")[0] for name in arrays.files)
            return [
                Recorded(*key.split("/"), **{name: arrays[f"{key}/{name}"] for name in ARRAYS})  # type: ignore[misc]
                for key in keys
            ]
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `snakemake` to create it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path}: damaged: not the recordings of a training ({error}). Delete it and run the same snakemake "
            "command again, which recomputes it."
        ) from error


def collect_recorded(files: Iterable[Path], out: Path) -> int:
    """Join recordings by dataset and model, and return the number of models."""
    found: dict[tuple[str, str], list[Recorded]] = {}
    for path in files:
        for item in read_recorded(path):
            found.setdefault((item.dataset, item.model), []).append(item)
    joined = []
    for (dataset, model), parts in found.items():
        full = [part for part in parts if len(part.replica)]
        stacked = {name: np.concatenate([getattr(p, name) for p in full or parts]) for name in ARRAYS[:-1]}
        joined.append(Recorded(dataset, model, degree=parts[0].degree, **stacked))
    write_recorded(out, joined)
    return len(joined)
