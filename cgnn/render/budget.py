"""Whether the runs have the paper's budget. The PDF, the page and the README call a smaller budget a preview."""

import pandas as pd

from cgnn.render.plots import list_words

EPOCHS, SEEDS, SPLITS = 400, 10, 15  # the paper's budget


def preview_text(rows: pd.DataFrame) -> str | None:
    """``preview: 40 epochs, 3 seeds, 3 random splits``, or None if the runs have the paper's budget.

    ``rows`` are those of runs.csv. The largest budget counts: a single cell with fewer seeds does not make the whole
    reproduction a preview.
    """
    if not smaller(rows):
        return None
    return "preview: " + ", ".join(f"{count} {name}" for name, paper, count in _budget(rows) if count != paper)


def smaller(rows: pd.DataFrame) -> str:
    """``40 epochs instead of 400 and 3 seeds instead of 10``; empty if the runs have the paper's budget."""
    return list_words([f"{count} {name} instead of {paper}" for name, paper, count in _budget(rows) if count < paper])


def _budget(rows: pd.DataFrame) -> list[tuple[str, int, int]]:
    """Each quantity with the paper's number and ours; the paper's where nothing was run."""
    if rows.empty:
        return []
    fixed, random = rows[rows["split_kind"] == "fixed"], rows[rows["split_kind"] == "random"]
    return [
        ("epochs", EPOCHS, int(pd.to_numeric(rows["epochs"]).max()) if "epochs" in rows else EPOCHS),
        ("seeds", SEEDS, int(fixed["replica"].nunique()) if len(fixed) else SEEDS),
        ("random splits", SPLITS, int(random["split"].nunique()) if len(random) else SPLITS),
    ]
