"""Which nodes are for training, validation and test: the paper's fixed splits and seeded random ones."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.seeds import derive_seed

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint sets of node indices (int64, sorted)."""

    name: str
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray

    def __post_init__(self) -> None:
        for part in PARTS:
            found = getattr(self, part)
            if found.dtype != np.int64 or found.ndim != 1:
                raise ValueError(f"split {self.name}: {part} is {found.dtype} {found.shape}, expected a list of int64")
            if (np.diff(found) <= 0).any():
                raise ValueError(f"split {self.name}: {part} is not sorted, or names a node twice")
        everything = np.concatenate([self.train, self.validation, self.test])
        if len(np.unique(everything)) != len(everything):
            raise ValueError(f"split {self.name}: train, validation and test share a node")

    def within(self, nodes: int) -> bool:
        """Whether every index is one of ``nodes`` nodes."""
        return all(not len(part) or 0 <= part[0] <= part[-1] < nodes for part in (getattr(self, p) for p in PARTS))

    @property
    def sha256(self) -> str:
        """Of the indices alone, so that equal splits have equal hashes whatever they are called."""
        text = json.dumps([getattr(self, part).tolist() for part in PARTS], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def random_split(
    labels: np.ndarray,
    *,
    dataset: str,
    name: str,
    per_class: int = 20,
    validation: int = 500,
    test: int = 1000,
    seed: int = 0,
) -> Split:
    """``per_class`` labelled nodes a class for training, then ``validation`` and ``test`` of the labelled rest.

    The same (dataset, name, seed) gives the same split on any machine. Classes of which no node is labelled
    (NELL's archive has 210 label columns and uses 105) are not in the graph and take no part; a class with
    fewer than ``per_class`` labels is an error.
    """
    order = _permutation(np.flatnonzero(labels >= 0), derive_seed(dataset, name, seed, "split"))
    classes, sizes = np.unique(labels[order], return_counts=True)
    _check_sizes(dataset, name, classes, sizes, per_class, validation, test)
    # A stable sort by class keeps the random order inside each class: its first `per_class` are the draw.
    by_class = order[np.argsort(labels[order], kind="stable")]
    rank = np.arange(len(by_class)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    train = by_class[rank < per_class]
    rest = order[~np.isin(order, train)]
    return Split(
        name=name,
        train=np.sort(train),
        validation=np.sort(rest[:validation]),
        test=np.sort(rest[validation : validation + test]),
    )


def save_split(split: Split, path: Path | str, *, dataset: str, seed: int | None, graph_sha256: str) -> None:
    """Write the split as JSON; ``seed`` is null for a fixed one."""
    content = {
        "name": split.name,
        "dataset": dataset,
        "seed": seed,
        "sha256": split.sha256,
        "graph_sha256": graph_sha256,
        **{part: getattr(split, part).tolist() for part in PARTS},
    }
    write_text(path, json.dumps(content) + "\n")


def load_split(path: Path | str, *, graph_sha256: str | None = None) -> Split:
    """Read a split and check its hash; with ``graph_sha256``, also that it was made for that graph."""
    if not Path(path).is_file():
        raise UserError(
            f"{path}: there is no such split. `cgnn split --graph GRAPH --name NAME --out {path}` makes it."
        )
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        parts = {part: np.array(content[part], dtype=np.int64) for part in PARTS}
        split = Split(name=content["name"], **parts)
        expected, made_for = content["sha256"], content["graph_sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not a split ({error!r}). Delete it and run `cgnn split` again.") from error
    if split.sha256 != expected:
        raise UserError(
            f"{path}: damaged or edited: its indices have sha256 {split.sha256}, expected {expected}. "
            "Delete it and run `cgnn split` again."
        )
    if graph_sha256 is not None and made_for != graph_sha256:
        raise UserError(
            f"{path}: made for a graph with sha256 {made_for}, but the graph at hand has {graph_sha256}. "
            "Delete it and run `cgnn split` on this graph."
        )
    return split


def _permutation(nodes: np.ndarray, seed: int) -> np.ndarray:
    # NumPy promises PCG64's raw stream for ever, but not what Generator.permutation makes of it.
    keys = np.random.PCG64(seed).random_raw(len(nodes))
    return nodes[np.argsort(keys, kind="stable")]


def _check_sizes(
    dataset: str, name: str, classes: np.ndarray, sizes: np.ndarray, per_class: int, validation: int, test: int
) -> None:
    for key, value, least in (("per_class", per_class, 1), ("validation", validation, 0), ("test", test, 0)):
        if value < least:
            raise UserError(f"split {name} of {dataset}: {key} is {value}, expected at least {least}.")
    if not len(classes):
        raise UserError(f"split {name} of {dataset}: no node has a label, so there is nothing to draw from.")
    if sizes.min() < per_class:
        small = ", ".join(f"class {c} has {s}" for c, s in zip(classes, sizes, strict=True) if s < per_class)
        raise UserError(
            f"split {name} of {dataset}: {small} labelled nodes, fewer than per_class = {per_class}. "
            f"Ask for at most {sizes.min()} a class, or merge small classes."
        )
    labelled, wanted = int(sizes.sum()), per_class * len(classes) + validation + test
    if wanted > labelled:
        raise UserError(
            f"split {name} of {dataset}: the parts would overlap: {per_class} × {len(classes)} classes + "
            f"{validation} validation + {test} test = {wanted} nodes, but only {labelled} have a label. "
            "Ask for a smaller per_class, validation or test."
        )
