"""C8, C9 and C11, memory and time, on made-up results for each outcome."""

import json

import made_up
import pandas as pd
import pytest
from judging import verdict

from cgnn.analysis.claims.base import NOT_REPRODUCED, NOT_TESTABLE, PARTLY, REPRODUCED


def profile(method, peaks, dataset="cora", seconds=0.01, model=None):
    axis = "layers" if not method.startswith("cgnn_") or method == "cgnn_discrete" else "t1"
    return pd.DataFrame(
        {
            "dataset": dataset,
            "method": method,
            "model": model or method,
            "axis": axis,
            "value": list(peaks),
            "status": "ok",
            "peak_bytes": [int(mib * 2**20) for mib in peaks.values()],
            "seconds_per_epoch": seconds,
            "seconds": json.dumps([seconds * factor for factor in (0.98, 1.0, 1.02, 1.01)]),
        }
    )


LINEAR = {2: 22, 4: 24, 8: 28, 16: 36}
FLAT = {2: 22, 4: 22, 8: 22, 16: 22.1}


@pytest.mark.parametrize(
    ("gat", "discrete", "expected"),
    [(LINEAR, LINEAR, REPRODUCED), (FLAT, LINEAR, PARTLY)],
)
def test_memory_and_layers(gat, discrete, expected):
    profiles = pd.concat([profile("gcn", LINEAR), profile("gat", gat), profile("cgnn_discrete", discrete)])
    assert verdict("C8", profiles=profiles).verdict == expected


def test_memory_that_does_not_grow_contradicts_linear_growth():
    bent = {2: 30, 4: 22, 8: 31, 16: 21}
    profiles = pd.concat([profile(name, bent) for name in ("gcn", "gat", "cgnn_discrete")])
    assert verdict("C8", profiles=profiles).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("adjoint", "expected"),
    [
        ({1: 20.0, 10: 20.0, 50: 20.4}, REPRODUCED),
        ({1: 20.0, 10: 25.0, 50: 30.0}, PARTLY),
        ({1: 40.0, 10: 60.0, 50: 90.0}, NOT_REPRODUCED),
    ],
)
def test_memory_and_ending_time(adjoint, expected):
    profiles = pd.concat([profile("cgnn_adjoint", adjoint), profile("gcn", LINEAR), profile("gat", LINEAR)])
    assert verdict("C9", profiles=profiles).verdict == expected


@pytest.mark.parametrize(
    ("seconds", "weight_seconds", "expected"),
    [(0.60, 0.60, REPRODUCED), (0.60, 3.0, PARTLY), (3.0, 3.0, PARTLY), (0.02, 0.02, NOT_REPRODUCED)],
)
def test_cost_of_an_epoch(seconds, weight_seconds, expected):
    profiles = pd.concat(
        [
            profile("gcn", {2: 20}, seconds=0.01),
            profile("cgnn_adjoint", {10: 20}, seconds=seconds, model="cgnn"),
            profile("cgnn_weight_dopri5", {10: 20}, seconds=weight_seconds, model="cgnn_weight"),
            profile("cgnn_exact", {10: 20}, seconds=0.009, model="cgnn"),
        ]
    )
    claim = verdict("C11", profiles=profiles)
    assert claim.verdict == expected
    assert "with the exact solver it is 0.90 times" in claim.evidence


def test_the_exact_solver_alone_says_nothing_about_the_papers_cost():
    profiles = pd.concat([profile("gcn", {2: 20}), profile("cgnn_exact", {10: 20})])
    assert verdict("C11", profiles=profiles).verdict == NOT_TESTABLE


def test_the_benchmark_is_preferred_where_it_was_run():
    claim = verdict("C11", bench=made_up.bench()["rows"])
    assert claim.comparisons[0].estimate == pytest.approx(1200 / 9)
