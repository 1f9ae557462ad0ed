"""Write the page index.html: findings, claims, tables, the rows behind them, figures and searches in one file.

  python -m cgnn scorecard --results R --reported paper/reported.yaml --out R/index.html

Reads R/claims.json, R/tables/*.json, R/figures/*.{svg,json} and the aggregates (runs, sweeps, fidelity,
profiles, trials) that exist. The page needs no network.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True, metavar="DIR")
    parser.add_argument("--reported", type=Path, default=Path("paper/reported.yaml"), metavar="FILE")
    parser.add_argument(
        "--citation",
        type=Path,
        default=Path("CITATION.cff"),
        metavar="FILE",
        help="file with the URL of the repository to link to",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")


def run(args: argparse.Namespace) -> None:
    from cgnn.analysis.tree import check_results
    from cgnn.render.scorecard import write_scorecard

    check_results(args.results)
    size = write_scorecard(args.results, args.reported, args.out, args.citation)
    print(f"{args.out}: {size / 1e6:.1f} MB")
