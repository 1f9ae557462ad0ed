"""Collect the rows of many jobs in one table, and refuse rows that are damaged or do not belong together.

  python -m cgnn collect runs     R/runs/cora/fixed/cgnn/released/search/0-4.csv … --out R/runs.csv
  python -m cgnn collect profiles R/profiles/cora/gcn/2.json …                     --out R/profiles.csv
  python -m cgnn collect trials   R/search/cora/fixed/cgnn/released/trials.csv …   --out R/trials.csv
  python -m cgnn collect seconds  R/runs/cora/fixed/cgnn/released/search/0-4.seconds.csv … --out R/seconds.csv
  python -m cgnn collect recorded R/runs/cora/fixed/cgnn/released/published/0-9.npz … --out R/recorded.npz

Every value and the digest of every row are checked. Rows of one model and solver must come from the same code, rows of
one dataset from the same graph, and no replica may occur twice. An error names the file, the line and what to do.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=["runs", "profiles", "trials", "seconds", "recorded"])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--splits", type=Path, metavar="DIR", help="folder of the splits that the rows must use")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.csv")


def run(args: argparse.Namespace) -> None:
    from cgnn.files import write_csv
    from cgnn.results.collect import check_splits, collect_profiles, collect_runs, collect_trials
    from cgnn.results.recorded import collect_recorded
    from cgnn.results.seconds import collect_seconds

    if args.kind == "recorded":
        models = collect_recorded(args.files, args.out)
        print(f"{args.out}: recordings of {models} models from {len(args.files)} files")
        return
    collect = {"profiles": collect_profiles, "trials": collect_trials, "seconds": collect_seconds}
    columns, rows = collect.get(args.kind, collect_runs)(args.files)
    if args.splits and args.kind == "runs":
        check_splits(rows, args.splits)
    write_csv(args.out, columns, rows)
    print(f"{args.out}: {len(rows)} rows from {len(args.files)} files")
