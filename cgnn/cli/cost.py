"""Show what the experiments of a config cost: measured core-hours, and those expected for what is missing.

python -m cgnn cost                                   of config.yaml
python -m cgnn cost --configfile config/quick.yaml    of an overlay
"""

import argparse
import os

from cgnn.training.record import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="overlays, as for snakemake")
    parser.add_argument("--cores", type=positive, default=os.cpu_count() or 1, help="for the total in hours")


def run(args: argparse.Namespace) -> None:
    from cgnn.pipeline.config import load, validate
    from cgnn.pipeline.cost import pieces, summary

    config = load(args.configfile)
    validate(config)
    print(summary(list(pieces(config)), args.cores))
