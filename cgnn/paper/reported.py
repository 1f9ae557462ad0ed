"""What the paper says: ``paper/reported.yaml``, the reference side of every comparison."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from cgnn.errors import UserError

PAPER = Path(__file__).parents[2] / "paper"


@cache
def load_paper_yaml(name: str) -> dict[str, Any]:
    """One of the project's own reference files in ``paper/``, read once a process."""
    path = PAPER / name
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{path}: not found. It belongs to the project; run from a clone (pip install -e .) or restore it with git."
        ) from None


def load_reported() -> dict[str, Any]:
    """All numbers and claims of the paper. Treat it as read-only: everyone shares it."""
    return load_paper_yaml("reported.yaml")


def entry_of(dataset: str) -> str:
    """The paper's dataset whose settings this one borrows: NELL's for ``nell_partial``, Cora's for any other graph."""
    known = load_reported()["hyperparameters"]
    if dataset in known:
        return dataset
    return "nell" if dataset.startswith("nell") else "cora"
