"""Table 3: node classification on random splits."""

from pathlib import Path

from cgnn.render.accuracy_table import accuracy_table
from cgnn.render.table import Table


def build(summary: Path, reported: Path) -> Table:
    """Models by datasets, every protocol in the runs."""
    return accuracy_table(summary, reported, "random", 3)
