"""``python -m cgnn COMMAND``: the command line that every rule calls and that you can run by hand."""

import argparse
import os
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

from cgnn.errors import UserError
from cgnn.pipeline.preload import delegate
from cgnn.training.allocator import return_freed_memory, tune_allocator
from cgnn.training.gpus import one_gpu

COMMANDS = sorted(path.stem for path in (Path(__file__).parent / "cli").glob("[a-z]*.py"))
#: Commands by purpose; the rules of the workflow call those that are not listed here.
GROUPS = {
    "Use models and data": ("fetch", "graph", "convert", "split", "check", "train", "search", "profile"),
    "Follow and check a run": ("status", "cost", "claims", "verify", "publish"),
}
RULES = "Called by the workflow's rules; any of them can be repeated by hand"


class CommandParser(argparse.ArgumentParser):
    """A parser whose help shows the default of every option that has one."""

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        default, text = options.get("default"), options.get("help") or ""
        if default not in (None, False, "", [], argparse.SUPPRESS) and "default" not in text:
            options["help"] = f"{text} (default: %(default)s)".strip()
        return super().add_argument(*names, **options)


def main(arguments: list[str] | None = None) -> int:
    """Run a command; if a package of the workflow is missing, print how to install it.

    Without ``arguments``, those of this process are taken; only then its memory allocation is tuned, because a program
    that calls this function may want the default.
    """
    make_robust()
    try:
        return _run(sys.argv[1:] if arguments is None else arguments, tune=arguments is None)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "cgnn":
            raise
        print(f"cgnn: needs the package {error.name}; run `pip install 'cgnn[workflow]'`", file=sys.stderr)
        return 2


def _run(arguments: list[str], tune: bool) -> int:
    """Import only the module of the requested command (torch takes seconds to import) and run it."""
    requested = [word for word in arguments[:1] if word in COMMANDS]
    parser = CommandParser(
        prog="cgnn",
        usage="cgnn COMMAND [options]",
        description=None if requested else overview(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", help=argparse.SUPPRESS, prog="cgnn"
    )
    for command in requested or COMMANDS:
        module = import_module(f"cgnn.cli.{command}")
        subparser = subparsers.add_parser(
            command, description=(module.__doc__ or "").strip(), formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    if not arguments:
        parser.print_help()
        return 2
    parsed = parser.parse_args(arguments)
    if tune:
        tune_allocator() if getattr(parsed, "memory_limit", None) is None else return_freed_memory()
    try:
        # Done here rather than in each command: CUDA reads which GPUs the process may use only once, when torch
        # initialises it.
        with one_gpu(getattr(parsed, "device", "cpu")):
            return parsed.run(parsed) or 0
    except UserError as error:
        print(f"cgnn {parsed.command}: {error}", file=sys.stderr)
        return 2


def overview() -> str:
    """Every command with the first line of its description, in groups."""
    named = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, RULES: tuple(name for name in COMMANDS if name not in named)}
    lines = ["Continuous Graph Neural Networks, reproduced. `cgnn COMMAND --help` shows the options of a command."]
    for title, names in groups.items():
        lines += ["", f"{title}:"]
        for name in names:
            if name in COMMANDS:
                text = (import_module(f"cgnn.cli.{name}").__doc__ or "").strip().splitlines()[0]
                lines += textwrap.wrap(text, 98, initial_indent=f"  {name:<16}", subsequent_indent=" " * 18)
    return "\n".join(lines)


def make_robust() -> None:
    """Print characters that the terminal cannot encode as `?`, and let Orion's GitPython work without git."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")


if __name__ == "__main__":
    delegated = delegate(sys.argv[1:])
    sys.exit(main() if delegated is None else delegated)
