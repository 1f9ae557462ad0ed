"""The effect of the order of nodes: one sparse product ÂH in the original order and in that of GraphTensors."""

from statistics import median
from typing import Any

import numpy as np
import torch

from benchmarks.problem import community_graph
from benchmarks.timing import Plan, take_turns, threads
from cgnn.datasets.graph import Graph
from cgnn.datasets.registry import obtain_graph
from cgnn.dynamics.operator import normalised_adjacency
from cgnn.dynamics.sparse import sparse_product
from cgnn.training.tensors import graph_tensors

WIDTH = 16
NODES, QUICK_NODES = 300_000, 10_000


def graphs(quick: bool) -> list[Graph]:
    return [community_graph(QUICK_NODES)] if quick else [obtain_graph("pubmed"), community_graph(NODES)]


def measure_order(graph: Graph, thread_count: int, plan: Plan) -> dict[str, Any]:
    """Milliseconds per product in both orders, taken in turns; both give the same values."""
    data = graph_tensors(graph, "binary_rows", torch.device("cpu"))
    own = torch.from_numpy(np.concatenate([graph.edges, graph.edges[::-1]], axis=1))
    matrices = {
        name: normalised_adjacency(edges, None, graph.num_nodes, 1.0)
        for name, edges in (("original", own), ("reordered", data.edge_index))
    }
    state = torch.randn(graph.num_nodes, WIDTH, generator=torch.Generator().manual_seed(0))
    states = {"original": state, "reordered": state[torch.from_numpy(data.order)].contiguous()}
    results = {name: torch.empty_like(state) for name in matrices}
    contestants = {
        name: lambda name=name: sparse_product(matrices[name], states[name], out=results[name]) for name in matrices
    }
    with threads(thread_count):
        turns = take_turns(contestants, plan)
    difference = (results["original"] - data.original_order(results["reordered"], axis=0)).abs().max()
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "stored": int(matrices["original"].values().numel()),
        "threads": thread_count,
        "largest_difference": float(difference),
        **{f"{name}_ms": round(1000 * median(seconds), 4) for name, seconds in turns.items()},
    }
