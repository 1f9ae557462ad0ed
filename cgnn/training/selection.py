"""Choose the epoch whose test accuracy is reported. All four rules are recorded; the `selection` switch picks one."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Selected:
    """Accuracies in percent; epochs count from 1."""

    validation_accuracy: float
    test_accuracy: float
    best_epoch: int
    test_last_best_validation: float
    test_final_epoch: float
    test_oracle: float


def select_epoch(validation: np.ndarray, test: np.ndarray, rule: str) -> Selected:
    """Apply the rules to one replica's accuracies by epoch.

    Ties are exact, because both accuracies are counts over a fixed number of nodes. ``oracle`` uses the test set and is
    not a valid protocol; it only shows how much selection matters.
    """
    chosen = {
        "best_validation": int(validation.argmax()),
        "last_best_validation": len(validation) - 1 - int(validation[::-1].argmax()),
        "final_epoch": len(validation) - 1,
        "oracle": int(test.argmax()),
    }
    epoch = chosen[rule]
    return Selected(
        validation_accuracy=float(validation[epoch]),
        test_accuracy=float(test[epoch]),
        best_epoch=epoch + 1,
        test_last_best_validation=float(test[chosen["last_best_validation"]]),
        test_final_epoch=float(test[-1]),
        test_oracle=float(test.max()),
    )
