"""Rules for drawing random splits, next to the paper's numbers."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import in_order, protocols
from cgnn.analysis.summary import load_summary
from cgnn.models import names
from cgnn.paper.reported import Reported, load_reported
from cgnn.render.accuracy_table import heading
from cgnn.render.cells import accuracy_cell, count_text, first_record, paper_cell
from cgnn.render.table import Cell, Row, Table

RULES = {"random": "all labelled nodes (ours)", "pool": "nodes of the fixed split", "component": "largest component"}


def build(summary: Path, reported: Path) -> Table:
    """One block per dataset, one row per model, one column per rule; without a second rule there is no table."""
    rows = load_summary(summary)
    rows = rows[rows["variant"] == ""]
    others = rows[rows["split_kind"].isin([rule for rule in RULES if rule != "random"])]
    printed = load_reported(reported)
    held = protocols(others)
    caption, table = "No other rule for random splits was run.", []
    columns: tuple[str, ...] = ()
    if held:
        rows = held[0].of(rows[rows["split_kind"].isin(RULES)])
        rules = in_order(set(rows["split_kind"]), RULES)
        columns = (*(RULES[rule] for rule in rules), "paper")
        models = in_order(set(others["model"]), names.MODELS)
        for dataset in in_order(set(others["dataset"]), names.DATASETS):
            part = rows[rows["dataset"] == dataset]
            table += [_row(part, dataset, model, rules, printed) for model in models]
        counts = {int(n) for n in rows[rows["model"].isin(models)]["n"]}
        caption = (
            "Random splits drawn by different rules, 20 nodes per class for training: test accuracy in percent, mean ± "
            f"standard deviation over {count_text(counts)} splits ({heading(held[0]).lower()}). The paper does not "
            "describe how its splits were drawn."
        )
    return Table("split_rules", "Rules for random splits", caption, "Model", columns, tuple(table))


def _row(part: pd.DataFrame, dataset: str, model: str, rules: list[str], printed: Reported) -> Row:
    cells: dict[str, Cell] = {"paper": paper_cell(printed.accuracy(dataset, "random", model))}
    for rule in rules:
        record = first_record(part[(part["model"] == model) & (part["split_kind"] == rule)])
        keys = ("dataset", "split_kind", "model", "preset", "hyperparameter_source", "variant")
        where = {key: record[key] for key in keys} if record else {}
        cells[RULES[rule]] = accuracy_cell(record, file="runs", where=where)
    return Row(names.model(model), cells, names.dataset(dataset))
