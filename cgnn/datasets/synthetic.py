"""Synthetic graphs of any size: a planted partition with a block of words for each class."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from cgnn.datasets.graph import Graph, canonical_features, undirected_edges
from cgnn.datasets.splits import random_split
from cgnn.errors import UserError
from cgnn.seeds import derive_seed


@dataclass(frozen=True)
class Parameters:
    """``homophily`` is the share of edges inside a class; ``degree`` and ``words`` are means over nodes.

    The fixed split has 20 training nodes per class, 500 validation and 1,000 test nodes, or fewer on a small graph.
    """

    nodes: int = 2000
    classes: int = 5
    features: int = 500
    degree: float = 4.0
    homophily: float = 0.8
    words: float = 20.0
    word_homophily: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        for key, holds, expected in (
            ("nodes", self.nodes >= 1, "at least 1"),
            ("classes", 1 <= self.classes <= self.nodes, f"from 1 to nodes = {self.nodes}"),
            ("features", self.features >= self.classes, f"at least classes = {self.classes}"),
            ("degree", 0 <= self.degree <= self.nodes - 1, f"from 0 to nodes - 1 = {self.nodes - 1}"),
            ("homophily", 0 <= self.homophily <= 1, "from 0 to 1"),
            ("words", 0 <= self.words <= self.features, f"from 0 to features = {self.features}"),
            ("word_homophily", 0 <= self.word_homophily <= 1, "from 0 to 1"),
        ):
            if not holds:
                raise UserError(f"synthetic: {key} is {getattr(self, key)}, expected {expected}.")


def parse(values: dict[str, Any]) -> Parameters:
    """Parameters from a config mapping; the error for an unknown key lists the known ones."""
    known = {field.name: field.type for field in fields(Parameters)}
    for key, value in values.items():
        if key not in known:
            raise UserError(f"synthetic: unknown parameter {key!r}; expected {', '.join(known)}.")
        if isinstance(value, bool) or not isinstance(value, int if known[key] is int else (int, float)):
            raise UserError(
                f"synthetic: {key} is {value!r}, expected a{'n integer' if known[key] is int else ' number'}."
            )
    return Parameters(**values)


def generate(name: str, parameters: Parameters) -> Graph:
    """Draw classes, edges and words; memory and time grow with nodes × (degree + words)."""
    p = parameters
    rng = np.random.Generator(np.random.PCG64(derive_seed("synthetic", p.seed, "graph")))
    # Classes of equal size, in random order.
    labels = rng.permutation(np.arange(p.nodes, dtype=np.int64) % p.classes)
    per_class = max(1, min(20, p.nodes // (4 * p.classes)))
    rest = p.nodes - per_class * p.classes
    return Graph(
        name=name,
        source=f"synthetic planted partition {p}",
        features=_features(labels, p, rng),
        edges=_edges(labels, p, rng),
        labels=labels,
        num_classes=p.classes,
        fixed_split=random_split(
            labels,
            dataset="synthetic",
            name="fixed",
            per_class=per_class,
            validation=min(500, rest // 3),
            test=min(1000, rest - rest // 3),
            seed=p.seed,
        ),
    )


def _edges(labels: np.ndarray, p: Parameters, rng: np.random.Generator) -> np.ndarray:
    """m = nodes·degree/2 distinct edges, a share `homophily` of them inside a class (if there are enough pairs)."""
    members = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=p.classes)
    starts = np.cumsum(sizes) - sizes
    total = round(p.nodes * p.degree / 2)
    inside = total if p.classes == 1 else round(total * p.homophily)

    def same_class(source: np.ndarray) -> np.ndarray:
        own = labels[source]
        return members[starts[own] + rng.integers(sizes[own])]

    def other_class(source: np.ndarray) -> np.ndarray:
        own = labels[source]
        place = rng.integers(p.nodes - sizes[own])
        return members[place + np.where(place >= starts[own], sizes[own], 0)]  # skips the node's class

    drawn = [_distinct(inside, p.nodes, same_class, rng), _distinct(total - inside, p.nodes, other_class, rng)]
    both = np.concatenate(drawn, axis=1)
    return undirected_edges(both[0], both[1], p.nodes)


def _distinct(
    wanted: int, nodes: int, partner: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """``wanted`` distinct edges from random nodes to their ``partner``; fewer if almost no pairs are left."""
    edges = np.zeros((2, 0), dtype=np.int64)
    for _ in range(30):
        missing = wanted - edges.shape[1]
        if missing <= 0:
            break
        source = rng.integers(nodes, size=missing + missing // 8 + 8)
        both = np.concatenate([edges, np.stack([source, partner(source)])], axis=1)
        edges = undirected_edges(both[0], both[1], nodes)
    if edges.shape[1] > wanted:
        edges = edges[:, np.sort(rng.permutation(edges.shape[1])[:wanted])]
    return edges


def _features(labels: np.ndarray, p: Parameters, rng: np.random.Generator) -> sparse.csr_array:
    """Each node has Poisson(words) words: a share `word_homophily` from its class's block, the rest from all words."""
    counts = np.minimum(rng.poisson(p.words, size=p.nodes), p.features)
    rows = np.repeat(np.arange(p.nodes), counts)
    block = p.features // p.classes
    own = labels[rows] * block + rng.integers(block, size=len(rows))
    anywhere = rng.integers(p.features, size=len(rows))
    columns = np.where(rng.random(len(rows)) < p.word_homophily, own, anywhere)
    matrix = canonical_features(
        sparse.coo_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=(p.nodes, p.features))
    )
    matrix.data[:] = 1.0  # a word drawn twice counts once
    return matrix
