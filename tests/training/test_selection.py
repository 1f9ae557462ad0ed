"""The rules that select the epoch whose accuracy is reported."""

import numpy as np
import pytest

from cgnn.training.selection import select_epoch

VALIDATION = np.array([50.0, 70.0, 60.0, 70.0, 65.0])
TEST = np.array([40.0, 61.0, 75.0, 62.0, 63.0])


@pytest.mark.parametrize(
    ("rule", "epoch", "test"),
    [("best_validation", 2, 61.0), ("last_best_validation", 4, 62.0), ("final_epoch", 5, 63.0), ("oracle", 3, 75.0)],
)
def test_each_selection_rule_selects_its_epoch(rule: str, epoch: int, test: float) -> None:
    found = select_epoch(VALIDATION, TEST, rule)
    assert (found.best_epoch, found.test_accuracy, found.validation_accuracy) == (epoch, test, VALIDATION[epoch - 1])


def test_the_results_of_all_rules_are_recorded() -> None:
    for rule in ("best_validation", "oracle"):
        found = select_epoch(VALIDATION, TEST, rule)
        assert (found.test_last_best_validation, found.test_final_epoch, found.test_oracle) == (62.0, 63.0, 75.0)
