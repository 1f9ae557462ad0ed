"""C10 and C13, the fixed point and augmentation, on made-up results for each outcome."""

import numpy as np
import pandas as pd
import pytest
from judging import sampled, verdict
from made_up import rows

from cgnn.analysis.claims.base import NOT_REPRODUCED, NOT_TESTABLE, PARTLY, REPRODUCED
from cgnn.paper.fidelity import preset


def converging(rate=0.05, predicted=0.05, end=400.0, kind="paper"):
    t = np.geomspace(0.5, end, 25)
    return pd.DataFrame({"kind": kind, "t": t, "distance": np.exp(-rate * t), "predicted_rate": predicted, "norm": 1.0})


@pytest.mark.parametrize(
    ("plain", "weighted", "expected"),
    [
        (converging(), converging(kind="paper_weight"), REPRODUCED),
        (converging(), converging(rate=0.02, kind="paper_weight"), PARTLY),
        (converging(end=20.0), converging(end=20.0, kind="paper_weight"), NOT_REPRODUCED),
    ],
)
def test_convergence(plain, weighted, expected):
    assert verdict("C10", convergence=pd.concat([plain, weighted])).verdict == expected


def augmented(mean_without, std_with=0.6, std_without=0.6, lost_without=0, n=10):
    without = sampled(mean_without, n, std_without, seed=1)
    without[:lost_without] = [None] * lost_without
    return pd.concat(
        [
            rows("cora", "cgnn_weight", sampled(82.0, n, std_with), variant="weight-released"),
            rows(
                "cora",
                "cgnn_weight",
                without,
                variant="augmentation-none",
                fidelity=preset("released", augmentation="none"),
            ),
        ]
    )


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (augmented(82.0, lost_without=2), REPRODUCED),
        (augmented(82.0, std_with=0.2, std_without=4.0, n=30), PARTLY),
        (augmented(82.1), PARTLY),
        (augmented(78.0), NOT_REPRODUCED),
        (augmented(82.5, std_with=2.0, std_without=2.0), NOT_TESTABLE),
    ],
)
def test_augmentation(frame, expected):
    assert verdict("C13", fidelity=frame).verdict == expected


def test_runs_that_differ_in_more_than_augmentation_are_not_compared():
    frame = augmented(82.0)
    frame.loc[frame["variant"] == "augmentation-none", "sw_alpha"] = "tabulated"
    assert verdict("C13", fidelity=frame).verdict == NOT_TESTABLE
