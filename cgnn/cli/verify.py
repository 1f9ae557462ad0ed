"""Recompute rows drawn at random from published results, from raw data to the row, and compare every value.

  python -m cgnn verify                                   five rows that take about two minutes on one core
  python -m cgnn verify --results results/paper --rows 20 --all

On the same machine with the same versions, training is deterministic, so values must be bit-identical. Otherwise
accuracies may differ by 2 percentage points, or by 3 standard deviations over the replicas of that cell;
docs/promises.md explains why. Exits with 1 if a value differs.
"""

import argparse
import secrets
import time
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, default=Path("results/published"), help="default: results/published")
    parser.add_argument("--rows", type=int, default=5, help="how many rows to recompute (5)")
    parser.add_argument("--seed", type=int, help="draw the same rows again; default: new ones each time")
    parser.add_argument(
        "--seconds", type=float, default=120, help="total time; rows that take longer than their share are left out"
    )
    parser.add_argument("--all", action="store_true", help="draw from all rows, however long they take")


def run(args: argparse.Namespace) -> int:
    import math

    from cgnn.errors import UserError
    from cgnn.pipeline.verify import Verdict, draw, read_rows, verify

    if args.rows < 1:
        raise UserError(f"--rows: found {args.rows}, expected at least 1")
    seed = secrets.randbelow(10**6) if args.seed is None else args.seed
    rows = read_rows(args.results)
    limit = math.inf if args.all else args.seconds / args.rows
    drawn = draw(rows, args.rows, seed, limit)
    if not drawn:
        raise UserError(f"{args.results}: no row is expected to take {limit:.0f} s or less; use --all or --seconds")
    long = 0 if args.all else sum(item.estimate is None or item.estimate > limit for item in rows)
    print(f"{len(drawn)} of {len(rows)} rows of {args.results}, seed {seed}")
    if long and long < len(rows):
        print(f"{long} rows are left out: their time is unknown or over {limit:.0f} s each; --all includes them")
    started = time.perf_counter()
    checks = verify(drawn, args.results, report=lambda line: print(line, flush=True))
    bad = [check for check in checks if check.verdict in (Verdict.DIFFERENT, Verdict.FAILED)]
    equal = sum(check.verdict is Verdict.EQUAL for check in checks)
    close = len(checks) - len(bad) - equal
    seconds = time.perf_counter() - started
    print(f"{equal} bit-identical, {close} within tolerance, {len(bad)} not confirmed; {seconds:.0f} s")
    return 1 if bad else 0
