"""Table 3: node classification on random splits."""

from pathlib import Path

from cgnn.analysis.rows import load_rows
from cgnn.paper.reported import load_reported
from cgnn.render.accuracy_table import accuracy_table
from cgnn.render.table import Table


def build(runs: Path, reported: Path) -> Table:
    """Models by datasets, every protocol in the runs."""
    return accuracy_table(
        load_rows(runs),
        load_reported(reported),
        "random",
        "random_splits",
        "Table 3, node classification on random splits",
    )
