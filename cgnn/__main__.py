"""``python -m cgnn VERB``: what every rule calls, and what a person can run by hand."""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from cgnn.errors import UserError
from cgnn.training.gpus import one_gpu

VERBS = sorted(path.stem for path in (Path(__file__).parent / "cli").glob("[a-z]*.py"))


def main(arguments: list[str] | None = None) -> int:
    """Run a verb; without the packages of the workflow, say how to install them."""
    make_robust()
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "cgnn":
            raise
        print(f"cgnn: needs the package {error.name}; run `pip install 'cgnn[workflow]'`", file=sys.stderr)
        return 2


def _run(arguments: list[str]) -> int:
    """Import the requested verb's module alone (torch takes seconds) and run it."""
    parser = argparse.ArgumentParser(prog="cgnn", description="Continuous Graph Neural Networks, rebuilt.")
    subparsers = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    asked = [word for word in arguments[:1] if word in VERBS]
    for verb in asked or VERBS:
        module = import_module(f"cgnn.cli.{verb}")
        description = (module.__doc__ or "").strip()
        subparser = subparsers.add_parser(
            verb,
            help=description.splitlines()[0],
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    parsed = parser.parse_args(arguments)
    try:
        # Here rather than in each verb: CUDA reads which GPU is its own once, when torch starts it.
        with one_gpu(getattr(parsed, "device", "cpu")):
            return parsed.run(parsed) or 0
    except UserError as error:
        print(f"cgnn {parsed.verb}: {error}", file=sys.stderr)
        return 2


def make_robust() -> None:
    """Print what the terminal's encoding lacks (✓ in Latin-1) as `?`, and let Orion's GitPython do without git."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")


if __name__ == "__main__":
    sys.exit(main())
