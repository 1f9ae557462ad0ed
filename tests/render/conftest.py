"""One synthetic results tree for all tests in this folder."""

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import synthetic_results as synthetic
from scorecard_tree import NOT_RUN, PLOTS, SEARCH, chosen, write_scorecard

from cgnn.__main__ import main
from cgnn.datasets.graph import save_graph
from cgnn.datasets.synthetic import Parameters, generate
from cgnn.render.catalogue import FIGURES, TABLES


@pytest.fixture(scope="session")
def results(tmp_path_factory) -> Path:
    """Aggregates of the paper's budget with their summary, and one graph."""
    root = synthetic.write_results(tmp_path_factory.mktemp("results"), datasets=("cora", "citeseer"))
    save_graph(generate("my_graph", Parameters(nodes=200, classes=3)), root / "data" / "my_graph" / "graph.npz")
    arguments = ["--runs", root / "runs.csv", "--reported", synthetic.REPORTED, "--out", root / "summary.csv"]
    assert main(["summarise", *map(str, arguments)]) in (0, None)
    return root


@pytest.fixture(scope="session")
def finished(results) -> Path:
    """The same, with all tables, figures and claims written by their commands."""
    common = ["--results", str(results), "--reported", str(synthetic.REPORTED), "--bench", str(results / "bench.json")]
    assert main(["claims", *common, "--out", str(results / "claims.json")]) == 0
    for kind, products in (("table", TABLES), ("figure", FIGURES)):
        for name in products:
            assert main([kind, name, *common, "--out", str(results / f"{kind}s" / name)]) in (0, None)
    return results


@pytest.fixture(scope="session")
def page(finished, tmp_path_factory):
    """The page of a tree with a cell that was not run, a search that round two decided, and two of Orion's plots."""
    tree = shutil.copytree(finished, tmp_path_factory.mktemp("page") / "results")
    runs = pd.read_csv(tree / "runs.csv")
    runs[~chosen(runs, NOT_RUN)].to_csv(tree / "runs.csv", index=False)
    common = ["--results", str(tree), "--reported", str(synthetic.REPORTED)]
    assert main(["summarise", "--runs", str(tree / "runs.csv"), "--out", str(tree / "summary.csv")]) in (0, None)
    assert main(["table", "fixed_splits", *common, "--out", str(tree / "tables" / "fixed_splits")]) in (0, None)
    trials = pd.read_csv(tree / "trials.csv")
    worst, second = trials[chosen(trials, SEARCH) & trials["mean"].notna()].nsmallest(2, "objective").index
    trials.loc[[worst, second], "mean"] = 99.0
    trials.to_csv(tree / "trials.csv", index=False)
    for name in PLOTS:
        path = tree.joinpath("search", *SEARCH.values(), "plots", f"{name}.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a plot")
    return write_scorecard(tree)
