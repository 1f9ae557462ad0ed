"""Whether results come from a small budget: such results are a preview, and give no verdicts."""

import csv
from pathlib import Path

#: Of the paper's protocol; accuracies after fewer epochs cannot be compared with the paper's.
EPOCHS = 400


def preview_text(results: Path) -> str | None:
    """``preview: 40 epochs, 3 seeds``, or None if the runs of the tables have the whole budget (or there are none)."""
    path = results / "runs.csv"
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["split_kind"] == "fixed" and not row["variant"]]
    if not rows:
        return None
    epochs = max(int(float(row["epochs"])) for row in rows)
    seeds = max(int(row["replica"]) for row in rows) + 1
    return f"preview: {epochs} epochs, {seeds} seeds" if epochs < EPOCHS else None
