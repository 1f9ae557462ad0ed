"""Copy those files of a finished run that are committed to git, and update the pages generated from them.

  python -m cgnn publish --results results/paper --out results/published
  python -m cgnn publish --adopt --out results/published     record the files as they are now

The folder's published.json lists every file with its sha256. Publishing again replaces and deletes only these files,
and stops if one of them was edited. A non-empty folder without published.json is refused. The folder's
ro-crate-metadata.json describes it as a Workflow Run RO-Crate. The generated pages are README's headline and
docs/findings.md.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results", type=Path, default=Path("results/paper"), help="results of the run (results/paper)"
    )
    parser.add_argument("--out", type=Path, default=Path("results/published"), help="target folder (results/published)")
    parser.add_argument("--readme", type=Path, default=Path("README.md"), help="page whose headline is updated")
    parser.add_argument("--files-only", action="store_true", help="update no pages")
    parser.add_argument(
        "--adopt",
        action="store_true",
        help="copy no results: record the files in --out as they are, e.g. after a later version of the code rewrote "
        "some of them, or if there is no published.json yet",
    )
    parser.add_argument(
        "--code", type=Path, metavar="DIR", help="with --adopt: a checkout of the commit that produced the run"
    )
    parser.add_argument(
        "--configfile",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE",
        help="with --code: the overlays of the run, e.g. config/nell_partial.yaml",
    )


def run(args: argparse.Namespace) -> None:
    from cgnn.errors import UserError
    from cgnn.pipeline.publish import adopt, headline, publish, renew_readme

    if args.code is not None and not args.adopt:
        raise UserError("--code: can only be used with --adopt; otherwise the copy of the code in the run is used")
    if args.configfile and args.code is None:
        raise UserError("--configfile: can only be used with --code")
    if args.adopt:
        print(f"{len(adopt(args.out, args.code, args.configfile))} files recorded in {args.out}")
    else:
        print(f"{len(publish(args.results, args.out))} files copied to {args.out}")
    if not args.files_only:
        from cgnn.render.findings import PAGE, renew_findings

        renew_readme(args.readme, headline(args.out))
        renew_findings(args.out)
        print(f"headline updated in {args.readme}, numbers in {PAGE}")
