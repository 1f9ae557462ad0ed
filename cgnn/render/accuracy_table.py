"""Tables 2 and 3: models by datasets, a block a protocol."""

import pandas as pd

from cgnn.analysis.rows import Protocol, cell, in_order, protocols
from cgnn.models import names
from cgnn.paper.reported import NOT_COMPARABLE, Reported
from cgnn.render.cells import accuracy_cell, best_if_significant
from cgnn.render.table import Row, Table

PAPER_DATASETS = ("cora", "citeseer", "pubmed", "nell")
SOURCES = {"search": "hyperparameters of our search", "published": "published hyperparameters"}
#: A cell of the paper that is a status and not a number.
PAPER_STATUS = {("gat", "nell"): "out of memory"}
#: gcn_residual has a table of its own, by depth.
LEFT_OUT = ("gcn_residual", "cgnn_no_h0")


def accuracy_table(rows: pd.DataFrame, reported: Reported, split_kind: str, name: str, title: str) -> Table:
    """Ours beside the paper's, for every protocol the runs hold, the main one first."""
    rows = rows[(rows["split_kind"] == split_kind) & ~rows["model"].isin(LEFT_OUT)]
    held = protocols(rows)
    datasets = _datasets(rows)
    blocks = [row for protocol in held for row in _block(protocol, rows, reported, split_kind, datasets)]
    if not held:
        blocks = _block(Protocol("search", "released"), rows, reported, split_kind, datasets)
    n = sorted({len(group) for _, group in rows.groupby(["dataset", "model", "preset", "hyperparameter_source"])})
    unit = "seeds" if split_kind == "fixed" else "random splits"
    counts = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}" if n else "no"
    caption = (
        f"Test accuracy in percent, mean ± standard deviation over {counts} {unit} (number of runs in parentheses); "
        "under it the paper's value and ours minus the paper's with its 95 % interval (Welch, from the printed mean, "
        f"deviation and {10 if split_kind == 'fixed' else 15} runs). Bold: best of its block and column, where it "
        "differs "
        f"from the next at 5 % ({'Welch' if split_kind == 'fixed' else 'paired by split'})."
    )
    return Table(
        name,
        title,
        caption,
        "Model",
        tuple(names.dataset(item) for item in datasets),
        tuple(blocks),
        _notes(rows, datasets),
    )


def _datasets(rows: pd.DataFrame) -> list[str]:
    held = set(rows["dataset"])
    stands_in = {NOT_COMPARABLE[item] for item in held if item in NOT_COMPARABLE} - held
    return in_order((held | set(PAPER_DATASETS)) - stands_in, names.DATASETS)


def _block(
    protocol: Protocol, rows: pd.DataFrame, reported: Reported, split_kind: str, datasets: list[str]
) -> list[Row]:
    chosen = protocol.of(rows)
    printed = reported.raw[f"{split_kind}_split_accuracy"]
    models = in_order(set(chosen["model"]) or set(printed), names.MODELS)
    best = {
        dataset: best_if_significant({model: cell(chosen, dataset=dataset, model=model) for model in models})
        for dataset in datasets
    }
    table = []
    for model in models:
        cells = {}
        for dataset in datasets:
            where = {
                "dataset": dataset,
                "split_kind": split_kind,
                "model": model,
                "preset": protocol.preset,
                "hyperparameter_source": protocol.source,
            }
            paper_failed = PAPER_STATUS.get((model, NOT_COMPARABLE.get(dataset, dataset)))
            cells[names.dataset(dataset)] = accuracy_cell(
                cell(chosen, dataset=dataset, model=model),
                reported.accuracy(NOT_COMPARABLE.get(dataset, dataset), split_kind, model),
                file="runs",
                where=where,
                bold=best[dataset] == model,
                comparable=dataset not in NOT_COMPARABLE,
                more=(f"paper: {paper_failed}",) if paper_failed else (),
            )
        table.append(Row(names.model(model), cells, heading(protocol)))
    return table


def heading(protocol: Protocol) -> str:
    return f"Preset {protocol.preset}, {SOURCES.get(protocol.source, protocol.source + ' hyperparameters')}"


def _notes(rows: pd.DataFrame, datasets: list[str]) -> tuple[str, ...]:
    notes = []
    if "nell_partial" in datasets:
        notes.append(
            "NELL (partial labels): the same graph and features with the part of its labels that could be recovered; "
            "its accuracies are not comparable with the paper's and no difference is given."
        )
    if set(rows["model"]) & {"gcn_gode", "gat_gode"}:
        notes.append("The paper quotes the GODE rows from their own paper; ours were run.")
    elif "gcn_gode" not in set(rows["model"]) and len(rows) and (rows["split_kind"] == "fixed").all():
        notes.append("The paper's GODE rows are quotations; no GODE run is in these results.")
    return tuple(notes)
