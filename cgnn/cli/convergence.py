"""Compute how H(t) approaches the fixed points of Propositions 2 and 4 on a part of a real graph.

  python -m cgnn convergence --graph R/data/cora/graph.npz [--nodes 400] --out R/convergence.csv

Uses the ``--nodes`` nodes nearest to the node of highest degree, few enough for a dense eigendecomposition.
For the paper's derivative, without and with weights, writes the distance to the limit at each t, from the
exact solver and from the closed form. For the released derivative, which has no limit, writes the norm.
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
