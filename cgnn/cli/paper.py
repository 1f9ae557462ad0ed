"""Compile the reproduced paper to PDF with Typst.

  python -m cgnn paper --results R --source paper/paper.typ --reported paper/reported.yaml --out R/paper.pdf

Reads R/tables/*.json, R/figures/*.{svg,json}, R/claims.json, R/runs.csv, R/summary.csv and the other aggregates that
exist; writes all numbers that the text uses to ``--data`` (default: paper_data.json beside the PDF).
"""

import argparse
import subprocess
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, required=True, metavar="DIR")
    parser.add_argument("--source", type=Path, default=Path("paper/paper.typ"), metavar="FILE")
    parser.add_argument("--reported", type=Path, default=Path("paper/reported.yaml"), metavar="FILE")
    parser.add_argument("--data", type=Path, metavar="FILE", help="JSON file for the numbers used in the text")
    parser.add_argument("--png", type=Path, metavar="DIR", help="also render each page as a PNG in this folder")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")


def run(args: argparse.Namespace) -> None:
    from cgnn.analysis.tree import check_results
    from cgnn.render.paper import compile_paper

    check_results(args.results)
    origin = commit_and_date()
    compile_paper(args.results, args.source, args.reported, args.out, origin=origin, data=args.data, png=args.png)
    print(args.out)


def commit_and_date() -> list[str]:
    """The project's name and, if git is available, the commit and its date; one commit always gives the same PDF."""
    command = ["git", "log", "-1", "--date=format:%-d %B %Y", "--format=%ad%nrepository cgnn-paper, commit %h"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return ["repository cgnn-paper"]
    return found
