"""What a graph is, and the open file it travels in: an npz that needs no pickle."""

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse

from cgnn.datasets.splits import Split
from cgnn.errors import UserError
from cgnn.files import atomic_path


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes with sparse features and (some) labels, joined by undirected edges.

    ``features`` (CSR float32, n×F) hold the raw values of the source files. ``edges`` (int64, 2×m) hold each
    distinct undirected edge once, smaller node first, in lexicographic order, without self-loops. ``labels``
    (int64, n) are -1 where unknown. ``source`` says whose data it is, not which server it came from, so the
    same graph is the same file wherever its bytes were found. ``note`` is a caveat shown beside the name.
    """

    name: str
    source: str
    features: sparse.csr_array
    edges: np.ndarray
    labels: np.ndarray
    num_classes: int
    fixed_split: Split | None = None
    note: str = ""
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        nodes = self.features.shape[0]
        _require(self.features.dtype == np.float32, "features are not float32")
        _require(self.features.has_canonical_format, "features have unsorted or repeated columns")
        _require(
            self.edges.dtype == np.int64 and self.edges.ndim == 2 and len(self.edges) == 2, "edges are not int64 2×m"
        )
        _require(self.labels.dtype == np.int64 and self.labels.shape == (nodes,), "labels are not one int64 a node")
        if self.edges.size:
            smaller, larger = self.edges
            _require(bool((smaller < larger).all()), "an edge does not put its smaller node first")
            _require(bool(smaller.min() >= 0 and larger.max() < nodes), f"an edge leaves the {nodes} nodes")
            _require(bool((np.diff(smaller * nodes + larger) > 0).all()), "edges are not sorted and distinct")
        if nodes:
            _require(bool(self.labels.min() >= -1 and self.labels.max() < self.num_classes), "a label is out of range")
        object.__setattr__(self, "sha256", _content_hash(self))

    @property
    def num_nodes(self) -> int:
        return self.features.shape[0]

    @property
    def num_features(self) -> int:
        return self.features.shape[1]

    @property
    def num_edges(self) -> int:
        return self.edges.shape[1]


def canonical_features(matrix: sparse.sparray | sparse.spmatrix | np.ndarray) -> sparse.csr_array:
    """CSR float32 with sorted, distinct columns and no stored zeros; 32-bit indices whenever they suffice."""
    features = sparse.csr_array(matrix).astype(np.float32)
    features.sum_duplicates()
    features.eliminate_zeros()
    index = np.int32 if max(features.nnz, *features.shape) < 2**31 else np.int64
    parts = (features.data, features.indices.astype(index), features.indptr.astype(index))
    result = sparse.csr_array(parts, shape=features.shape)
    result.has_canonical_format = True
    return result


def undirected_edges(source: np.ndarray, target: np.ndarray, num_nodes: int) -> np.ndarray:
    """The distinct undirected edges among (source, target) pairs given in any order, direction or number."""
    source, target = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
    smaller, larger = np.minimum(source, target), np.maximum(source, target)
    keys = np.unique((smaller * num_nodes + larger)[smaller != larger])
    return np.stack([keys // num_nodes, keys % num_nodes]) if keys.size else np.zeros((2, 0), dtype=np.int64)


def save_graph(graph: Graph, path: Path | str) -> None:
    """Write the npz atomically. Equal graphs give equal bytes."""
    arrays: dict[str, np.ndarray] = {
        "name": np.array(graph.name),
        "source": np.array(graph.source),
        "note": np.array(graph.note),
        "sha256": np.array(graph.sha256),
        "num_classes": np.array(graph.num_classes),
        "features_data": graph.features.data,
        "features_indices": graph.features.indices,
        "features_indptr": graph.features.indptr,
        "features_shape": np.array(graph.features.shape),
        "edges": graph.edges,
        "labels": graph.labels,
    }
    if graph.fixed_split is not None:
        arrays |= {part: getattr(graph.fixed_split, part) for part in ("train", "validation", "test")}
    with atomic_path(path) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def load_graph(path: Path | str) -> Graph:
    """Read a graph back and check that its content still has the sha256 it was saved with."""
    arrays = read_npz(path)
    try:
        graph = Graph(
            name=str(arrays["name"]),
            source=str(arrays["source"]),
            note=str(arrays["note"]),
            features=csr_from_parts(arrays),
            edges=arrays["edges"],
            labels=arrays["labels"],
            num_classes=int(arrays["num_classes"]),
            fixed_split=split_from_arrays(arrays),
        )
        expected = str(arrays["sha256"])
    except KeyError as error:
        raise UserError(
            f"{path}: array {error} is missing; this is not a graph written by `cgnn graph`. "
            "Delete it and run `cgnn graph` again (for a graph of your own: `cgnn graph mine --path FILE`)."
        ) from error
    except ValueError as error:
        raise UserError(f"{path}: damaged ({error}). Delete it and run `cgnn graph` again.") from error
    if graph.sha256 != expected:
        raise UserError(
            f"{path}: damaged or edited: its content has sha256 {graph.sha256}, expected {expected}. "
            "Delete it and run `cgnn graph` again."
        )
    return graph


def read_npz(path: Path | str) -> dict[str, np.ndarray]:
    """All arrays of an npz; pickled objects are refused."""
    if not Path(path).is_file():
        raise UserError(f"{path}: there is no such file. `cgnn graph DATASET --out {path}` makes it.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError, AttributeError) as error:
        raise UserError(
            f"{path}: damaged, or not an npz of plain arrays ({error}). Delete it and make it again."
        ) from error


def csr_from_parts(arrays: Mapping[str, np.ndarray]) -> sparse.csr_array:
    """The feature matrix out of its four arrays ``features_{data,indices,indptr,shape}``."""
    rows, columns = (int(size) for size in arrays["features_shape"])
    parts = (arrays["features_data"], arrays["features_indices"], arrays["features_indptr"])
    return sparse.csr_array(parts, shape=(rows, columns))


def split_from_arrays(arrays: Mapping[str, np.ndarray]) -> Split | None:
    """The fixed split, if the arrays ``train``, ``validation`` and ``test`` are there."""
    if "train" not in arrays:
        return None
    return Split(name="fixed", train=arrays["train"], validation=arrays["validation"], test=arrays["test"])


def _require(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def _content_hash(graph: Graph) -> str:
    """Over what a model can see; name, source and note are words about it."""
    digest = hashlib.sha256()
    features = graph.features
    parts = [np.array([*features.shape, graph.num_classes], dtype=np.int64)]
    parts += [features.indptr, features.indices, features.data, graph.edges, graph.labels]
    if graph.fixed_split is not None:
        parts += [graph.fixed_split.train, graph.fixed_split.validation, graph.fixed_split.test]
    for part in parts:
        # Shape and dtype go in too: two arrays must not be able to trade bytes at their border.
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return digest.hexdigest()
