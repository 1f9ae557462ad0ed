"""Draw one figure as PDF, SVG and PNG, with its caption as JSON.

  python -m cgnn figure memory_depth_time --profiles R/profiles.csv --out R/figures/memory_depth_time

writes R/figures/memory_depth_time.pdf, .svg, .png and .json. ``--results R`` finds the inputs by itself.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from cgnn.render.inputs import add_input_arguments

    parser.add_argument("name", metavar="NAME", help="name of the figure; see cgnn/render/catalogue.py")
    add_input_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="STEM", help="path without suffix")


def run(args: argparse.Namespace) -> None:
    from importlib import import_module

    from cgnn.render.catalogue import product
    from cgnn.render.inputs import resolve
    from cgnn.render.style import use_style, write_figure

    chosen = product("figure", args.name)
    inputs = resolve(args, chosen.inputs, chosen.optional)
    with use_style():
        drawing = import_module(chosen.module).draw(**inputs)
        for path in write_figure(drawing, args.out):
            print(path)
