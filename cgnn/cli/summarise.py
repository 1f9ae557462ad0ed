"""Summarise runs: one row a cell with mean, deviation, interval, and the difference to the paper's value.

python -m cgnn summarise --runs R/runs.csv --reported paper/reported.yaml --out R/summary.csv
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=Path, required=True, metavar="FILE")
    parser.add_argument("--reported", type=Path, default=Path("paper/reported.yaml"), metavar="FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")


def run(args: argparse.Namespace) -> None:
    from cgnn.analysis.reported import load_reported
    from cgnn.analysis.rows import load_rows
    from cgnn.analysis.summary import summarise, write_summary

    summary = summarise(load_rows(args.runs), load_reported(args.reported))
    write_summary(summary, args.out)
    print(f"{args.out}: {len(summary)} cells")
