"""Cora from its original files (McCallum et al. 2000), in Planetoid's order and bit-identical to it.

The package index has Cora only as ``cora.content`` (paper id, 1,433 words as 0/1, subject) and
``cora.cites`` (cited id, citing id). The feature columns are in Planetoid's order already; the order of
the papers is ``cora_planetoid_order.txt``, one paper id per line, node 0 first.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from cgnn.datasets.graph import Graph, canonical_features, undirected_edges
from cgnn.datasets.planetoid import SOURCE, VALIDATION
from cgnn.datasets.splits import Split

SUBJECTS = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
TRAIN, TEST = 140, 1000
ORDER = Path(__file__).with_name("cora_planetoid_order.txt")


def assemble(name: str, files: Mapping[str, Path]) -> Graph:
    """The same Graph as from ``ind.cora.*``."""
    node_of = {paper: node for node, paper in enumerate(ORDER.read_text().split())}
    nodes = len(node_of)
    subjects = {subject: label for label, subject in enumerate(SUBJECTS)}
    lines = [line.split() for line in files["cora.content"].read_text(encoding="ascii").splitlines()]
    order = np.argsort([node_of[line[0]] for line in lines])
    words = np.array([line[1:-1] for line in lines], dtype=np.uint8)[order]
    labels = np.array([subjects[line[-1]] for line in lines], dtype=np.int64)[order]
    citations = files["cora.cites"].read_text(encoding="ascii").split()
    cited, citing = np.array([node_of[paper] for paper in citations], dtype=np.int64).reshape(-1, 2).T
    return Graph(
        name=name,
        source=SOURCE,
        features=canonical_features(words),
        edges=undirected_edges(cited, citing, nodes),
        labels=labels,
        num_classes=len(SUBJECTS),
        fixed_split=Split(
            name="fixed",
            train=np.arange(TRAIN),
            validation=np.arange(TRAIN, TRAIN + VALIDATION),
            test=np.arange(nodes - TEST, nodes),
        ),
    )
