"""Compute how H(t) approaches the fixed points of Propositions 2 and 4 on a piece of a real graph.

  python -m cgnn convergence --graph R/data/cora/graph.npz [--nodes 400] --out R/convergence.csv

Takes the ``--nodes`` nodes nearest to the one of highest degree, few enough for a dense
eigendecomposition, and writes the distance to the limit at each t for the printed derivative without
and with weights, by the exact solver and by the closed form, and the norm for the released derivative,
which has no limit.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--graph", type=Path, required=True, metavar="FILE")
    parser.add_argument("--nodes", type=int, default=400, metavar="N")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")


def run(args: argparse.Namespace) -> None:
    from cgnn.analysis.convergence import COLUMNS, measure
    from cgnn.analysis.rows import records
    from cgnn.datasets.graph import load_graph
    from cgnn.files import write_csv

    rows = measure(load_graph(args.graph), nodes=args.nodes)
    write_csv(args.out, COLUMNS, records(rows))
    print(f"{args.out}: {len(rows)} points")
