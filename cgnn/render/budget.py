"""Whether the runs have the paper's budget of epochs, seeds and splits; results of a smaller one are a preview."""

import pandas as pd

EPOCHS, SEEDS, SPLITS = 400, 10, 15  # of the paper


def preview_text(rows: pd.DataFrame) -> str | None:
    """``preview: 40 epochs, 3 seeds, 3 random splits``, or None if the runs have the paper's budget.

    ``rows`` are those of runs.csv. The largest budget counts: a cell that was run with fewer seeds does not make a
    whole reproduction a preview.
    """
    if rows.empty:
        return None
    fixed, random = rows[rows["split_kind"] == "fixed"], rows[rows["split_kind"] == "random"]
    found = (
        ("epochs", EPOCHS, int(pd.to_numeric(rows["epochs"]).max()) if "epochs" in rows else EPOCHS),
        ("seeds", SEEDS, int(fixed["replica"].nunique()) if len(fixed) else SEEDS),
        ("random splits", SPLITS, int(random["split"].nunique()) if len(random) else SPLITS),
    )
    if all(count >= paper for _, paper, count in found):
        return None
    return "preview: " + ", ".join(f"{count} {name}" for name, paper, count in found if count != paper)
