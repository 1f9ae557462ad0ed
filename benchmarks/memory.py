"""Peak memory of a training step against the ending time, by solver: bytes held by torch's allocator."""

import gc
from typing import Any

import torch

from benchmarks.epochs import settings_of
from benchmarks.ours import OurEpoch
from benchmarks.problem import Problem
from cgnn.paper.hyperparameters import override
from cgnn.training.device import PeakMemory
from cgnn.training.loop import step

SOLVERS = {
    "cgnn": ("exact", "exact_recompute", "dopri5", "dopri5_adjoint"),
    # For torchdiffeq's solvers, weights do not change how the memory grows.
    "cgnn_weight": ("exact", "exact_recompute"),
}
ENDING_TIMES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
QUICK_ENDING_TIMES = (1.0, 10.0)
#: short enough to cost nothing, for the epoch that sets up.
SHORT = 0.01


def measure_memory(problem: Problem, ending_times: tuple[float, ...]) -> list[dict[str, Any]]:
    """One row per model, solver and ending time.

    Memory that is kept counts (model, normalised graph, optimiser's state); temporary memory of the set-up does not.
    The data is loaded before and is the same for all.
    """
    rows = []
    for model, solvers in SOLVERS.items():
        for solver in solvers:
            for t1 in ending_times:
                gc.collect()
                with PeakMemory(torch.device("cpu")) as peak:
                    settings = override(settings_of(problem.dataset, model), t1=SHORT)
                    epoch = OurEpoch(problem, model, settings, solver)
                    epoch()
                    epoch.model.conv.t1 = t1
                    epoch.optimizer.zero_grad()
                    peak.restart()
                    step(epoch.model, problem.data, problem.split, epoch.optimizer)
                    del epoch
                rows.append(
                    {
                        "dataset": problem.dataset,
                        "model": model,
                        "solver": solver,
                        "t1": t1,
                        "peak_bytes": peak.bytes,
                        "memory_counter": peak.counter,
                    }
                )
    return rows
