"""Which difference between paper and released code explains the published number."""

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import cell, compare, in_order, load_rows, sample
from cgnn.analysis.statistics import SIGNIFICANCE, Difference, paired
from cgnn.analysis.summary import cell_record
from cgnn.analysis.variants import BASE, flipped, with_presets
from cgnn.models import names
from cgnn.paper.reported import Reported, load_reported
from cgnn.render.cells import accuracy_cell, change_cell, count_text, interval_text, paper_cell
from cgnn.render.table import Cell, Row, Table

MODELS = ("cgnn", "cgnn_weight", "cgnn_discrete", "cgnn_no_h0")  # the published number that matters most first
SELECTIONS = {
    "test_last_best_validation": "last epoch of best validation",
    "test_final_epoch": "last epoch",
    "test_oracle": "oracle: best test epoch, not a valid protocol",
}
WORDS = {
    ("derivative", "paper"): "derivative as printed",
    ("alpha", "tabulated"): "α starts at the tabulated value",
    ("alpha_decay", "weights_only"): "no weight decay on α",
    ("source_gradient", "flows"): "gradient through the source E",
    ("features", "rows"): "features not binarised",
    ("features", "binary_rows"): "features binarised",
    ("augmentation", "none"): "no augmentation",
    ("optimizer", "adam"): "Adam",
    ("optimizer", "rmsprop"): "RMSprop",
    ("optimizer", "adamax"): "Adamax",
    ("solver", "exact_recompute"): "recomputing exact solver",
    ("solver", "dopri5"): "dopri5 instead of the exact solver",
    ("solver", "dopri5_adjoint"): "dopri5 with the adjoint",
    ("weight_clamp", "open"): "M clamped inside (0, 1)",
    ("discrete", "hybrid"): "printed step, released α",
    ("discrete", "appnp"): "APPNP's step",
    ("discrete_steps", "50"): "50 discrete steps",
    ("discrete_steps", "t1"): "t₁ discrete steps",
    ("no_h0", "printed"): "H' = (A − I)H(0), as printed",
}
#: In the combinations that were chosen after pilot runs.
CHOSEN_LATER = WORDS["alpha_decay", "weights_only"]
PUBLISHED = "published in the paper"
DIFFERENCE = ("difference", "difference_low", "difference_high")


def build(fidelity: Path, runs: Path, reported: Path) -> Table:
    """Each switch alone, then the rules that choose the epoch, on every dataset that was run."""
    rows = with_presets(load_rows(fidelity), load_rows(runs))
    printed = load_reported(reported)
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    table: list[Row] = []
    for model in in_order(set(rows["model"]), MODELS):
        of_model = rows[rows["model"] == model]
        variants = _variants(of_model)
        if any(printed.accuracy(dataset, "fixed", model) for dataset in datasets):
            table.append(_published(printed, model, datasets, names.model(model)))
        table += [_switch_row(of_model, model, variant, datasets, printed) for variant in variants]
        if model == "cgnn":
            for variant in variants:
                if flipped(of_model, variant) in ({}, {"alpha": "tabulated"}):
                    table += _selection_rows(of_model, variant, datasets, printed)
    seeds = {len(group) for _, group in rows.groupby(["dataset", "model", "variant"])}
    caption = (
        "One switch, or the combination of switches that the row names, changed from the released code; "
        f"published hyperparameters, fixed split, {count_text(seeds)} seeds. Test accuracy in "
        "percent, and Δ, the change from the released code (paired by seed) with its 95 % interval. Bold: not "
        "significantly different from the published value at 5 %."
    )
    columns = tuple(f"{names.dataset(item)}, {side}" for item in datasets for side in ("ours", "Δ"))
    notes = _closest(table, columns)
    if any(CHOSEN_LATER in row.label for row in table):
        notes += (f"The combinations with “{CHOSEN_LATER}” were chosen after pilot runs on the same test nodes.",)
    return Table("fidelity", "Which switches matter", caption, "Switch", columns, tuple(table), notes)


def _closest(table: list[Row], columns: tuple[str, ...], count: int = 3) -> tuple[str, ...]:
    """A note on the variants of CGNN whose largest difference from the paper over all datasets is smallest."""
    ours = [name for name in columns if name.endswith(", ours")]
    gaps: dict[str, list[tuple[float, float, float]]] = {}  # the difference from the paper and its interval, by dataset
    for row in table:
        found = [row.cells[name].numbers for name in ours]
        if row.group == names.model("cgnn") and all("difference" in numbers for numbers in found):
            gaps[row.label] = [_difference(numbers) for numbers in found]
    ranked = sorted(gaps, key=lambda label: max(abs(estimate) for estimate, *_ in gaps[label]))
    words = []
    for label in ranked[:count]:
        by_dataset = zip(ours, gaps[label], strict=True)
        texts = [f"{name.removesuffix(', ours')} {interval_text(*gap)}" for name, gap in by_dataset]
        words.append(f"{label}: {', '.join(texts)}")
    return (f"CGNN, closest to the paper on all datasets (ours − paper): {'; '.join(words)}.",) if words else ()


def _difference(numbers: Mapping[str, float | None]) -> tuple[float, float, float]:
    """The difference of a cell and its interval, whose bounds are nan if there is only one run."""
    values = map(numbers.get, DIFFERENCE)
    estimate, low, high = (math.nan if value is None else value for value in values)
    return estimate, low, high


def _variants(rows: pd.DataFrame) -> list[str]:
    """The variants, with the base first and the complete other preset last."""
    return sorted(sorted(set(rows["variant"])), key=lambda name: min(len(flipped(rows, name)), 2))


def words_of(rows: pd.DataFrame, variant: str) -> str:
    """A readable name of a variant."""
    preset = str(rows[rows["variant"] == variant]["preset"].iloc[0])
    words = [
        WORDS.get(item, f"{item[0]}: {item[1]}".replace("_", " ")) for item in flipped(rows, variant, preset).items()
    ]
    if preset == BASE:
        return ", ".join(words) or "released code, no switch changed"
    return ", ".join(["printed equations, all switches changed", *words])


def _published(printed: Reported, model: str, datasets: list[str], group: str) -> Row:
    cells = {f"{names.dataset(name)}, ours": paper_cell(printed.accuracy(name, "fixed", model)) for name in datasets}
    return Row(PUBLISHED, cells | {f"{names.dataset(name)}, Δ": Cell("") for name in datasets}, group)


def _switch_row(rows: pd.DataFrame, model: str, variant: str, datasets: list[str], printed: Reported) -> Row:
    base = next((name for name in sorted(set(rows["variant"])) if not flipped(rows, name)), None)
    cells: dict[str, Cell] = {}
    for dataset in datasets:
        chosen = cell(rows, dataset=dataset, variant=variant)
        gap = None
        if base not in (None, variant) and len(chosen):
            released = cell(rows, dataset=dataset, variant=base)
            gap = compare(chosen, released) if len(released) else None
        cells |= _pair(chosen, dataset, variant, "test_accuracy", printed, model, gap)
    return Row(words_of(rows, variant), cells, names.model(model))


def _selection_rows(rows: pd.DataFrame, variant: str, datasets: list[str], printed: Reported) -> list[Row]:
    group = f"{names.model('cgnn')}, {words_of(rows, variant)}: another epoch reported"
    table = []
    for column, label in SELECTIONS.items():
        cells: dict[str, Cell] = {}
        for dataset in datasets:
            chosen = cell(rows, dataset=dataset, variant=variant)
            both = chosen[chosen["test_accuracy"].notna() & chosen[column].notna()]
            gap = None
            if len(both) > 1:
                gap = paired(both[column].to_numpy(float), both["test_accuracy"].to_numpy(float))
            cells |= _pair(chosen, dataset, variant, column, printed, "cgnn", gap)
        table.append(Row(label, cells, group))
    return table


def _pair(
    rows: pd.DataFrame,
    dataset: str,
    variant: str,
    column: str,
    printed: Reported,
    model: str,
    gap: Difference | None,
) -> dict[str, Cell]:
    """The two cells of a dataset: accuracy, and the change against what it is compared with."""
    record = cell_record(rows, printed.accuracy(dataset, "fixed", model), column) if len(rows) else None
    near = record is not None and sample(rows, column).n > 1 and record.get("p", 0.0) >= SIGNIFICANCE
    where = {"dataset": dataset, "model": model, "variant": variant}
    file = "fidelity"
    if len(rows) and "variant" in rows and variant == rows["preset"].iloc[0] and not flipped(rows, variant, variant):
        file = "runs"
        where |= {"split_kind": "fixed", "preset": variant, "hyperparameter_source": "published", "variant": ""}
    return {
        f"{names.dataset(dataset)}, ours": (
            Cell("") if record is None else accuracy_cell(record, file=file, where=where, bold=bool(near))
        ),
        f"{names.dataset(dataset)}, Δ": Cell("") if gap is None else change_cell(gap),
    }
