"""Build one table as CSV (one row per cell), Markdown, LaTeX and JSON (for the paper and the scorecard).

  python -m cgnn table fixed_splits --runs R/runs.csv --reported paper/reported.yaml --out R/tables/fixed_splits

writes R/tables/fixed_splits.csv, .md, .tex and .json. ``--results R`` finds the inputs by itself.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from cgnn.render.inputs import add_input_arguments

    parser.add_argument("name", metavar="NAME", help="name of the table; see cgnn/render/catalogue.py")
    add_input_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="STEM", help="path without suffix")


def run(args: argparse.Namespace) -> None:
    from importlib import import_module

    from cgnn.render.catalogue import product
    from cgnn.render.inputs import resolve
    from cgnn.render.table import write_table

    chosen = product("table", args.name)
    inputs = resolve(args, chosen.inputs, chosen.optional)
    table = import_module(chosen.module).build(**inputs)
    for path in write_table(table, args.out):
        print(path)
