"""Convert a PyG Data object, saved with torch.save, into a graph.npz.

The file is loaded with PyTorch's safe loader (weights_only), which only builds tensors and PyG's containers
and runs no other code. In Python, ``cgnn.datasets.own.from_pyg(data)`` does the same without a file.
"""

import argparse
from pathlib import Path

from cgnn.datasets.graph import save_graph
from cgnn.datasets.own import from_pyg
from cgnn.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", metavar="data.pt", help="a Data object, or the (data, slices) pair of an in-memory dataset"
    )
    parser.add_argument("--name", default="mine", help="name of the graph in tables")
    parser.add_argument("--out", required=True, metavar="my.npz")


def run(args: argparse.Namespace) -> None:
    graph = from_pyg(_load(args.data), name=args.name)
    save_graph(graph, args.out)
    print(
        f"{graph.name}: {graph.num_nodes} nodes, {graph.num_edges} edges; use it as `{args.name}: {{path: {args.out}}}`"
    )


def _load(path: str) -> object:
    import pickle

    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    if not Path(path).is_file():
        raise UserError(f"{path}: there is no such file; save one with torch.save(data, {path!r}).")
    try:
        with torch.serialization.safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
            found = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        raise UserError(f"{path}: not a PyG Data object that can be loaded safely ({error}).") from error
    # InMemoryDataset writes (data dictionary, slices, class) since PyG 2.4.
    first = found[0] if isinstance(found, tuple) else found
    data = Data.from_dict(first) if isinstance(first, dict) else first
    if not isinstance(data, Data):
        raise UserError(f"{path}: holds a {type(data).__name__}, expected a PyG Data object.")
    return data
