"""Peak memory of a training epoch against the ending time, by solver: bytes held by torch's allocator."""

import gc
from typing import Any

import torch

from benchmarks.epochs import settings_of
from benchmarks.ours import OurEpoch
from benchmarks.problem import Problem
from cgnn.device import PeakMemory
from cgnn.hyperparameters import override

SOLVERS = ("exact", "exact_recompute", "dopri5", "dopri5_adjoint")
ENDING_TIMES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
QUICK_ENDING_TIMES = (1.0, 10.0)


def measure_memory(problem: Problem, ending_times: tuple[float, ...], epochs: int = 2) -> list[dict[str, Any]]:
    """A row a solver and ending time. The graph is held by all alike and is not counted; the model is."""
    rows, dataset = [], problem.dataset
    for model in ("cgnn", "cgnn_weight"):
        for solver in SOLVERS:
            for t1 in ending_times:
                gc.collect()
                # torchdiffeq at long times takes seconds an epoch; its peak is in the first one already.
                rounds = epochs if solver.startswith("exact") else 1
                with PeakMemory(torch.device("cpu")) as peak:
                    epoch = OurEpoch(problem, model, override(settings_of(dataset, model), t1=t1), solver)
                    for _ in range(rounds):
                        epoch()
                    del epoch
                rows.append(
                    {
                        "dataset": dataset,
                        "model": model,
                        "solver": solver,
                        "t1": t1,
                        "peak_bytes": peak.bytes,
                        "memory_counter": peak.counter,
                    }
                )
    return rows
