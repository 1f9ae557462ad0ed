"""Show which cells of which table exist, are running or are missing, and how much is left.

python -m cgnn status                                 of config.yaml
python -m cgnn status --configfile config/quick.yaml  of an overlay
"""

import argparse
import os


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="overlays, as for snakemake")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="for the estimate of the time left")


def run(args: argparse.Namespace) -> None:
    from cgnn.pipeline.config import load, validate
    from cgnn.pipeline.status import cells, estimate, grid, products

    config = load(args.configfile)
    validate(config)
    found = cells(config)
    print(f"{config['results']}\n\n{grid(found)}\n")
    there = products(config)
    print(f"made:    {', '.join(there['there']) or 'nothing yet'}")
    print(f"missing: {', '.join(there['missing']) or 'nothing'}")
    print(estimate(found, config, args.cores))
