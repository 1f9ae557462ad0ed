"""Write a split of a graph as JSON: its fixed one, or a seeded random one."""

import argparse

from cgnn.datasets.graph import load_graph
from cgnn.datasets.registry import DATASETS
from cgnn.datasets.splits import random_split, save_split
from cgnn.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--graph", required=True, metavar="graph.npz")
    parser.add_argument("--name", required=True, help="fixed, or random00, random01, …: each name is another draw")
    parser.add_argument("--per-class", type=int, help="training nodes a class (default: 20; 1 on NELL)")
    parser.add_argument("--validation", type=int, default=500)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the whole family of random splits")
    parser.add_argument("--out", required=True, metavar="FILE.json")


def run(args: argparse.Namespace) -> None:
    graph = load_graph(args.graph)
    seed = None
    if args.name == "fixed":
        if graph.fixed_split is None:
            raise UserError(
                f"{args.graph}: {graph.name} has no fixed split; put arrays train, validation and test into its npz, "
                "or use random splits (--name random00)."
            )
        split = graph.fixed_split
    elif args.name.startswith("random"):
        known = DATASETS.get(graph.name)
        seed = args.seed
        split = random_split(
            graph.labels,
            dataset=graph.name,
            name=args.name,
            per_class=args.per_class if args.per_class is not None else known.per_class if known else 20,
            validation=args.validation,
            test=args.test,
            seed=seed,
        )
    else:
        raise UserError(f"--name: found {args.name!r}, expected fixed or random00, random01, …")
    save_split(split, args.out, dataset=graph.name, seed=seed, graph_sha256=graph.sha256)
    sizes = f"{len(split.train)} train, {len(split.validation)} validation, {len(split.test)} test"
    print(f"{graph.name} {split.name}: {sizes}")
