"""Copy a finished run to results/published and renew the README's headline from it."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, default=Path("results/paper"), help="the run (results/paper)")
    parser.add_argument("--out", type=Path, default=Path("results/published"), help="where to (results/published)")
    parser.add_argument("--readme", type=Path, default=Path("README.md"), help="the page whose headline is renewed")


def run(args: argparse.Namespace) -> None:
    from cgnn.publish import headline, publish, renew_readme

    files = publish(args.results, args.out)
    renew_readme(args.readme, headline(args.out))
    print(f"{len(files)} files copied to {args.out}, headline renewed in {args.readme}")
