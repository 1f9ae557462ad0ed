"""What the tests of the page share: how it is written, and the cells and searches that they look at."""

import pandas as pd
import synthetic_results as synthetic

from cgnn.__main__ import main


def write_scorecard(results):
    page = results / "index.html"
    options = ["--results", str(results), "--reported", str(synthetic.REPORTED), "--out", str(page)]
    assert main(["scorecard", *options]) in (0, None)
    return page


NOT_RUN = {"dataset": "citeseer", "model": "gat", "split_kind": "fixed", "hyperparameter_source": "published"}
SEARCH = {"dataset": "cora", "split_kind": "fixed", "model": "cgnn", "preset": "released"}
PLOTS = ("parallel_coordinates", "regret")


def chosen(frame, keys):
    return (frame[list(keys)] == pd.Series(keys)).all(axis="columns")
