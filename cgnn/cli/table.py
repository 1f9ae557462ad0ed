"""Build one table as CSV (one row per cell), Markdown, LaTeX and JSON (for the paper and the scorecard).

  python -m cgnn table fixed_splits --runs R/runs.csv --reported paper/reported.yaml --out R/tables/fixed_splits

writes R/tables/fixed_splits.csv, .md, .tex and .json. ``--results R`` finds the inputs by itself.
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from cgnn.render.inputs import add_product_arguments

    add_product_arguments(parser, "table")


def run(args: argparse.Namespace) -> None:
    from cgnn.render.inputs import load_product
    from cgnn.render.table import write_table

    module, inputs = load_product(args, "table")
    for path in write_table(module.build(**inputs), args.out):
        print(path)
