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

PARTS = ("epochs", "memory", "growth")
DATASETS = ("cora", "citeseer", "pubmed")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Cora, few repeats and small sizes: half a minute")
    parser.add_argument("--only", default=",".join(PARTS), help=f"comma-separated parts of {','.join(PARTS)}")
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

    # As `cgnn train` has it, for all contestants: weights that decay below 1e-38 would slow every product with them.
    # Before torch starts its threads, since they inherit it.
    torch.set_flush_denormal(True)
    started = time.perf_counter()
    content: dict[str, Any] = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "quick": options.quick,
        "machine": describe(),
    }
    from benchmarks.render import markdown
    from benchmarks.requirements import check

    for part in parts:
        for _ in MEASURE[part](content, options):
            content["requirements"] = check(content)
            content["seconds"] = round(time.perf_counter() - started, 1)
            # After every dataset and size: a run that is stopped keeps what it has.
            write_text(options.out / "bench.json", json.dumps(content, indent=1) + "\n")
            write_text(options.out / "bench.md", markdown(content))
    print(markdown(content))
    return 0


def epochs(content: dict[str, Any], options: argparse.Namespace) -> Iterator[None]:
    from benchmarks.epochs import measure_epochs
    from benchmarks.problem import load_problem
    from benchmarks.timing import QUICK, Plan

    content["rows"] = []
    # All cores first: a reader who takes the first row of a name gets those.
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
    from benchmarks.growth import QUICK_SIZES, SIZES, measure_growth

    content["growth"] = []
    for nodes in QUICK_SIZES if options.quick else SIZES:
        say(f"growth: {nodes:,} nodes")
        content["growth"] += measure_growth((nodes,), options.threads)
        yield


def say(text: str) -> None:
    print(f"{datetime.now().strftime('%H:%M:%S')} {text}", flush=True)


MEASURE = {"epochs": epochs, "memory": memory, "growth": growth}

if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except UserError as error:
        raise SystemExit(f"error: {error}") from None
