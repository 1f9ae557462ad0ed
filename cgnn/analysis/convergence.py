"""H(t) and its limits on a part of a real graph: the exact solver, the closed forms, and the released derivative."""

import numpy as np
import pandas as pd
import torch
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order
from torch import Tensor

from cgnn.datasets.graph import Graph
from cgnn.dynamics import chebyshev, closed_form
from cgnn.dynamics.operator import Derivative, Propagation, normalised_adjacency
from cgnn.dynamics.problem import LinearODE
from cgnn.errors import UserError
from cgnn.seeds import derive_seed

ALPHA, GAMMA, HIDDEN = 0.918, 0.555, 16  # the paper's settings for Cora, fixed split
TIMES = (0.0, *np.geomspace(0.5, 300, 29))
COLUMNS = [
    *("kind", "t", "distance", "closed_form_distance", "solver_error", "norm", "predicted_rate"),
    *("graph", "nodes", "edges", "alpha", "gamma", "hidden"),
]


def measure(graph: Graph, nodes: int = 400) -> pd.DataFrame:
    """One row per kind and time. E is a seeded random projection of the nodes' features."""
    if nodes < 2:
        raise UserError(f"--nodes: found {nodes}, expected at least 2")
    chosen, edges = neighbourhood(graph, nodes)
    count = len(chosen)
    generator = torch.Generator().manual_seed(derive_seed(graph.name, "convergence"))
    edge_index = torch.from_numpy(np.concatenate([edges, edges[::-1]], axis=1))
    E = _projection(graph, chosen, generator)
    alpha = torch.full((count,), ALPHA, dtype=torch.float64)
    adjacency = normalised_adjacency(edge_index, None, count, GAMMA, torch.float64).to_dense()
    W = _weight(generator)

    paper = closed_form.eigen_of_M(adjacency, alpha, "paper")
    weight = closed_form.eigen_of_W(W)
    released = closed_form.eigen_of_M(adjacency, alpha, "released")
    kinds = {
        "paper": (
            LinearODE(_propagation(edge_index, count, "paper"), E, alpha),
            lambda t: closed_form.proposition_2(paper, E, t),
            closed_form.limit_2(paper.shifted(1), E),
            -float(paper.values.max()),
        ),
        "paper_weight": (
            LinearODE(_propagation(edge_index, count, "paper"), E, alpha, weight=W),
            lambda t: closed_form.proposition_4(paper, weight, E, t),
            closed_form.limit_4(paper, weight, E),
            -float(paper.values.max() + weight.values.max() - 1),
        ),
        "released": (
            LinearODE(_propagation(edge_index, count, "released"), E, alpha),
            lambda t: closed_form.proposition_2(released, E, t),
            None,
            float("nan"),
        ),
    }
    records = []
    for kind, (ode, exact, limit, rate) in kinds.items():
        for t in TIMES:
            H = chebyshev.solve(ode, float(t))
            closed = exact(float(t))
            record = {
                "kind": kind,
                "t": float(t),
                "solver_error": _relative(H, closed),
                "norm": float(H.norm() / E.norm()),
                "predicted_rate": rate,
            }
            if limit is not None:
                record |= {"distance": _relative(H, limit), "closed_form_distance": _relative(closed, limit)}
            records.append(record)
    about = {"graph": graph.name, "nodes": count, "edges": edges.shape[1]}
    about |= {"alpha": ALPHA, "gamma": GAMMA, "hidden": HIDDEN}
    # Further digits differ between CPUs.
    return pd.DataFrame(records).map(_rounded).assign(**about)[COLUMNS]


def neighbourhood(graph: Graph, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes nearest to the one of highest degree, breadth first, and the edges between them, renumbered."""
    edges, count = graph.edges, graph.num_nodes
    adjacency = sparse.csr_array((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(count, count))
    first = int(np.bincount(edges.ravel(), minlength=count).argmax())
    order = breadth_first_order(adjacency + adjacency.T, first, return_predecessors=False)
    chosen = np.sort(order[:nodes])
    place = np.full(graph.num_nodes, -1)
    place[chosen] = np.arange(len(chosen))
    inside = place[graph.edges]
    return chosen, inside[:, (inside >= 0).all(axis=0)]


def _propagation(edge_index: Tensor, count: int, derivative: Derivative) -> Propagation:
    return Propagation.build(edge_index, num_nodes=count, gamma=GAMMA, derivative=derivative, dtype=torch.float64)


def _projection(graph: Graph, chosen: np.ndarray, generator: torch.Generator) -> Tensor:
    features = torch.from_numpy(graph.features[chosen].toarray()).double()
    mixing = torch.randn(features.shape[1], HIDDEN, generator=generator, dtype=torch.float64)
    return features @ mixing / features.sum(dim=1, keepdim=True).clamp(min=1)


def _weight(generator: torch.Generator) -> Tensor:
    """W = U diag(M) U^T with eigenvalues inside (0, 1)."""
    U, _ = torch.linalg.qr(torch.randn(HIDDEN, HIDDEN, generator=generator, dtype=torch.float64))
    return U @ torch.diag(torch.linspace(0.1, 0.95, HIDDEN, dtype=torch.float64)) @ U.mT


def _rounded(value: str | float) -> str | float:
    return float(f"{value:.6e}") if isinstance(value, float) else value


def _relative(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm())
