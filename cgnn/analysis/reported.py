"""What the paper says, read from ``paper/reported.yaml``, in the shape comparisons want."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cgnn.analysis.statistics import Sample
from cgnn.errors import UserError

RUNS_FIXED, RUNS_RANDOM = 10, 15  # "mean of 10 runs", "over 15 random splits"
#: `nell_partial` is NELL with part of its labels: it is shown beside the paper's NELL, never as its equal.
NOT_COMPARABLE = {"nell_partial": "nell"}
#: The paper's claims are about its datasets, never about a graph that someone added.
CLAIMED = ("cora", "citeseer", "pubmed", "nell", *NOT_COMPARABLE)


@dataclass(frozen=True)
class Reported:
    """The parsed file and the look-ups that tables and claims need."""

    raw: dict[str, Any] = field(repr=False)

    def accuracy(self, dataset: str, split_kind: str, model: str) -> Sample | None:
        """The printed mean and deviation with the number of runs, or None where the paper prints none."""
        table = self.raw["fixed_split_accuracy" if split_kind == "fixed" else "random_split_accuracy"]
        return _sample(table.get(model, {}).get(dataset), split_kind)

    def residual(self, dataset: str, split_kind: str, layers: int) -> Sample | None:
        """Table of residual GCN."""
        cell = self.raw["gcn_residual_accuracy"].get(layers, {}).get(dataset, {})
        return _sample(cell.get(split_kind), split_kind)

    def hyperparameters(self, dataset: str, split_kind: str, model: str) -> dict[str, float | None]:
        name = NOT_COMPARABLE.get(dataset, dataset)
        return self.raw["hyperparameters"].get(name, {}).get(model, {}).get(split_kind, {})

    def seconds_per_epoch(self, model: str) -> float | None:
        return self.raw["seconds_per_epoch_cora"].get(model)

    @property
    def claims(self) -> dict[str, str]:
        return self.raw["claims"]


def load_reported(path: Path | str) -> Reported:
    """Read the file; a missing section is named."""
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); expected the paper's numbers") from error
    for section in (
        "fixed_split_accuracy",
        "random_split_accuracy",
        "gcn_residual_accuracy",
        "hyperparameters",
        "claims",
    ):
        if section not in raw:
            raise UserError(f"{path}: section {section!r} is missing; restore the file from the repository")
    return Reported(raw)


def _sample(pair: list[float] | None, split_kind: str) -> Sample | None:
    if pair is None:
        return None
    return Sample(pair[0], pair[1], RUNS_FIXED if split_kind == "fixed" else RUNS_RANDOM)
