"""Draw one figure as PDF, SVG and PNG, with its caption as JSON.

  python -m cgnn figure memory_depth_time --profiles R/profiles.csv --out R/figures/memory_depth_time

writes R/figures/memory_depth_time.pdf, .svg, .png and .json. ``--results R`` finds the inputs by itself.
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from cgnn.render.inputs import add_product_arguments

    add_product_arguments(parser, "figure")


def run(args: argparse.Namespace) -> None:
    from cgnn.render.inputs import load_product
    from cgnn.render.style import use_style, write_figure

    module, inputs = load_product(args, "figure")
    with use_style():
        for path in write_figure(module.draw(**inputs), args.out):
            print(path)
