"""Measure speed and memory side by side, and write benchmarks/out/bench.json and bench.md."""

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.training.allocator import tune_allocator

#: Growth comes first: its largest graph needs most of the memory, and the other parts leave several GiB allocated.
PARTS = ("growth", "epochs", "memory", "order")
DATASETS = ("cora", "citeseer", "pubmed")
#: The models of this project whose epochs are timed.
MODELS = ("cgnn", "cgnn_weight", "gcn", "gat")
BENCHMARKS = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Cora, few repeats and small sizes: half a minute")
    parser.add_argument(
        "--only",
        default=",".join(PARTS),
        help=f"comma-separated parts of {','.join(PARTS)}; the results of the others in --out are kept",
    )
    parser.add_argument(
        "--max-nodes", type=int, help="largest graph of the growth table (default: 10,000,000, which needs 16 GiB)"
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="torch threads (default: all cores)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out"), help="folder for bench.json and bench.md")
    options = parser.parse_args(arguments)
    parts = options.only.split(",")
    for part in parts:
        if part not in PARTS:
            raise UserError(f"--only: found {part!r}, expected some of {','.join(PARTS)}")
    warnings.filterwarnings("ignore", message=".*Sparse (CSR|invariant).*")
    # torch's profiler, which counts the memory, announces each start and stop below this level.
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    import torch

    # As in `cgnn train`, for all contestants: weights that decay below 1e-38 would slow down every product with them
    # (set before torch starts its threads, which inherit it), and so would clearing the pages of each new tensor.
    torch.set_flush_denormal(True)
    tune_allocator()
    code, harness = fingerprints(), harness_fingerprints()
    earlier = {} if set(parts) == set(PARTS) else earlier_results(options.out / "bench.json", code, harness)
    # Parts that are kept from a file without fingerprints of the harness do not get those of this run.
    content = earlier or {"harness": harness}
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    content |= {"date": date, "quick": options.quick, "machine": describe(), "code": code}
    durations = content.setdefault("part_seconds", {})
    from benchmarks.render import markdown
    from benchmarks.requirements import check

    for part in sorted(parts, key=PARTS.index):
        started = time.perf_counter()
        for _ in MEASURE[part](content, options):
            content["requirements"] = check(content)
            durations[part] = round(time.perf_counter() - started, 1)
            content["seconds"] = round(sum(durations.values()), 1)
            # Written after every dataset and size, so that an interrupted run keeps its results.
            write_text(options.out / "bench.json", json.dumps(content, indent=1) + "\n")
            write_text(options.out / "bench.md", markdown(content))
    print(markdown(content))
    return 0


def fingerprints() -> dict[str, str]:
    """The fingerprint of each training whose epoch is timed; the rows of runs.csv name the same ones."""
    from cgnn.paper.fidelity import preset
    from cgnn.pipeline.provenance import training_fingerprint

    return {model: training_fingerprint(model, preset("released")) for model in MODELS}


def harness_fingerprints(benchmarks: Path = BENCHMARKS) -> dict[str, str]:
    """Fingerprints of other code that affects the measurements, which no row of runs.csv names."""
    from cgnn.pipeline.fingerprint import code_fingerprint

    modules = [f"benchmarks.{path.stem}" for path in benchmarks.glob("*.py") if path.stem not in ("__init__", "render")]
    return {
        "adaptive solvers": code_fingerprint("cgnn.dynamics.adaptive"),
        "allocator": code_fingerprint("cgnn.training.allocator"),
        "benchmarks": code_fingerprint(*modules, without=("benchmarks.render",), package=benchmarks),
    }


def earlier_results(path: Path, code: dict[str, str], harness: dict[str, str]) -> dict[str, Any]:
    """What an earlier run measured, which ``--only`` keeps; refused if the code has changed since.

    Files that were written before the harness had fingerprints lack them, and only their ``code`` is compared.
    """
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    found, expected = content.get("code"), code
    if found == code and "harness" in content:
        found, expected = content["harness"], harness
    if found != expected:
        raise UserError(
            f"{path}: measured with other code (fingerprints {found}, expected {expected}), so its parts "
            "cannot be kept; measure all parts (without --only), or give another folder with --out"
        )
    return content


def epochs(content: dict[str, Any], options: argparse.Namespace) -> Iterator[None]:
    from benchmarks.epochs import measure_epochs
    from benchmarks.problem import load_problem
    from benchmarks.timing import QUICK, Plan

    content["rows"] = []
    # All cores first, so that the first row of a name is the one with all cores.
    for dataset, count in dict.fromkeys([*((name, options.threads) for name in DATASETS), ("cora", 1)]):
        if options.quick and (dataset, count) != ("cora", options.threads):
            continue
        say(f"epochs: {dataset}, {count} thread{'s' if count > 1 else ''}")
        content["rows"] += measure_epochs(load_problem(dataset), count, QUICK if options.quick else Plan())
        yield


def memory(content: dict[str, Any], options: argparse.Namespace) -> Iterator[None]:
    from benchmarks.memory import ENDING_TIMES, QUICK_ENDING_TIMES, measure_memory
    from benchmarks.problem import load_problem

    say("memory: cora")
    content["memory"] = measure_memory(load_problem("cora"), QUICK_ENDING_TIMES if options.quick else ENDING_TIMES)
    yield


def growth(content: dict[str, Any], options: argparse.Namespace) -> Iterator[None]:
    from benchmarks.growth import COMPARED, POINTS, QUICK_POINTS, measure_growth

    content["growth"], content["allocator"] = [], []
    for point in QUICK_POINTS if options.quick else POINTS:
        if options.max_nodes is not None and point.nodes > options.max_nodes:
            continue
        say(f"growth: {point.graph} graph, {point.nodes:,} nodes, {point.solver}")
        row = measure_growth(point, options.threads)
        content["growth"].append(row)
        yield
        if point == COMPARED:
            say("growth: the same with the allocator's default settings")
            content["allocator"] = [row, measure_growth(point, options.threads, tuned=False)]
            yield


def order(content: dict[str, Any], options: argparse.Namespace) -> Iterator[None]:
    from benchmarks.order import graphs, measure_order
    from benchmarks.timing import QUICK, Plan

    content["order"] = []
    for graph in graphs(options.quick):
        say(f"order: {graph.name}, {graph.num_nodes:,} nodes")
        content["order"].append(measure_order(graph, options.threads, QUICK if options.quick else Plan()))
        yield


def say(text: str) -> None:
    print(f"{datetime.now().strftime('%H:%M:%S')} {text}", flush=True)


MEASURE = {"epochs": epochs, "memory": memory, "order": order, "growth": growth}

if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except UserError as error:
        raise SystemExit(f"error: {error}") from None
