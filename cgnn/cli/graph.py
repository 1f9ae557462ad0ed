"""Assemble a dataset's raw files into one graph.npz, or read, check and convert your own graph."""

import argparse
import json

from cgnn.datasets.graph import FEATURES_MODES, save_graph
from cgnn.datasets.registry import obtain_graph
from cgnn.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        help="cora, citeseer, pubmed, nell, nell_partial, synthetic, or any name with --path",
    )
    parser.add_argument("--path", help="npz of your own graph (format: docs/data.md)")
    parser.add_argument(
        "--features",
        choices=FEATURES_MODES,
        help="normalisation of the features of your own graph: none (default), each row divided by its sum, or the "
        "same after setting every nonzero value to 1",
    )
    parser.add_argument(
        "--parameters", default="{}", help='for synthetic, as JSON: \'{"nodes": 10000, "homophily": 0.7}\''
    )
    parser.add_argument("--cache", help="folder of the raw files (default: CGNN_CACHE, or data)")
    parser.add_argument("--mirror", help="folder that already has the raw files (default: CGNN_DATA_MIRROR)")
    parser.add_argument("--out", required=True, metavar="graph.npz")


def run(args: argparse.Namespace) -> None:
    try:
        parameters = json.loads(args.parameters)
    except json.JSONDecodeError as error:
        raise UserError(f"--parameters: {args.parameters!r} is not JSON ({error}).") from error
    if not isinstance(parameters, dict):
        raise UserError(f'--parameters: found {args.parameters}, expected a JSON object such as {{"nodes": 1000}}.')
    graph = obtain_graph(
        args.dataset,
        path=args.path,
        features=args.features,
        parameters=parameters,
        cache=args.cache,
        mirror=args.mirror,
    )
    save_graph(graph, args.out)
    print(
        f"{graph.name}: {graph.num_nodes} nodes, {graph.num_edges} edges, {graph.num_features} features, "
        f"{graph.num_classes} classes, {int((graph.labels >= 0).sum())} labels"
        + (f", features {graph.features_mode.replace('_', ' ')}" if graph.features_mode else "")
        + (f" ({graph.note})" if graph.note else "")
    )
