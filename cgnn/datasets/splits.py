"""Training, validation and test nodes: a graph's fixed split, and seeded random splits drawn by a rule."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.seeds import derive_seed

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph

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
        """The hash of the indices only, so that equal splits have equal hashes whatever their names."""
        text = json.dumps([getattr(self, part).tolist() for part in PARTS], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class SplitSizes:
    """Sizes of a random split: numbers of nodes, or fractions below 1.

    ``per_class`` is for training: nodes per class, or a fraction of every class. A fraction for ``validation`` or
    ``test`` is one of all labelled nodes.
    """

    per_class: float = 20
    validation: float = 500
    test: float = 1000


#: NELL has classes with a single labelled node, so the paper trains on one node per class.
PER_CLASS = {"nell": 1, "nell_partial": 1}


def split_sizes(config: Mapping[str, Any] | None, dataset: str) -> SplitSizes:
    """The sizes of a dataset's random splits: the paper's, as changed by ``protocol.split_sizes`` of a config."""
    section = config["protocol"]["split_sizes"] if config is not None else {}
    paper = {"per_class": PER_CLASS.get(dataset, SplitSizes.per_class)}
    return SplitSizes(**{**paper, **section.get("default", {}), **section.get(dataset, {})})


#: The rules for drawing a split; a split is named after its rule and its number, such as ``pool03``.
#: ``search`` draws like ``random``, but with names that no table uses.
RULES = ("random", "pool", "component", "search")


def rule_of(name: str) -> str | None:
    """The rule in a split's name, or None if it is not the name of a drawn split."""
    found = re.fullmatch(rf"({'|'.join(RULES)})[0-9]+", name)
    return found[1] if found else None


def make_split(graph: "Graph", name: str, sizes: SplitSizes | None = None, seed: int = 0) -> Split:
    """The split called ``name``: the graph's fixed split, or one drawn by the rule in the name.

    - ``random00``, ``search00``: from all labelled nodes;
    - ``component00``: from the labelled nodes of the largest connected component;
    - ``pool00``: the nodes of the fixed split reshuffled. Each part keeps its size, and the training nodes their
      number per class; ``sizes`` is not used.
    """
    rule = rule_of(name)
    if rule is None and name != "fixed":
        expected = ", ".join(f"{rule}00" for rule in RULES)
        raise UserError(f"split {name!r}: expected fixed, or a rule and a number: {expected}, …")
    if name == "fixed" or rule == "pool":
        if graph.fixed_split is None:
            raise UserError(
                f"{graph.name} has no fixed split, which the split {name!r} needs; put arrays train, validation and "
                "test into its npz, or use random splits (random00, random01, …)."
            )
        return graph.fixed_split if name == "fixed" else _reshuffled(graph, name, seed)
    labels = graph.labels
    if rule == "component":
        labels = np.where(_in_largest_component(graph.edges, graph.num_nodes), labels, -1)
    sizes = sizes or split_sizes(None, graph.name)
    return random_split(labels, dataset=graph.name, name=name, seed=seed, **vars(sizes))


def random_split(
    labels: np.ndarray,
    *,
    dataset: str,
    name: str,
    per_class: float = SplitSizes.per_class,
    validation: float = SplitSizes.validation,
    test: float = SplitSizes.test,
    seed: int = 0,
) -> Split:
    """Draw ``per_class`` labelled nodes per class for training, then ``validation`` and ``test`` from the rest.

    The same (dataset, name, seed) gives the same split on any machine. Classes without a labelled node (NELL's archive
    has 210 label columns and uses 105) are left out; a class with fewer than ``per_class`` labels is an error.
    """
    classes, available = np.unique(labels[labels >= 0], return_counts=True)
    sizes = SplitSizes(per_class, validation, test)
    return _draw(labels, classes, *_counts(dataset, name, classes, available, sizes), dataset, name, seed)


def _reshuffled(graph: "Graph", name: str, seed: int) -> Split:
    fixed = graph.fixed_split
    assert fixed is not None
    pool = np.full_like(graph.labels, -1)
    nodes = np.concatenate([fixed.train, fixed.validation, fixed.test])
    pool[nodes] = graph.labels[nodes]
    classes = np.unique(graph.labels[nodes])
    train = np.bincount(np.searchsorted(classes, graph.labels[fixed.train]), minlength=len(classes))
    return _draw(pool, classes, train, len(fixed.validation), len(fixed.test), graph.name, name, seed)


def _draw(
    labels: np.ndarray,
    classes: np.ndarray,
    train_counts: np.ndarray,
    validation: int,
    test: int,
    dataset: str,
    name: str,
    seed: int,
) -> Split:
    """Draw ``train_counts[i]`` nodes of ``classes[i]``, then ``validation`` and ``test`` from the labelled rest."""
    order = _permutation(np.flatnonzero(labels >= 0), derive_seed(dataset, name, seed, "split"))
    # A stable sort by class keeps the random order inside each class: its first nodes are the draw.
    by_class = order[np.argsort(labels[order], kind="stable")]
    available = np.bincount(np.searchsorted(classes, labels[order]), minlength=len(classes))
    rank = np.arange(len(by_class)) - np.repeat(np.cumsum(available) - available, available)
    train = by_class[rank < np.repeat(train_counts, available)]
    rest = order[~np.isin(order, train)]
    return Split(
        name=name,
        train=np.sort(train),
        validation=np.sort(rest[:validation]),
        test=np.sort(rest[validation : validation + test]),
    )


def _in_largest_component(edges: np.ndarray, nodes: int) -> np.ndarray:
    """Whether each node belongs to the largest connected component (the first one if several are equally large)."""
    adjacency = sparse.coo_array((np.ones(edges.shape[1], dtype=np.int8), tuple(edges)), shape=(nodes, nodes))
    _, component = csgraph.connected_components(adjacency, directed=False)
    return component == np.bincount(component).argmax()


def save_split(split: Split, path: Path | str, *, dataset: str, seed: int | None, graph_sha256: str) -> None:
    """Write the split as JSON; ``seed`` is null for a fixed split."""
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
            f"{path}: there is no such split. `cgnn split --graph GRAPH --name NAME --out {path}` writes it."
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
            f"{path}: made for a graph with sha256 {made_for}, but this graph has {graph_sha256}. "
            "Delete it and run `cgnn split` on this graph."
        )
    return split


def _permutation(nodes: np.ndarray, seed: int) -> np.ndarray:
    # NumPy guarantees that PCG64's raw stream never changes, but not the result of Generator.permutation.
    keys = np.random.PCG64(seed).random_raw(len(nodes))
    return nodes[np.argsort(keys, kind="stable")]


def _counts(
    dataset: str, name: str, classes: np.ndarray, available: np.ndarray, sizes: SplitSizes
) -> tuple[np.ndarray, int, int]:
    """The sizes as numbers of nodes, checked against what the graph has."""
    where = f"split {name} of {dataset}"
    key = f"protocol.split_sizes.{dataset}"
    for part, least in (("per_class", 1), ("validation", 0), ("test", 0)):
        value = getattr(sizes, part)
        if not (0 < value < 1 or (value >= least and float(value).is_integer())):
            raise UserError(
                f"{where}: {part} is {value}, expected a whole number of at least {least} or a fraction between 0 and "
                f"1. It is set by {key} in the config, or by --{part.replace('_', '-')}."
            )
    if not len(classes):
        raise UserError(f"{where}: no node has a label, so there is nothing to draw from.")
    labelled = int(available.sum())
    train = np.maximum(1, [_nodes(sizes.per_class, int(n)) for n in available])
    validation, test = _nodes(sizes.validation, labelled), _nodes(sizes.test, labelled)
    if (available < train).any():
        pairs = zip(classes, available, train, strict=True)
        small = ", ".join(f"class {c} has {n}" for c, n, wanted in pairs if n < wanted)
        raise UserError(
            f"{where}: {small} labelled nodes, fewer than per_class = {sizes.per_class}. Set {key}.per_class in the "
            f"config (or --per-class) to at most {available.min()}, or to a fraction of every class such as 0.1, or "
            "merge small classes."
        )
    wanted = int(train.sum()) + validation + test
    if wanted > labelled:
        per_class = f"{train[0]} × {len(classes)} classes" if len(set(train)) == 1 else f"{train.sum()} training"
        raise UserError(
            f"{where}: the parts would overlap: {per_class} + {validation} validation + {test} test = {wanted} nodes, "
            f"but only {labelled} have a label. Set smaller sizes, or fractions such as 0.2, in {key} in the config "
            f"({{per_class: 0.1, validation: 0.2, test: 0.5}}), or with --per-class, --validation and --test."
        )
    return train, validation, test


def _nodes(size: float, of: int) -> int:
    """A size as a number of nodes. Adding 1e-9 keeps rounding from turning 0.29 × 100 into 28."""
    return int(size) if size >= 1 or size == 0 else int(size * of + 1e-9)
