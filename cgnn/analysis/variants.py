"""Variants of a model: rows of fidelity.csv, and rows of runs.csv in which no switch was changed."""

from dataclasses import fields

import pandas as pd

from cgnn.paper.fidelity import PRESETS

BASE = "released"


def with_presets(fidelity: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame:
    """The rows of both files that belong in one comparison: fixed split, published hyperparameters.

    An unmodified preset is a cell of the main tables, so its rows are in runs.csv; here its variant is its name. Each
    row contains its accuracy under every selection rule, so runs with another selection rule would repeat it.
    """
    if runs is not None and len(runs):
        models = set(fidelity["model"])
        whole = runs[
            (runs["split_kind"] == "fixed")
            & (runs["hyperparameter_source"] == "published")
            & (runs["variant"] == "")
            & runs["model"].isin(models)
            & runs["dataset"].isin(set(fidelity["dataset"]))
        ]
        whole = whole.assign(variant=whole["preset"])
        held = {
            (model, preset)
            for (model, preset, variant), part in fidelity.groupby(["model", "preset", "variant"])
            if not flipped(part, str(variant), str(preset))
        }
        # Older result files repeat the rows of a preset in fidelity.csv.
        keep = [(model, preset) not in held for model, preset in zip(whole["model"], whole["preset"], strict=True)]
        fidelity = pd.concat([whole[keep], fidelity], ignore_index=True)
    if "sw_selection" in fidelity.columns:
        fidelity = fidelity[fidelity["sw_selection"].fillna("best_validation") == "best_validation"]
    return fidelity


def flipped(rows: pd.DataFrame, variant: str, preset: str = BASE) -> dict[str, str]:
    """The switches in which the rows of a variant differ from a preset."""
    first = rows[rows["variant"] == variant].iloc[0]
    base = PRESETS[preset]
    found = {field.name: first.get(f"sw_{field.name}") for field in fields(base)}
    return {
        name: switch_text(value)
        for name, value in found.items()
        if value is not None and not pd.isna(value) and switch_text(value) != str(getattr(base, name))
    }


def switch_text(value: object) -> str:
    """A switch as text; CSV readers turn the value 50 into 50.0."""
    return f"{value:g}" if isinstance(value, float) else str(value)
