"""Table 2: node classification on fixed splits."""

from pathlib import Path

from cgnn.analysis.summary import load_summary
from cgnn.paper.reported import load_reported
from cgnn.render.accuracy_table import accuracy_table
from cgnn.render.table import Table


def build(summary: Path, reported: Path) -> Table:
    """Models by datasets, every protocol in the runs."""
    return accuracy_table(
        load_summary(summary),
        load_reported(reported),
        "fixed",
        "fixed_splits",
        "Table 2, node classification on fixed splits",
    )
