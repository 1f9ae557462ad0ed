"""Summarise runs: one row per cell with mean, deviation, interval, and the difference from the paper's value.

python -m cgnn summarise --runs R/runs.csv --reported paper/reported.yaml --out R/summary.csv
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=Path, required=True, metavar="FILE")
    parser.add_argument("--reported", type=Path, default=Path("paper/reported.yaml"), metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")


def run(args: argparse.Namespace) -> None:
    from cgnn.analysis.rows import load_rows, records
    from cgnn.analysis.summary import summarise
    from cgnn.files import write_csv
    from cgnn.paper.reported import load_reported

    summary = summarise(load_rows(args.runs), load_reported(args.reported))
    write_csv(args.out, list(summary.columns), records(summary))
    print(f"{args.out}: {len(summary)} cells")
