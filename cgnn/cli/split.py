"""Write a split of a graph as JSON: the fixed split, or one drawn by the rule in the split's name."""

import argparse
from dataclasses import replace

from cgnn.datasets.graph import load_graph
from cgnn.datasets.splits import make_split, save_split, split_sizes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--graph", required=True, metavar="graph.npz")
    parser.add_argument(
        "--name",
        required=True,
        help="fixed, or a rule and a number: random00 (from all labelled nodes), component00 (from the largest "
        "connected component), pool00 (the fixed split reshuffled), search00 (as random00, for searches)",
    )
    parser.add_argument("--per-class", type=_size, help="training nodes per class (default: 20; 1 on NELL)")
    parser.add_argument("--validation", type=_size, help="validation nodes (default: 500)")
    parser.add_argument("--test", type=_size, help="test nodes (default: 1000); each size may be a fraction below 1")
    parser.add_argument("--seed", type=int, default=0, help="seed shared by all random splits")
    parser.add_argument("--out", required=True, metavar="FILE.json")


def run(args: argparse.Namespace) -> None:
    graph = load_graph(args.graph)
    given = {key: getattr(args, key) for key in ("per_class", "validation", "test")}
    requested = {key: value for key, value in given.items() if value is not None}
    split = make_split(graph, args.name, replace(split_sizes(None, graph.name), **requested), args.seed)
    seed = None if args.name == "fixed" else args.seed
    save_split(split, args.out, dataset=graph.name, seed=seed, graph_sha256=graph.sha256)
    sizes = f"{len(split.train)} train, {len(split.validation)} validation, {len(split.test)} test"
    print(f"{graph.name} {split.name}: {sizes}")


def _size(text: str) -> float:
    """Parse a size; a whole number stays an int."""
    try:
        return int(text)
    except ValueError:
        return float(text)
