"""The input arguments that tables, figures and claims share, and how the files are found."""

import argparse
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

from cgnn.errors import UserError
from cgnn.render.catalogue import ELSEWHERE, INPUTS, product

Inputs = dict[str, Path | list[Path]]


def add_input_arguments(parser: argparse.ArgumentParser, names: Iterable[str] = (*INPUTS, "reported")) -> None:
    """Add one ``--name FILE`` per input, and ``--results DIR``, in which the inputs that are not given are found."""
    parser.add_argument("--results", type=Path, metavar="DIR", help="results tree in which missing inputs are found")
    for name in names:
        several = "*" in INPUTS.get(name, "")
        parser.add_argument(
            f"--{name}",
            type=Path,
            metavar="FILE",
            nargs="+" if several else None,
            help=f"default: {f'DIR/{INPUTS[name]}' if name in INPUTS else ELSEWHERE[name]}",
        )


def add_product_arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    """Add the arguments of ``cgnn table`` and ``cgnn figure``: a name, its inputs and where it is written."""
    parser.add_argument("name", metavar="NAME", help=f"name of the {kind}; see cgnn/render/catalogue.py")
    add_input_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="STEM", help="path without suffix")


def load_product(args: argparse.Namespace, kind: str) -> tuple[ModuleType, Inputs]:
    """The module of the requested table or figure, and its inputs."""
    chosen = product(kind, args.name)
    return import_module(chosen.module), resolve(args, chosen.inputs, chosen.optional)


def resolve(args: argparse.Namespace, required: Iterable[str], optional: Iterable[str] = ()) -> Inputs:
    """The requested inputs that exist. A missing required input is an error; a missing optional one is left out."""
    found = {name: _find(args, name, must_exist=True) for name in required}
    return found | {name: given for name in optional if (given := _find(args, name, must_exist=False))}


def _find(args: argparse.Namespace, name: str, must_exist: bool) -> Path | list[Path]:
    given = getattr(args, name, None)
    if given is None:
        if name not in INPUTS:
            given = Path(ELSEWHERE[name])
        elif args.results is not None:
            pattern = INPUTS[name]
            given = sorted(args.results.glob(pattern)) if "*" in pattern else args.results / pattern
        elif must_exist:
            raise UserError(f"--{name} is needed: give the file, or --results DIR to look for {INPUTS[name]} in it")
        else:
            return []
    paths = given if isinstance(given, list) else [given]
    missing = [path for path in paths if not path.is_file()]
    if paths and not missing:
        return given
    if must_exist:
        where = missing[0] if missing else args.results / INPUTS[name]
        raise UserError(f"{where}: no such file, expected the input --{name}; run `snakemake` to create it")
    return []
