"""Show the core-hours of a config's experiments: measured for finished ones, estimated for missing ones.

python -m cgnn cost                                   for config.yaml
python -m cgnn cost --configfile config/quick.yaml    with an overlay
"""

import argparse
import os

from cgnn.training.record import positive


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="overlays, as for snakemake")
    parser.add_argument(
        "--cores", type=positive, default=os.cpu_count() or 1, help="cores for which the total hours are computed"
    )


def run(args: argparse.Namespace) -> None:
    from cgnn.pipeline.config import load, validate
    from cgnn.pipeline.cost import pieces, summary

    config = load(args.configfile)
    validate(config)
    print(summary(list(pieces(config)), args.cores))
