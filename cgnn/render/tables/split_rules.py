"""Rules for drawing random splits, next to the paper's numbers."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from cgnn.analysis.rows import Protocol, in_order, protocols
from cgnn.analysis.summary import load_summary
from cgnn.models import names
from cgnn.paper.reported import Reported, load_reported
from cgnn.render.accuracy_table import SOURCES
from cgnn.render.cells import accuracy_cell, count_text, first_record, paper_cell
from cgnn.render.table import Cell, Row, Table

RULES = {"random": "all labelled nodes (ours)", "pool": "nodes of the fixed split", "component": "largest component"}


def build(summary: Path, reported: Path) -> Table:
    """One block per dataset, one row per model, one column per rule; without a second rule there is no table."""
    rows = load_summary(summary)
    rows = rows[rows["variant"] == ""]
    others = rows[rows["split_kind"].isin([rule for rule in RULES if rule != "random"])]
    printed = load_reported(reported)
    # All rules of a model are compared with the hyperparameters that its runs under the other rules have.
    held = {model: protocols(others[others["model"] == model])[0] for model in set(others["model"])}
    caption, table = "No other rule for random splits was run.", []
    columns: tuple[str, ...] = ()
    if held:
        models = in_order(held, names.MODELS)
        rows = pd.concat([held[model].of(rows[rows["model"] == model]) for model in models])
        rules = in_order(set(rows["split_kind"]) & set(RULES), RULES)
        columns = (*(RULES[rule] for rule in rules), "paper")
        for dataset in in_order(set(others["dataset"]), names.DATASETS):
            part = rows[rows["dataset"] == dataset]
            table += [_row(part, dataset, model, rules, printed) for model in models]
        counts = {int(n) for n in rows[rows["split_kind"].isin(rules)]["n"]}
        caption = (
            "Random splits drawn by different rules, 20 nodes per class for training: test accuracy in percent, mean ± "
            f"standard deviation over {count_text(counts)} splits ({_sources(held, models)}). The paper does not "
            "describe how its splits were drawn."
        )
    return Table("split_rules", "Rules for random splits", caption, "Model", columns, tuple(table))


def _sources(held: Mapping[str, Protocol], models: list[str]) -> str:
    """``published hyperparameters: GCN, CGNN; hyperparameters of our search: CGNN with weight``"""
    by_source: dict[str, list[str]] = {}
    for model in models:
        by_source.setdefault(SOURCES[held[model].source], []).append(names.model(model))
    return "; ".join(f"{source}: {', '.join(found)}" for source, found in by_source.items())


def _row(part: pd.DataFrame, dataset: str, model: str, rules: list[str], printed: Reported) -> Row:
    cells: dict[str, Cell] = {"paper": paper_cell(printed.accuracy(dataset, "random", model))}
    for rule in rules:
        record = first_record(part[(part["model"] == model) & (part["split_kind"] == rule)])
        keys = ("dataset", "split_kind", "model", "preset", "hyperparameter_source", "variant")
        where = {key: record[key] for key in keys} if record else {}
        cells[RULES[rule]] = accuracy_cell(record, file="runs", where=where)
    return Row(names.model(model), cells, names.dataset(dataset))
