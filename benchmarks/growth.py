"""An epoch's time and memory against the number of nodes, on synthetic graphs up to a million."""

import gc
import time
from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.epochs import settings_of
from benchmarks.ours import Floor, OurEpoch
from benchmarks.problem import synthetic_problem
from benchmarks.timing import threads, timed
from cgnn.training.device import PeakMemory

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
QUICK_SIZES = (3_000, 10_000)


#: nodes from which fewer repeats are enough, as an epoch lasts long.
LARGE = 300_000


def measure_growth(sizes: tuple[int, ...], thread_count: int) -> list[dict[str, Any]]:
    """A row a size: exact solver, Cora's published settings of cgnn."""
    rows = []
    for nodes in sizes:
        started = time.perf_counter()
        problem = synthetic_problem(nodes)
        settings = settings_of("cora", "cgnn")
        prepared = time.perf_counter() - started
        with threads(thread_count):
            with PeakMemory(torch.device("cpu")) as peak:
                epoch = OurEpoch(problem, "cgnn", settings)
                epoch()
            first_loss = epoch.loss
            gc.collect()
            seconds = [timed(epoch) for _ in range(4 if nodes >= LARGE else 9)]
            floor = Floor(problem, settings)
            floor()
            floor_seconds = [timed(floor) for _ in range(3 if nodes >= LARGE else 9)]
        rows.append(
            {
                "nodes": nodes,
                "stored_values": problem.data.edge_index.shape[1] + nodes,
                "threads": thread_count,
                "seconds_to_make_graph": round(prepared, 3),
                "ms_per_epoch": round(1000 * median(seconds), 3),
                "ms": [round(1000 * value, 3) for value in seconds],
                "floor_ms": round(1000 * median(floor_seconds), 3),
                "peak_bytes": peak.bytes,
                "first_loss": first_loss,
                "last_loss": epoch.loss,
            }
        )
        del epoch, floor, problem
        gc.collect()
    return rows


def exponent(rows: list[dict[str, Any]], key: str) -> float:
    """p of the least-squares fit key ∝ nodes^p in logarithms: 1 is linear; NaN from a single size."""
    if len(rows) < 2:
        return float("nan")
    slope, _ = np.polyfit(np.log([row["nodes"] for row in rows]), np.log([row[key] for row in rows]), 1)
    return float(slope)
