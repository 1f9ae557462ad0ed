"""Your own graph: a plain npz that you write, or a PyG ``Data`` object.

Arrays of the npz (see docs/data.md):

- ``edges``, 2×m integers in any order and direction; repeats and self-loops are dropped;
- ``labels``, n integers, -1 where unknown (n is the number of nodes);
- ``features``, n×F numbers, or CSR as ``features_data``, ``features_indices``, ``features_indptr``,
  ``features_shape``;
- optional, all three or none: ``train``, ``validation``, ``test``, node indices or n booleans;
- optional: ``num_classes``, if there are classes without a labelled node;
- optional: ``features_mode``, the normalisation: ``as_given`` (the default), ``rows`` or ``binary_rows``.

Files written by ``cgnn graph`` or ``cgnn convert`` can be read, too.
"""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cgnn.datasets.graph import (
    FEATURES_MODES,
    Graph,
    canonical_features,
    check_row_sums,
    csr_from_parts,
    undirected_edges,
)
from cgnn.datasets.npz import read_npz
from cgnn.datasets.splits import PARTS, Split
from cgnn.errors import UserError

CSR = ("features_data", "features_indices", "features_indptr", "features_shape")
#: What `save_graph` writes in addition to the arrays of a plain npz.
DESCRIPTION = ("name", "source", "note", "sha256")
KNOWN = ("edges", "labels", "features", *CSR, *PARTS, "num_classes", "features_mode", *DESCRIPTION)
WEIGHTS = ("weight", "weights", "edge_weight", "edge_weights", "edge_attr")
#: A graph may have more classes than nodes (most of them empty), but with a limit, because every class needs memory.
CLASSES_IN_A_SMALL_GRAPH = 1000


def read_own(name: str, path: Path | str, features_mode: str | None = None) -> Graph:
    """The graph in ``path``, named ``name``; every error names the file and the array.

    ``features_mode`` replaces the file's own choice.
    """
    arrays = read_npz(path, made_by="docs/data.md explains how to write the npz of your own graph")
    _check_names(path, arrays)
    if "features" not in arrays and all(part in arrays for part in CSR):
        try:
            features: Any = csr_from_parts(arrays)
        except ValueError as error:
            raise UserError(f"{path}: {error}.") from error
    else:
        features = _array(path, arrays, "features", "n×F numbers, or the four arrays of a CSR matrix")
    return graph_from_arrays(
        name,
        features=features,
        edges=_array(path, arrays, "edges", "2×m node numbers"),
        labels=_array(path, arrays, "labels", "one integer per node, -1 where unknown"),
        parts={part: arrays[part] for part in PARTS if part in arrays},
        where=str(path),
        source=str(arrays.get("source", f"own graph {Path(path).name}")),
        note=str(arrays.get("note", "")),
        num_classes=arrays.get("num_classes"),
        features_mode=features_mode or str(arrays.get("features_mode", "")) or "as_given",
    )


def from_pyg(data: Any, name: str = "mine") -> Graph:
    """A Graph from a PyG ``Data`` object with ``x``, ``edge_index``, ``y`` and, optionally, its three masks.

    ``x`` may be dense or sparse. The models of the workflow use no edge weights, so ``edge_weight`` is refused unless
    all weights are equal, finite and positive. Edge features (``edge_attr``) are not used.
    """
    for key in ("x", "edge_index", "y"):
        if getattr(data, key, None) is None:
            raise UserError(f"Data.{key} is missing; a graph needs x, edge_index and y.")
    weight = getattr(data, "edge_weight", None)
    weights = np.ones(1) if weight is None else np.unique(_numpy(weight))
    if weights.size > 1 or not (np.isfinite(weights) & (weights > 0)).all():
        raise UserError(
            "Data.edge_weight: the workflow's models do not support edge weights. Delete it (del data.edge_weight) to "
            "train without weights, or use the layer CGNNConv, which supports them (docs/library.md)."
        )
    masks = {"train": "train_mask", "validation": "val_mask", "test": "test_mask"}
    parts = {part: _numpy(getattr(data, mask)) for part, mask in masks.items() if getattr(data, mask, None) is not None}
    return graph_from_arrays(
        name,
        features=_features_of(data.x),
        edges=_numpy(data.edge_index),
        labels=_numpy(data.y),
        parts=parts,
        where="Data",
        source="PyG Data object",
    )


def graph_from_arrays(
    name: str,
    *,
    features: Any,
    edges: np.ndarray,
    labels: np.ndarray,
    parts: Mapping[str, np.ndarray],
    where: str,
    source: str,
    note: str = "",
    num_classes: np.ndarray | None = None,
    features_mode: str = "as_given",
) -> Graph:
    """Check plain arrays and bring them into canonical form."""
    if features_mode not in FEATURES_MODES:
        raise UserError(f"{where}: features_mode is {features_mode!r}, expected {', '.join(FEATURES_MODES)}.")
    matrix = _checked_features(features, where)
    check_row_sums(matrix, features_mode, where)
    nodes = matrix.shape[0]
    classes = _checked_labels(labels, nodes, num_classes is not None, where)
    found = int(classes.max()) + 1
    return Graph(
        name=name,
        source=source,
        features=matrix,
        edges=_checked_edges(edges, nodes, where),
        labels=classes,
        num_classes=max(found, 1) if num_classes is None else _checked_num_classes(num_classes, found, nodes, where),
        fixed_split=_fixed_split(parts, classes, where),
        note=note,
        features_mode=features_mode,
    )


def _check_names(path: Path | str, arrays: Mapping[str, np.ndarray]) -> None:
    for key in arrays:
        if key in WEIGHTS:
            raise UserError(
                f"{path}: array {key!r}: the format has no edge weights, since the workflow's models do not support "
                "them. Leave it out to train without weights, or use the layer CGNNConv, which supports them "
                "(docs/library.md)."
            )
        if key not in KNOWN:
            near = difflib.get_close_matches(key, KNOWN, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise UserError(
                f"{path}: array {key!r} is unknown. {hint}The format has {', '.join(KNOWN[:-4])}; rename the array or "
                "leave it out."
            )


def _checked_features(features: Any, where: str) -> sparse.csr_array:
    if features.ndim != 2 or features.dtype.kind not in "biuf":
        raise UserError(f"{where}: features are {features.dtype} {features.shape}, expected n×F numbers.")
    if 0 in features.shape:
        advice = " For nodes without features use np.ones((n, 1)) or np.eye(n)." if features.shape[0] else ""
        raise UserError(
            f"{where}: features are {features.shape}, expected at least one node (row) and one column.{advice}"
        )
    dense = isinstance(features, np.ndarray)
    values = features if dense else features.data
    # Models use float32, in which a value that is too large becomes infinite.
    with np.errstate(over="ignore"):
        wrong = np.flatnonzero(~np.isfinite(values.astype(np.float32, copy=False)))
    if wrong.size:
        entry = int(wrong[0])
        if dense:
            row, column = divmod(entry, features.shape[1])
            value = features[row, column]
        else:
            row = int(np.searchsorted(features.indptr, entry, side="right")) - 1
            column, value = int(features.indices[entry]), values[entry]
        kind = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value}, too large for float32"
        more = f" ({wrong.size} such entries)" if wrong.size > 1 else ""
        raise UserError(
            f"{where}: features[{row}, {column}] is {kind}{more}; expected a finite number. Replace it, e.g. with 0."
        )
    return canonical_features(features.astype(np.float32))


def _checked_labels(labels: np.ndarray, nodes: int, classes_known: bool, where: str) -> np.ndarray:
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (nodes,) or labels.dtype.kind not in "iu":
        raise UserError(
            f"{where}: labels are {labels.dtype} {labels.shape}, expected {nodes} integers (one per row of features)."
        )
    lowest, highest, limit = int(labels.min()), int(labels.max()), max(nodes, CLASSES_IN_A_SMALL_GRAPH)
    if lowest < -1:
        raise UserError(
            f"{where}: labels[{int(labels.argmin())}] is {lowest}; expected classes from 0 up, -1 for unknown."
        )
    if highest >= limit:
        raise UserError(
            f"{where}: labels[{int(labels.argmax())}] is {highest}; expected classes 0 to {limit - 1} at most. Number "
            "the classes from 0 without gaps: labels = np.unique(labels, return_inverse=True)[1]."
        )
    labels = labels.astype(np.int64)
    classes = np.unique(labels[labels >= 0])
    if len(classes) and classes[0] == 1 and not classes_known:
        raise UserError(
            f"{where}: labels start at 1, so that class 0 is empty; expected classes from 0 up. Subtract 1 (keep -1 "
            f"for unknown), or, if class 0 is meant to be empty, add the array num_classes = {highest + 1}."
        )
    return labels


def _checked_num_classes(found: np.ndarray, used: int, nodes: int, where: str) -> int:
    limit = max(nodes, CLASSES_IN_A_SMALL_GRAPH)
    if found.size != 1 or found.dtype.kind not in "iu":
        raise UserError(f"{where}: num_classes is {found.dtype} {found.shape}, expected one integer.")
    if not max(used, 1) <= int(found.reshape(())) <= limit:
        raise UserError(
            f"{where}: num_classes is {found.reshape(())}; expected at least {max(used, 1)}, since the labels go up to "
            f"{used - 1}, and at most {limit}."
        )
    return int(found.reshape(()))


def _checked_edges(edges: np.ndarray, nodes: int, where: str) -> np.ndarray:
    if edges.ndim != 2 or edges.shape[0] != 2:
        transpose = "; transpose m×2 first" if edges.ndim == 2 and edges.shape[1] == 2 else ""
        raise UserError(f"{where}: edges are {edges.dtype} {edges.shape}, expected 2×m integers{transpose}.")
    if edges.dtype.kind not in "iu":
        advice = ""
        if edges.dtype.kind == "f" and edges.size:
            whole = np.isfinite(edges) & (edges == np.floor(edges))
            end, edge = np.unravel_index(int(np.argmin(whole)), edges.shape)
            advice = (
                " All are whole numbers: store edges.astype(np.int64)."
                if whole.all()
                else f" Edge {edge} names node {edges[end, edge]}."
            )
        raise UserError(f"{where}: edges are {edges.dtype}, expected node numbers as integers.{advice}")
    outside = (edges < 0) | (edges >= nodes)
    if outside.any():
        end, edge = np.unravel_index(int(np.argmax(outside)), edges.shape)
        node = int(edges[end, edge])
        one_based = edges.min() >= 1 and edges.max() == nodes
        hint = " If your node numbers start at 1, subtract 1." if one_based else ""
        raise UserError(f"{where}: edges name node {node} (edge {edge}); nodes are 0 to {nodes - 1}.{hint}")
    found = undirected_edges(edges[0], edges[1], nodes)
    if not found.size:
        raise UserError(
            f"{where}: edges hold no edge between two different nodes ({edges.shape[1]} columns, {nodes} "
            f"node{'s' if nodes > 1 else ''}); expected at least one. Without edges there is nothing for a graph "
            "neural network to use: train a classifier on the features alone."
        )
    return found


def _fixed_split(parts: Mapping[str, np.ndarray], labels: np.ndarray, where: str) -> Split | None:
    if not parts:
        return None
    if set(parts) != set(PARTS):
        raise UserError(
            f"{where}: the fixed split has only {', '.join(parts)}; expected train, validation and test, or none."
        )
    indices = {}
    for part in PARTS:
        found = parts[part]
        if found.dtype == bool and found.shape == labels.shape:
            found = np.flatnonzero(found)
        if found.ndim != 1 or found.dtype.kind not in "iu":
            columns = found.dtype == bool and found.ndim == 2 and len(found) == len(labels)
            hint = "It holds several splits: choose one column." if columns else ""
            expected = f"expected node numbers or {len(labels)} booleans"
            raise UserError(f"{where}: {part} is {found.dtype} {found.shape}, {expected}. {hint}")
        outside = (found < 0) | (found >= len(labels))
        if outside.any():
            raise UserError(f"{where}: {part} names node {found[outside][0]}; nodes are 0 to {len(labels) - 1}.")
        if not found.size:
            raise UserError(f"{where}: {part} is empty, expected at least one node.")
        if (labels[found] < 0).any():
            raise UserError(f"{where}: {part} holds node {found[labels[found] < 0][0]}, whose label is unknown (-1).")
        indices[part] = np.sort(found.astype(np.int64))
    try:
        return Split(name="fixed", **indices)
    except ValueError as error:
        raise UserError(f"{where}: {error}.") from error


def _array(path: Path | str, arrays: Mapping[str, np.ndarray], key: str, expected: str) -> np.ndarray:
    if key not in arrays:
        raise UserError(f"{path}: array {key!r} ({expected}) is missing; found {', '.join(arrays) or 'nothing'}.")
    return arrays[key]


def _numpy(tensor: Any) -> np.ndarray:
    if not hasattr(tensor, "detach"):
        return np.asarray(tensor)
    tensor = tensor.detach().cpu()
    # NumPy has no bfloat16.
    return (tensor.float() if "bfloat16" in str(tensor.dtype) else tensor).numpy()


def _features_of(x: Any) -> Any:
    if getattr(x, "layout", None) is not None and "sparse" in str(x.layout):
        coo = x.to_sparse_coo().coalesce()
        values, (rows, columns) = _numpy(coo.values()), _numpy(coo.indices())
        # SciPy's sparse matrices have no float16.
        values = values.astype(np.float32) if values.dtype == np.float16 else values
        return sparse.csr_array((values, (rows, columns)), shape=tuple(coo.shape))
    return _numpy(x)
