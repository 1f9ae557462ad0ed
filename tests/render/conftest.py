"""One synthetic results tree for all tests in this folder."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import synthetic_results as synthetic

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
