"""Sentences for results of which none can be compared with the paper: NELL with some of its labels, your own graph."""

import math
from collections.abc import Collection

import pandas as pd

from cgnn.analysis.rows import cell, choose_protocol, compare, in_order, sample
from cgnn.models import names
from cgnn.paper.reported import CLAIMED, NOT_COMPARABLE
from cgnn.render.cells import number
from cgnn.render.plots import list_words

#: The models of the sentence on accuracies, without those that only some experiments have.
MODELS = ("gcn", "gat", "cgnn_discrete", "cgnn", "cgnn_weight")


def comparable(datasets: Collection[str]) -> bool:
    """Does the paper have numbers for any of these datasets?"""
    return bool(set(datasets) & set(CLAIMED) - set(NOT_COMPARABLE))


def why_not_compared(datasets: Collection[str]) -> str:
    """The reason as a sentence without full stop."""
    partial = [name for name in in_order(datasets, names.DATASETS) if name in NOT_COMPARABLE]
    if not partial:
        return "The paper has no results on these datasets"
    of = list_words([names.dataset(NOT_COMPARABLE[name]) for name in partial])
    has = "have" if len(partial) > 1 else "has"
    return (
        f"{list_words([names.dataset(name) for name in partial])} {has} only some of the labels of {of}, so the "
        "accuracies are not compared with the paper's"
    )


def accuracies(rows: pd.DataFrame) -> str:
    """The mean accuracy of each model, and the models that differ significantly from CGNN, by dataset."""
    rows = _main_splits(rows[(rows["variant"] == "") & rows["model"].isin(MODELS)])
    rows = choose_protocol(rows).of(rows)
    found = {name: rows[rows["dataset"] == name] for name in in_order(set(rows["dataset"]), names.DATASETS)}
    return " ".join(
        f"On {_where(of_dataset)} of {names.dataset(name)}, {_accuracies_on(of_dataset)}."
        for name, of_dataset in found.items()
    )


def _main_splits(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows on the fixed split of each dataset; on random splits for datasets without runs on a fixed one."""
    fixed = rows["split_kind"] == "fixed"
    return rows[fixed == rows["dataset"].isin(rows.loc[fixed, "dataset"])]


def _where(rows: pd.DataFrame) -> str:
    return "the fixed split" if (rows["split_kind"] == "fixed").all() else "random splits"


def _accuracies_on(rows: pd.DataFrame) -> str:
    groups = {model: cell(rows, model=model) for model in in_order(set(rows["model"]), names.MODELS)}
    means = {model: sample(group).mean for model, group in groups.items()}
    text = "mean test accuracy is " + list_words(
        [f"{number(mean)}\N{NO-BREAK SPACE}% with {names.model(model)}" for model, mean in means.items()]
    )
    cgnn = groups.pop("cgnn", None)
    gaps = {} if cgnn is None else {model: compare(cgnn, group) for model, group in groups.items()}
    # There is an interval only if both models have two finished runs.
    gaps = {model: gap for model, gap in gaps.items() if not math.isnan(gap.low)}
    if not gaps:
        return text
    better = [names.model(model) for model, gap in gaps.items() if gap.low > 0]
    worse = [names.model(model) for model, gap in gaps.items() if gap.high < 0]
    parts = [f"more accurate than {list_words(better)}"] if better else []
    parts += [f"less accurate than {list_words(worse)}"] if worse else []
    if parts:
        return f"{text}; CGNN is significantly {list_words(parts)}"
    if len(gaps) == len(groups):
        return f"{text}; no model differs significantly from CGNN"
    return f"{text}; CGNN does not differ significantly from {list_words([names.model(model) for model in gaps])}"
