"""Time and memory of an epoch against the number of nodes, on a random graph and on one with communities.

Each size runs in a separate process (`python -m benchmarks.growth '{"graph": "community", …}'` prints its row as
JSON), so that its peak memory does not depend on previous sizes.
"""

import gc
import json
import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

#: Number of nodes from which fewer repeats are enough, because an epoch takes long.
LARGE = 300_000
#: Number of nodes from which two repeats are enough.
HUGE = 3_000_000


@dataclass(frozen=True)
class Point:
    """What one row of the growth table measures."""

    graph: str  # random, community
    nodes: int
    solver: str = "exact"


SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
POINTS = (
    *(Point("random", nodes) for nodes in SIZES),
    *(Point("community", nodes) for nodes in SIZES),
    Point("community", 1_000_000, "exact_recompute"),
    Point("community", 10_000_000, "exact_recompute"),
)
QUICK_POINTS = (
    Point("random", 3_000),
    Point("random", 10_000),
    Point("community", 10_000),
    Point("community", 10_000, "exact_recompute"),
)


#: The point that is also measured without :func:`tune_allocator`.
COMPARED = Point("community", 1_000_000)


def measure_growth(point: Point, threads: int, tuned: bool = True) -> dict[str, Any]:
    """The row of one point. If its process fails or runs out of memory, the row contains the reason.

    ``tuned``: with :func:`tune_allocator`, as in `cgnn train`.
    """
    wanted = {**asdict(point), "threads": threads, "tuned": tuned}
    command = [sys.executable, "-m", "benchmarks.growth", json.dumps(wanted)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return {**asdict(point), "threads": threads, "failed": reason[0]}
    return json.loads(done.stdout.splitlines()[-1])


def measure(point: Point, thread_count: int) -> dict[str, Any]:
    """Measure cgnn with the published settings for Cora. The epoch and its bare products take turns."""
    import torch

    from benchmarks.cost_model import terms_of
    from benchmarks.epochs import settings_of
    from benchmarks.ours import Floor, OurEpoch
    from benchmarks.problem import community_problem, synthetic_problem
    from benchmarks.timing import threads, timed
    from cgnn.models.sparse_input import SparseInput
    from cgnn.training.device import PeakMemory

    started = time.perf_counter()
    settings = settings_of("cora", "cgnn")
    make = {"community": community_problem, "random": synthetic_problem}[point.graph]
    problem = make(point.nodes)
    gc.collect()
    prepared = time.perf_counter() - started
    with threads(thread_count):
        with PeakMemory(torch.device("cpu")) as peak:
            epoch = OurEpoch(problem, "cgnn", settings, point.solver)
            epoch()
            first_loss = epoch.loss
            peak.restart()  # temporary memory of the set-up does not count, but what it keeps does
            epoch()
        resident = largest_resident()
        gc.collect()
        features = SparseInput.build(problem.data.x)
        floor = Floor(problem, settings, point.solver, features)
        floor()
        rounds = 2 if point.nodes >= HUGE else 7 if point.nodes >= LARGE else 9
        turns = [(timed(epoch), timed(floor)) for _ in range(rounds)]
    seconds, floor_seconds = zip(*turns, strict=True)
    return {
        **asdict(point),
        "stored": problem.data.edge_index.shape[1] + point.nodes,
        "features": int(problem.data.x.values().numel()),
        "width": settings.hidden,
        "terms": terms_of(settings),
        "products": floor.propagations,
        "threads": thread_count,
        "seconds_to_make_graph": round(prepared, 3),
        "ms_per_epoch": round(1000 * median(seconds), 3),
        "ms": [round(1000 * value, 3) for value in seconds],
        "floor_ms": round(1000 * median(floor_seconds), 3),
        "peak_bytes": peak.bytes,
        "resident_bytes": resident,
        "first_loss": first_loss,
        "last_loss": epoch.loss,
    }


def largest_resident() -> int:
    """Largest resident memory of this process in bytes.

    Read from /proc where it exists: ``ru_maxrss`` is at least the memory of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        peak = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        if peak:
            return int(peak[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore", message=".*Sparse (CSR|invariant).*")
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    import torch

    from cgnn.training.allocator import tune_allocator

    torch.set_flush_denormal(True)
    wanted = json.loads(sys.argv[1])
    count = wanted.pop("threads")
    if wanted.pop("tuned"):
        tune_allocator()
    print(json.dumps(measure(Point(**wanted), count)))
