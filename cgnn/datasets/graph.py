"""The Graph class, and its file format: an npz without pickle."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import sparse

from cgnn.datasets.npz import read_npz
from cgnn.datasets.splits import Split
from cgnn.errors import UserError
from cgnn.files import atomic_path

#: Normalisations of the features: none, each row divided by its sum, or the same after conversion to 0/1.
FEATURES_MODES = ("as_given", "rows", "binary_rows")


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes with sparse features and labels (some may be unknown), and undirected edges between them.

    ``features`` (CSR float32, n×F) hold the raw values of the source files. ``edges`` (int64, 2×m) hold each
    distinct undirected edge once, smaller node first, in lexicographic order, without self-loops. ``labels``
    (int64, n) are -1 where unknown. ``source`` names the origin of the data, not the server it was downloaded from, so
    that the same graph always gives the same file. ``note`` is a caveat that tables show with the name.
    ``features_mode`` is one of ``FEATURES_MODES``, the user's choice of normalisation; it is empty for the paper's
    datasets, where the preset decides.
    """

    name: str
    source: str
    features: sparse.csr_array
    edges: np.ndarray
    labels: np.ndarray
    num_classes: int
    fixed_split: Split | None = None
    note: str = ""
    features_mode: str = ""
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        nodes = self.features.shape[0]
        _require(self.features.dtype == np.float32, "features are not float32")
        _require(self.features.has_canonical_format, "features have unsorted or repeated columns")
        _require(
            self.edges.dtype == np.int64 and self.edges.ndim == 2 and len(self.edges) == 2, "edges are not int64 2×m"
        )
        _require(self.labels.dtype == np.int64 and self.labels.shape == (nodes,), "labels are not one int64 per node")
        if self.edges.size:
            smaller, larger = self.edges
            _require(bool((smaller < larger).all()), "an edge does not put its smaller node first")
            _require(bool(smaller.min() >= 0 and larger.max() < nodes), f"an edge leaves the {nodes} nodes")
            _require(bool((np.diff(smaller * nodes + larger) > 0).all()), "edges are not sorted and distinct")
        if nodes:
            _require(bool(self.labels.min() >= -1 and self.labels.max() < self.num_classes), "a label is out of range")
        if self.fixed_split is not None:
            _require(self.fixed_split.within(nodes), f"the fixed split names a node outside the {nodes} nodes")
        _require(self.features_mode in ("", *FEATURES_MODES), f"features_mode is {self.features_mode!r}")
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
    """CSR float32 with sorted, distinct columns and no stored zeros; 32-bit indices if they suffice."""
    features = sparse.csr_array(matrix).astype(np.float32)
    features.sum_duplicates()
    features.eliminate_zeros()
    index = np.int32 if max(features.nnz, *features.shape) < 2**31 else np.int64
    parts = (features.data, features.indices.astype(index), features.indptr.astype(index))
    result = sparse.csr_array(parts, shape=features.shape)
    result.has_canonical_format = True
    return result


def check_row_sums(features: sparse.csr_array, mode: str, where: str) -> None:
    """Raise a UserError that names the rows that ``rows`` and ``binary_rows`` cannot divide by their sum."""
    if mode == "as_given":
        return
    sums = np.diff(features.indptr) if mode == "binary_rows" else features.sum(axis=1, dtype=np.float64)
    bad = np.flatnonzero(sums <= 0)
    if bad.size:
        nodes = ", ".join(str(node) for node in bad[:3]) + (f" and {bad.size - 3} more" if bad.size > 3 else "")
        raise UserError(
            f"{where}: the features of node{'s' if bad.size > 1 else ''} {nodes} sum to zero or less "
            f"(node {bad[0]}: {sums[bad[0]]:g}), so that `features: {mode}` cannot divide by the sum; expected every "
            "sum above 0. Use `features: as_given`, or change those rows."
        )


def undirected_edges(source: np.ndarray, target: np.ndarray, num_nodes: int) -> np.ndarray:
    """The distinct undirected edges among (source, target) pairs in any order and direction, repeats allowed."""
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
    if graph.features_mode:
        arrays["features_mode"] = np.array(graph.features_mode)
    if graph.fixed_split is not None:
        arrays |= {part: getattr(graph.fixed_split, part) for part in ("train", "validation", "test")}
    with atomic_path(path) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, allow_pickle=False, **arrays)


def load_graph(path: Path | str, *, dataset: str | None = None) -> Graph:
    """Read a graph back and check that its content still has the sha256 it was saved with.

    With ``dataset``, it must also be the graph of that name.
    """
    arrays = read_npz(path)
    try:
        graph = Graph(
            name=str(arrays["name"]),
            source=str(arrays["source"]),
            note=str(arrays["note"]),
            features_mode=str(arrays.get("features_mode", "")),
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
            "Delete it and run `cgnn graph` again (for your own graph: `cgnn graph mine --path FILE`)."
        ) from error
    except ValueError as error:
        raise UserError(f"{path}: damaged ({error}). Delete it and run `cgnn graph` again.") from error
    if graph.sha256 != expected:
        raise UserError(
            f"{path}: damaged or edited: its content has sha256 {graph.sha256}, expected {expected}. "
            "Delete it and run `cgnn graph` again."
        )
    if dataset is not None and graph.name != dataset:
        raise UserError(
            f"{path}: this is the graph {graph.name}, but the dataset {dataset} was requested. Seeds, settings and "
            f"rows depend on the name: use `--dataset {graph.name}`, or write the file again under that name with "
            "`cgnn graph`."
        )
    return graph


def csr_from_parts(arrays: Mapping[str, np.ndarray]) -> sparse.csr_array:
    """The feature matrix from its four arrays ``features_{data,indices,indptr,shape}``.

    SciPy and PyTorch read and write outside their buffers if the format is violated, so it is checked completely first
    (ValueError).
    """
    data, indices, indptr = (np.asarray(arrays[f"features_{part}"]) for part in ("data", "indices", "indptr"))
    shape = np.asarray(arrays["features_shape"])
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0 or shape.max() >= 2**31:
        found = shape.tolist() if shape.size < 5 else f"{shape.dtype} {shape.shape}"
        raise ValueError(f"features_shape is {found}, expected two integers: rows and columns")
    rows, columns = (int(size) for size in shape)
    for name, array, kinds in (("data", data, "biuf"), ("indices", indices, "iu"), ("indptr", indptr, "iu")):
        if array.ndim != 1 or array.dtype.kind not in kinds:
            wanted = "a list of numbers" if kinds == "biuf" else "a list of integers"
            raise ValueError(f"features_{name} is {array.dtype} {array.shape}, expected {wanted}")
    if len(data) != len(indices):
        raise ValueError(
            f"features_data has {len(data)} values and features_indices {len(indices)}, expected equal lengths"
        )
    if len(indptr) != rows + 1:
        raise ValueError(f"features_indptr has {len(indptr)} entries, expected {rows + 1} (rows + 1)")
    if indptr[0] != 0 or indptr[-1] != len(data):
        raise ValueError(f"features_indptr goes from {indptr[0]} to {indptr[-1]}, expected from 0 to {len(data)}")
    if (falls := np.flatnonzero(indptr[1:] < indptr[:-1])).size:
        raise ValueError(f"features_indptr decreases at entry {falls[0] + 1}, expected it never to decrease")
    if (outside := np.flatnonzero((indices < 0) | (indices >= columns))).size:
        entry = outside[0]
        raise ValueError(f"features_indices[{entry}] is column {indices[entry]}, expected 0 to {columns - 1}")
    data = data if data.dtype in (np.float32, np.float64) else data.astype(np.float64)
    index = np.int32 if max(len(data), rows, columns) < 2**31 else np.int64
    return sparse.csr_array((data, indices.astype(index), indptr.astype(index)), shape=(rows, columns))


def split_from_arrays(arrays: Mapping[str, np.ndarray]) -> Split | None:
    """The fixed split, if there are arrays ``train``, ``validation`` and ``test``."""
    if "train" not in arrays:
        return None
    return Split(name="fixed", train=arrays["train"], validation=arrays["validation"], test=arrays["test"])


def _require(holds: bool, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)


def _content_hash(graph: Graph) -> str:
    """The sha256 of what a model uses; name, source and note are not part of it."""
    digest = hashlib.sha256()
    features = graph.features
    parts = [np.array([*features.shape, graph.num_classes], dtype=np.int64)]
    parts += [features.indptr, features.indices, features.data, graph.edges, graph.labels]
    if graph.fixed_split is not None:
        parts += [graph.fixed_split.train, graph.fixed_split.validation, graph.fixed_split.test]
    for part in parts:
        # Shape and dtype are included, so that moving bytes from one array to the next changes the hash.
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    return digest.hexdigest()
