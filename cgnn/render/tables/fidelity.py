"""Which point of difference between paper and released code makes the published number."""

from dataclasses import fields
from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import cell, compare, in_order, load_rows, sample
from cgnn.analysis.statistics import SIGNIFICANCE, welch_from_summary
from cgnn.models import names
from cgnn.paper.fidelity import PRESETS
from cgnn.paper.reported import Reported, load_reported
from cgnn.render.cells import accuracy_cell, interval_text
from cgnn.render.table import Cell, Row, Table

BASE = "released"
MODELS = ("cgnn", "cgnn_weight", "cgnn_discrete")  # the published number that matters most first
SELECTIONS = {
    "test_accuracy": "first epoch of best validation (ours)",
    "test_last_best_validation": "last epoch of best validation",
    "test_final_epoch": "last epoch",
    "test_oracle": "oracle: best test epoch, not a valid protocol",
}
WORDS = {
    ("derivative", "paper"): "derivative as printed",
    ("alpha", "tabulated"): "α starts at the tabulated value",
    ("source_gradient", "flows"): "gradient through the source E",
    ("features", "rows"): "features not binarised",
    ("augmentation", "none"): "no augmentation",
    ("solver", "dopri5"): "dopri5 instead of the exact solver",
    ("solver", "dopri5_adjoint"): "dopri5 with the adjoint",
    ("weight_clamp", "open"): "M clamped inside (0, 1)",
    ("discrete_steps", "50"): "50 discrete steps",
}


def build(fidelity: Path, reported: Path) -> Table:
    """Each switch alone, then the rules that choose the epoch, on every dataset that was run."""
    rows = load_rows(fidelity)
    printed = load_reported(reported)
    if "sw_selection" in rows.columns:
        # Every row carries its accuracy under each rule; a run that selects otherwise would say it twice.
        rows = rows[rows["sw_selection"].fillna("best_validation") == "best_validation"]
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    table: list[Row] = []
    reaching: list[str] = []
    for model in in_order(set(rows["model"]), MODELS):
        of_model = rows[rows["model"] == model]
        variants = _variants(of_model)
        group = f"{names.model(model)}: one switch at a time"
        for variant in variants:
            cells = {names.dataset(d): _switch_cell(of_model, d, variant, printed, model) for d in datasets}
            table.append(Row(_words(of_model, variant), cells, group))
            reaching += [
                f"{name}: {_words(of_model, variant)}" for name, item in cells.items() if item.bold and model == "cgnn"
            ]
        if model == "cgnn":
            for variant in variants:
                if flipped(of_model, variant) not in ({}, {"alpha": "tabulated"}):
                    continue
                group = f"{names.model(model)}, {_words(of_model, variant)}: which epoch is reported"
                for column, label in SELECTIONS.items():
                    cells = {
                        names.dataset(d): _selection_cell(of_model, d, variant, column, printed, model)
                        for d in datasets
                    }
                    table.append(Row(label, cells, group))
    seeds = sorted({len(group) for _, group in rows.groupby(["dataset", "model", "variant"])})
    caption = (
        "Each point on which paper and released code differ, flipped alone from the released preset, published "
        f"hyperparameters, fixed split, {_count(seeds)} seeds: test accuracy in percent, the paper's value, ours "
        "minus the "
        "paper's (Welch) and, marked Δ, the change against the released preset (paired by seed), each with its 95 % "
        "interval. Bold: not distinguishable from the published value at 5 %."
    )
    held = (
        f"Not distinguishable from the published value: {'; '.join(reaching)}."
        if reaching
        else ("No single switch gives a value that cannot be told from the published one.")
    )
    columns = tuple(names.dataset(item) for item in datasets)
    return Table("fidelity", "What makes the published number", caption, "Switch", columns, tuple(table), (held,))


def _variants(rows: pd.DataFrame) -> list[str]:
    """The base first, the whole other preset last."""
    found = sorted(set(rows["variant"]))
    return sorted(found, key=lambda name: {0: 0, 1: 1}.get(len(flipped(rows, name)), 2))


def flipped(rows: pd.DataFrame, variant: str) -> dict[str, str]:
    """The switches in which a variant's runs differ from the released preset."""
    first = rows[rows["variant"] == variant].iloc[0]
    base = PRESETS[BASE]
    found = {field.name: first.get(f"sw_{field.name}") for field in fields(base)}
    return {
        name: str(value)
        for name, value in found.items()
        if value is not None and not pd.isna(value) and _text(value) != str(getattr(base, name))
    }


def _text(value: object) -> str:
    """CSV readers make 50.0 of the switch value 50."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _words(rows: pd.DataFrame, variant: str) -> str:
    switches = flipped(rows, variant)
    if not switches:
        return "released, nothing flipped"
    if rows[rows["variant"] == variant]["preset"].iloc[0] == "paper" or len(switches) >= 4:
        return "paper, everything flipped"
    words = [WORDS.get((name, _text(value)), f"{name}: {value}".replace("_", " ")) for name, value in switches.items()]
    return " and ".join(words)


def _base(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The released preset's rows of this model, whatever its variant is called."""
    for variant in sorted(set(rows["variant"])):
        if not flipped(rows, variant):
            return cell(rows, dataset=dataset, variant=variant)
    return rows.iloc[:0]


def _switch_cell(rows: pd.DataFrame, dataset: str, variant: str, printed: Reported, model: str) -> Cell:
    chosen, base = cell(rows, dataset=dataset, variant=variant), _base(rows, dataset)
    more: tuple[str, ...] = ()
    if len(chosen) and len(base) and not chosen.index.equals(base.index):
        more = (f"Δ {interval_text(compare(chosen, base))}",)
    return _against_paper(chosen, dataset, variant, "test_accuracy", printed, model, more)


def _selection_cell(rows: pd.DataFrame, dataset: str, variant: str, column: str, printed: Reported, model: str) -> Cell:
    return _against_paper(cell(rows, dataset=dataset, variant=variant), dataset, variant, column, printed, model, ())


def _against_paper(
    rows: pd.DataFrame, dataset: str, variant: str, column: str, printed: Reported, model: str, more: tuple[str, ...]
) -> Cell:
    kind = rows["split_kind"].iloc[0] if len(rows) else "fixed"
    paper = printed.accuracy(dataset, kind, model)
    ours = sample(rows, column)
    near = paper is not None and ours.n > 1 and welch_from_summary(ours, paper).p >= SIGNIFICANCE
    where = {"dataset": dataset, "model": model, "variant": variant}
    return accuracy_cell(rows, paper, file="fidelity", where=where, column=column, bold=near, more=more)


def _count(values: list[int]) -> str:
    if not values:
        return "no"
    return f"{values[0]}" if values[0] == values[-1] else f"{values[0]} to {values[-1]}"
