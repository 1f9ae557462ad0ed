"""Write Table 1 (the datasets) as CSV, Markdown and LaTeX: the paper's numbers beside ours, with reasons."""

import argparse

from cgnn.datasets.graph import load_graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--graphs", nargs="+", required=True, metavar="graph.npz")
    parser.add_argument("--reported", default="paper/reported.yaml", help="the paper's numbers (default: %(default)s)")
    parser.add_argument("--out", required=True, metavar="STEM", help="STEM.csv, STEM.md and STEM.tex are written")


def run(args: argparse.Namespace) -> None:
    from cgnn.paper.reported import load_reported
    from cgnn.render.datasets_table import rows_of, write_all

    rows = rows_of([load_graph(path) for path in args.graphs], load_reported(args.reported).raw["dataset_statistics"])
    write_all(rows, args.out)
    differing = sum(bool(row.reasons) for row in rows)
    print(f"{args.out}.csv/.md/.tex: {len(rows)} datasets, {differing} differ somewhere from the paper's table")
