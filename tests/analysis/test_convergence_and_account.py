"""The measured convergence to the fixed point against scipy, and the account of the cost of a results tree."""

import numpy as np
import pytest
import scipy.linalg
import synthetic_results as synthetic
from scipy import sparse

from cgnn.analysis.account import cost, provenance
from cgnn.datasets.graph import Graph


def ring(count=30, chords=7):
    """A ring with some chords: connected, so the slowest rate is 1 − α."""
    pairs = {tuple(sorted((i, (i + 1) % count))) for i in range(count)} | {(0, 2 * i) for i in range(2, 2 + chords)}
    features = sparse.random(count, 12, density=0.4, rng=np.random.default_rng(0), format="csr", dtype=np.float32)
    edges = np.array(sorted(pairs), dtype=np.int64).T
    return Graph("ring", "synthetic", sparse.csr_array(features), edges, np.zeros(count, dtype=np.int64), 1)


def test_the_distance_to_the_limit_agrees_with_the_matrix_exponential():
    from cgnn.analysis.convergence import ALPHA, GAMMA, measure

    rows = measure(ring(), nodes=100)
    assert (rows["solver_error"] < 1e-10).all()
    adjacency = np.zeros((30, 30))
    for a, b in ring().edges.T:
        adjacency[a, b] = adjacency[b, a] = 1
    adjacency += GAMMA * np.eye(30)
    scale = 1 / np.sqrt(adjacency.sum(1))
    M = ALPHA / 2 * (np.eye(30) + scale[:, None] * adjacency * scale) - np.eye(30)
    paper = rows[rows["kind"] == "paper"]
    assert paper["predicted_rate"].iloc[0] == pytest.approx(1 - ALPHA, abs=1e-9)
    # H(t) − H(∞) = e^{Mt}(E − H(∞)): at late t its rate is that of the slowest mode, for any E.
    late = paper[(paper["t"] > 60) & (paper["distance"] > 1e-9)]
    slowest = scipy.linalg.eigvalsh(M).max()
    assert -np.polyfit(late["t"], np.log(late["distance"]), 1)[0] == pytest.approx(-slowest, rel=1e-3)
    released = rows[rows["kind"] == "released"]
    assert released["norm"].is_monotonic_increasing and released["distance"].isna().all()


def test_the_part_of_the_graph_is_connected_and_has_the_requested_size():
    from cgnn.analysis.convergence import neighbourhood

    chosen, edges = neighbourhood(ring(), 12)
    assert len(chosen) == 12
    matrix = sparse.csr_array((np.ones(edges.shape[1]), edges), shape=(12, 12))
    assert sparse.csgraph.connected_components(matrix, directed=False)[0] == 1


def test_hours_and_epochs_are_summed_per_stage(tmp_path):
    (tmp_path / "seconds.csv").write_text(
        "stage,seconds,seconds_per_epoch\nruns,1800,4.5\nruns,5400,13.5\nsearch,3600,\n"
    )
    (tmp_path / "runs.csv").write_text("epochs\n400\n400\n")
    assert cost(tmp_path) == [
        {"what": "tables of accuracies and residual GCN", "count": 2, "epochs": 800, "hours": 2.0},
        {"what": "hyperparameter search", "count": 1, "epochs": None, "hours": 1.0},
    ]


def test_without_recorded_times_there_is_no_cost(tmp_path):
    synthetic.rows("cora", "cgnn", [80.0]).to_csv(tmp_path / "runs.csv", index=False)
    assert cost(tmp_path) == []


def test_provenance_lists_code_data_and_versions(tmp_path):
    synthetic.rows("cora", "cgnn", [80.0, 81.0]).to_csv(tmp_path / "runs.csv", index=False)
    found = provenance(tmp_path)
    assert found["versions"] == ["numpy=2.4.6", "python=3.11", "torch=2.13.0"]
    assert found["code"][0]["model"] == "CGNN" and found["graphs"][0]["dataset"] == "Cora"
    assert provenance(tmp_path / "nothing")["rows"] == {}
