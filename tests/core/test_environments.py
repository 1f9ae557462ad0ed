"""Unusual environments: another locale, no git, and a home folder that is not writable."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cgnn.datasets.graph import save_graph
from cgnn.datasets.splits import save_split
from cgnn.datasets.synthetic import Parameters, generate

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results" / "published"


def cgnn(*words: str, folder: Path, **changes: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON", "XDG_"))}
    root = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "cgnn", *words]
    return subprocess.run(command, cwd=folder, env={**kept, **root, **changes}, capture_output=True, timeout=300)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The rows that are committed to the repository."""
    tree = tmp_path / "results"
    tree.mkdir()
    for path in PUBLISHED.glob("*.csv"):
        shutil.copy(path, tree)
    return tree


def test_verdicts_print_in_a_latin_1_locale(results: Path, tmp_path: Path):
    done = cgnn(
        *("claims", "--results", str(results), "--out", str(tmp_path / "claims.json")),
        folder=ROOT,
        **{"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
    )
    assert done.returncode == 0, done.stderr.decode("latin-1")
    assert b"reproduced" in done.stdout


SEARCH = (
    *("search", "--dataset", "cora", "--split", "fixed", "--model", "gcn", "--trials", "1", "--epochs", "1"),
    *("--prior", "lr~loguniform(1e-3, 1e-1)", "--graph", "graph.npz", "--split-file", "fixed.json"),
    *("--store", "store", "--trials-out", "trials.csv", "--best-out", "best.yaml", "--plots", "plots"),
)


@pytest.mark.parametrize("environment", [{"PATH": "/nonexistent"}, {"HOME": "/dev/null"}], ids=["git", "home folder"])
def test_a_search_works_without_a(tmp_path: Path, environment: dict[str, str]):
    """Orion imports GitPython, which fails without git, and looks for its settings in the home folder."""
    graph = generate("cora", Parameters(nodes=200, classes=4, features=40, degree=3, words=5))
    save_graph(graph, tmp_path / "graph.npz")
    assert graph.fixed_split is not None
    save_split(graph.fixed_split, tmp_path / "fixed.json", dataset="cora", seed=None, graph_sha256=graph.sha256)
    done = cgnn(*SEARCH, folder=tmp_path, **environment)
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "best.yaml").is_file()


def test_a_figure_is_drawn_without_a_home_folder(results: Path, tmp_path: Path):
    words = ("figure", "convergence", "--results", str(results), "--out", str(tmp_path / "figure"))
    done = cgnn(*words, folder=ROOT, HOME="/dev/null")
    assert done.returncode == 0, done.stderr.decode()
