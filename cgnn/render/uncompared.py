"""Sentences for results of which none can be compared with the paper: NELL with some of its labels, your own graph."""

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
    kind = "fixed" if (rows["split_kind"] == "fixed").any() else "random"
    rows = rows[(rows["split_kind"] == kind) & (rows["variant"] == "") & rows["model"].isin(MODELS)]
    rows = choose_protocol(rows).of(rows)
    where = "the fixed split" if kind == "fixed" else "random splits"
    return " ".join(
        f"On {where} of {names.dataset(dataset)}, {_accuracies_on(rows[rows['dataset'] == dataset])}."
        for dataset in in_order(set(rows["dataset"]), names.DATASETS)
    )


def _accuracies_on(rows: pd.DataFrame) -> str:
    groups = {model: cell(rows, model=model) for model in in_order(set(rows["model"]), names.MODELS)}
    means = {model: sample(group).mean for model, group in groups.items()}
    text = "mean test accuracy is " + list_words(
        [f"{number(mean)}\N{NO-BREAK SPACE}% with {names.model(model)}" for model, mean in means.items()]
    )
    gaps = {
        model: compare(groups["cgnn"], group)
        for model, group in groups.items()
        if "cgnn" in groups and model != "cgnn" and min(len(groups["cgnn"]), len(group)) > 1
    }
    if not gaps:
        return text
    better = [names.model(model) for model, gap in gaps.items() if gap.low > 0]
    worse = [names.model(model) for model, gap in gaps.items() if gap.high < 0]
    parts = [f"more accurate than {list_words(better)}"] if better else []
    parts += [f"less accurate than {list_words(worse)}"] if worse else []
    return (
        f"{text}; CGNN is significantly {list_words(parts)}"
        if parts
        else f"{text}; no model differs significantly from CGNN"
    )
