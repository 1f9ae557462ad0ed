"""The paper's numbers and claims, read from ``paper/reported.yaml``; the reference for every comparison."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cgnn.errors import UserError

PAPER = Path(__file__).parents[2] / "paper"
#: ``nell_partial`` is NELL with some of its labels: it is shown next to the paper's NELL, but not compared with it.
NOT_COMPARABLE = {"nell_partial": "nell"}
#: The paper's claims are about its datasets, not about graphs that users add.
CLAIMED = ("cora", "citeseer", "pubmed", "nell", *NOT_COMPARABLE)
RUNS = {"fixed": 10, "random": 15}  # "mean of 10 runs", "over 15 random splits"
SECTIONS = (
    *("paper", "dataset_statistics", "fixed_split_accuracy", "random_split_accuracy", "gcn_residual_accuracy"),
    *("seconds_per_epoch_cora", "common_hyperparameters", "hyperparameters", "claims"),
)


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation (with n − 1) and number of runs, which is what the paper prints for a group of runs."""

    mean: float
    std: float
    n: int


@dataclass(frozen=True)
class Reported:
    """The parsed file and the lookups that settings, tables and claims need. Treat ``raw`` as read-only."""

    raw: dict[str, Any] = field(repr=False)

    def accuracy(self, dataset: str, split_kind: str, model: str) -> Summary | None:
        """A cell of Table 2 or 3, or None if the paper prints none."""
        table = self.raw[f"{'fixed' if split_kind == 'fixed' else 'random'}_split_accuracy"]
        return _summary(table.get(model, {}).get(dataset), split_kind)

    def residual(self, dataset: str, split_kind: str, layers: int) -> Summary | None:
        """A cell of the table of residual GCN."""
        cell = self.raw["gcn_residual_accuracy"].get(layers, {}).get(dataset, {})
        return _summary(cell.get(split_kind), split_kind)

    def hyperparameters(self, dataset: str, split_kind: str, model: str) -> dict[str, float | None]:
        """The printed settings; empty if the paper has none, None for a dash."""
        name = NOT_COMPARABLE.get(dataset, dataset)
        return self.raw["hyperparameters"].get(name, {}).get(model, {}).get(split_kind, {})

    def seconds_per_epoch(self, model: str) -> float | None:
        return self.raw["seconds_per_epoch_cora"].get(model)

    def statistics(self, dataset: str) -> dict[str, float]:
        """A row of Table 1: nodes, edges, features, classes, label_rate; empty for graphs that are not in the paper."""
        return self.raw["dataset_statistics"].get(NOT_COMPARABLE.get(dataset, dataset), {})

    @property
    def claims(self) -> dict[str, str]:
        return self.raw["claims"]


def load_reported(path: Path | str = PAPER / "reported.yaml") -> Reported:
    """All numbers and claims of the paper; an error names the section that is missing."""
    raw = load_yaml(Path(path))
    for section in SECTIONS:
        if section not in raw:
            raise UserError(f"{path}: section {section!r} is missing; restore the file with git")
    return Reported(raw)


@cache
def load_yaml(path: Path) -> dict[str, Any]:
    """A reference file of the project, read once per process."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(
            f"{path}: cannot be read ({error.strerror}). It belongs to the project; run from a clone "
            "(pip install -e .) or restore it with git."
        ) from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not a YAML file ({error}); restore it with git") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: found {type(content).__name__}, expected a mapping; restore it with git")
    return content


def entry_of(dataset: str) -> str:
    """The paper's dataset whose settings this one uses: NELL's for ``nell_partial``, Cora's for any other graph."""
    return dataset if dataset in load_reported().raw["hyperparameters"] else NOT_COMPARABLE.get(dataset, "cora")


def _summary(pair: list[float] | None, split_kind: str) -> Summary | None:
    return None if pair is None else Summary(pair[0], pair[1], RUNS["fixed" if split_kind == "fixed" else "random"])
