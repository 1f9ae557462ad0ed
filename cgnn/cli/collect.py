"""Put the rows of many jobs into one table, and refuse rows that do not belong together.

  python -m cgnn collect runs     R/runs/cora/fixed/cgnn/released/search/0-4.csv … --out R/runs.csv
  python -m cgnn collect profiles R/profiles/cora/gcn/2.json …                     --out R/profiles.csv
  python -m cgnn collect trials   R/search/cora/fixed/cgnn/released/trials.csv …   --out R/trials.csv

Rows of one model and solver must come from the same code, rows of one dataset from the same graph, and no replica
may be there twice; a damaged file is named with what to do about it.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=["runs", "profiles", "trials"])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.csv")


def run(args: argparse.Namespace) -> None:
    from cgnn.files import write_csv
    from cgnn.results.collect import collect_profiles, collect_runs, collect_trials

    collect = {"runs": collect_runs, "profiles": collect_profiles, "trials": collect_trials}[args.kind]
    columns, rows = collect(args.files)
    write_csv(args.out, columns, rows)
    print(f"{args.out}: {len(rows)} rows of {len(args.files)} files")
