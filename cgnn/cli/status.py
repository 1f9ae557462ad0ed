"""Show which cells of each table exist or are missing, and how long the rest will take.

python -m cgnn status                                 for config.yaml
python -m cgnn status --configfile config/quick.yaml  with an overlay
"""

import argparse
import os

from cgnn.training.record import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="overlays, as for snakemake")
    parser.add_argument(
        "--cores", type=positive, default=os.cpu_count() or 1, help="cores for which the remaining time is estimated"
    )


def run(args: argparse.Namespace) -> None:
    from cgnn.pipeline.config import load, validate
    from cgnn.pipeline.cost import pieces, time_left
    from cgnn.pipeline.status import cells, grid, products

    config = load(args.configfile)
    validate(config)
    print(f"{config['results']}\n\n{grid(cells(config))}\n")
    there = products(config)
    print(f"made:    {', '.join(there['there']) or 'nothing yet'}")
    print(f"missing: {', '.join(there['missing']) or 'nothing'}")
    print(time_left(pieces(config), args.cores))
