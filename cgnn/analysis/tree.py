"""Check that a results tree exists. Commands that accept missing files still refuse a folder without any."""

from pathlib import Path

from cgnn.errors import UserError

#: The files with results; without any of them a verdict, a page or a paper would be empty.
RESULT_FILES = ("runs.csv", "sweeps.csv", "fidelity.csv", "profiles.csv", "convergence.csv", "bench.json")


def check_results(folder: Path) -> None:
    """Raise unless ``folder`` exists and holds at least one file of results."""
    if not folder.is_dir():
        found = "is not a folder" if folder.exists() else "no such folder"
        raise UserError(f"{folder}: {found}, expected a results tree; run `snakemake` first, or give another folder")
    if not any((folder / name).is_file() for name in RESULT_FILES):
        raise UserError(
            f"{folder}: holds no results, expected at least one of {', '.join(RESULT_FILES)}; run `snakemake` first, "
            "or give another folder"
        )
