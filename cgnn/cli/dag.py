"""Draw the rules of the workflow, as in docs/dag.svg.

  snakemake --rulegraph dot | python -m cgnn dag --out docs/dag.svg

Snakemake leaves out rules that have nothing to do; use an empty results folder with ``--config results=FOLDER`` to see
all of them.
"""

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="output image; the suffix sets the format"
    )


def run(args: argparse.Namespace) -> None:
    from cgnn.files import atomic_path
    from cgnn.render.dag import draw_dag
    from cgnn.render.style import use_style

    with use_style():
        figure = draw_dag(sys.stdin.read()).figure
        with atomic_path(args.out) as temporary:
            metadata = {"Date": None, "Creator": None} if args.out.suffix == ".svg" else None
            figure.savefig(temporary, metadata=metadata, transparent=args.out.suffix == ".svg")
    print(args.out)
