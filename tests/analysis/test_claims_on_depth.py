"""C5 to C7 and C12, layers and ending time, on made-up results for each outcome."""

import pandas as pd
import pytest
from judging import sampled, verdict
from made_up import rows

from cgnn.analysis.claims.base import NOT_REPRODUCED, NOT_TESTABLE, PARTLY, REPRODUCED


def sweep(model, axis, means, dataset="cora", std=0.6, **options):
    return pd.concat(
        [
            rows(dataset, model, sampled(mean, 5, std, seed=i), **{axis: value}, **options)
            for i, (value, mean) in enumerate(means.items())
        ]
    )


FALLING = {2: 81.5, 3: 81.0, 8: 70.0, 16: 40.0}


@pytest.mark.parametrize(
    ("gat", "expected"),
    [(FALLING, REPRODUCED), ({2: 81.0, 3: 81.0, 8: 81.2, 16: 81.1}, PARTLY)],
)
def test_discrete_models_drop_with_depth(gat, expected):
    sweeps = pd.concat([sweep("gcn", "layers", FALLING), sweep("gat", "layers", gat)])
    assert verdict("C5", sweeps=sweeps).verdict == expected


def test_a_deep_optimum_contradicts_over_smoothing():
    rising = {2: 75.0, 3: 76.0, 8: 81.0, 16: 70.0}
    sweeps = pd.concat([sweep("gcn", "layers", rising), sweep("gat", "layers", rising)])
    assert verdict("C5", sweeps=sweeps).verdict == NOT_REPRODUCED


def test_a_fall_of_gcn_alone_leaves_half_the_claim_open():
    assert verdict("C5", sweeps=sweep("gcn", "layers", FALLING)).verdict == PARTLY


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({1.0: 75.0, 5.0: 80.0, 15.0: 82.0, 30.0: 82.2, 50.0: 81.9}, REPRODUCED),
        ({1.0: 75.0, 5.0: 84.0, 15.0: 81.0, 30.0: 81.0}, NOT_REPRODUCED),
        ({1.0: 75.0, 15.0: 82.0, 30.0: 70.0}, NOT_REPRODUCED),
    ],
)
def test_robustness_to_the_ending_time(means, expected):
    assert verdict("C6", sweeps=sweep("cgnn", "t1", means)).verdict == expected


def test_robust_on_one_dataset_only_is_partly():
    good, bad = {5.0: 80.0, 15.0: 82.0, 30.0: 82.0}, {5.0: 80.0, 15.0: 82.0, 30.0: 70.0}
    sweeps = pd.concat([sweep("cgnn", "t1", good), sweep("cgnn", "t1", bad, "pubmed")])
    assert verdict("C6", sweeps=sweeps).verdict == PARTLY


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        ({1.0: 75.0, 10.0: 76.0, 30.0: 50.0}, REPRODUCED),
        ({1.0: 78.0, 10.0: 78.1, 30.0: 78.0}, PARTLY),
        ({1.0: 81.9, 10.0: 82.0, 30.0: 82.1}, NOT_REPRODUCED),
    ],
)
def test_what_the_initial_value_is_worth(without, expected):
    with_h0 = {1.0: 81.0, 10.0: 82.0, 30.0: 82.0}
    sweeps = pd.concat([sweep("cgnn", "t1", with_h0), sweep("cgnn_no_h0", "t1", without)])
    assert verdict("C7", sweeps=sweeps).verdict == expected


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({2: 77.0, 4: 77.0, 8: 76.5, 16: 76.0}, REPRODUCED),
        ({2: 77.0, 4: 76.0, 8: 80.0, 16: 76.0}, PARTLY),
        ({2: 77.0, 4: 80.0, 8: 81.0, 16: 82.0}, NOT_REPRODUCED),
    ],
)
def test_residual_links_and_depth(means, expected):
    runs = pd.concat(
        [rows("cora", "gcn_residual", sampled(m, seed=d), layers=d, variant=f"layers-{d}") for d, m in means.items()]
    )
    assert verdict("C12", runs=runs).verdict == expected


def test_two_noisy_runs_a_depth_cannot_exclude_a_gain():
    runs = pd.concat(
        [rows("cora", "gcn_residual", [60.0 + 9 * d, 80.0], layers=d, variant=f"layers-{d}") for d in (2, 4)]
    )
    assert verdict("C12", runs=runs).verdict == NOT_TESTABLE


def test_depths_of_two_protocols_are_not_compared():
    deep = [rows("cora", "gcn_residual", sampled(77.0, seed=d), layers=d, variant=f"layers-{d}") for d in (2, 4, 8)]
    shallow = rows("cora", "gcn_residual", sampled(60.0), layers=2, source="search")
    assert verdict("C12", runs=pd.concat([shallow, *deep])).verdict == REPRODUCED
