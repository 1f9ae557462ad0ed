"""NELL (Carlson et al. 2010, as packaged by Planetoid), with all labels or with those that can be recovered.

The paper did not publish its split of NELL, so the fixed split here is ours: one seeded draw of 1 node per
class for training, 500 for validation and 1,000 for test. Only 105 of the 210 label columns have nodes; the
others are ignored.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from cgnn.datasets.graph import Graph
from cgnn.datasets.planetoid import SOURCE, SUFFIXES, read
from cgnn.datasets.splits import random_split

PREFIX = "ind.nell.0.001"
RECOVERED = "recovered_ally_labels.0.001.tsv"
NOTE = (
    "NELL with 3,575 of its 9,891 labels: the graph and the features are NELL's, but the file with the other "
    "labels (ally) was unavailable; the labels here are those of the test and training files and those "
    "recovered from the label files of NELL's other public splits"
)


def assemble(name: str, files: Mapping[str, Path]) -> Graph:
    """Build ``nell`` from its eight files, or ``nell_partial`` from seven files and the recovered labels."""
    partial = RECOVERED in files
    names = {suffix: f"{PREFIX}.{suffix}" for suffix in SUFFIXES if not (partial and suffix == "ally")}
    raw = read(files, names)
    labels = raw.labels.copy()
    if partial:
        rows, classes = np.loadtxt(files[RECOVERED], dtype=np.int64, comments="#", unpack=True)
        labels[rows] = classes
    return Graph(
        name=name,
        source=SOURCE,
        features=raw.features,
        edges=raw.edges,
        labels=labels,
        num_classes=raw.num_classes,
        fixed_split=random_split(labels, dataset="nell", name="fixed", per_class=1, validation=500, test=1000),
        note=NOTE if partial else "",
    )
