"""Copy a finished run to results/published and renew what is written from it: README's headline, docs/findings.md."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, default=Path("results/paper"), help="the run (results/paper)")
    parser.add_argument("--out", type=Path, default=Path("results/published"), help="where to (results/published)")
    parser.add_argument("--readme", type=Path, default=Path("README.md"), help="the page whose headline is renewed")
    parser.add_argument("--files-only", action="store_true", help="renew no page")


def run(args: argparse.Namespace) -> None:
    from cgnn.pipeline.publish import headline, publish, renew_readme
    from cgnn.render.findings import PAGE, renew_findings

    files = publish(args.results, args.out)
    print(f"{len(files)} files copied to {args.out}")
    if not args.files_only:
        renew_readme(args.readme, headline(args.out))
        renew_findings(args.out)
        print(f"headline renewed in {args.readme}, numbers in {PAGE}")
