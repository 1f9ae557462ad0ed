"""Your own graph: a plain npz you write, or a PyG ``Data`` object.

Arrays of the npz (see docs/data.md):

- ``edges``, 2×m integers, any order and direction; repeats and self-loops are dropped;
- ``labels``, n integers, -1 where unknown (n is the number of nodes);
- ``features``, n×F numbers, or CSR as ``features_data``, ``features_indices``, ``features_indptr``,
  ``features_shape``;
- optional, all three or none: ``train``, ``validation``, ``test``, node indices or n booleans.

A file written by ``cgnn graph`` or ``cgnn convert`` is read as well.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cgnn.datasets.graph import Graph, canonical_features, csr_from_parts, read_npz, undirected_edges
from cgnn.datasets.splits import PARTS, Split
from cgnn.errors import UserError


def read_own(name: str, path: Path | str) -> Graph:
    """The graph in ``path``, named ``name``; every complaint names the file and the array."""
    arrays = read_npz(path)
    if "features" not in arrays and all(
        f"features_{part}" in arrays for part in ("data", "indices", "indptr", "shape")
    ):
        features: Any = csr_from_parts(arrays)
    else:
        features = _array(path, arrays, "features", "n×F numbers, or the four arrays of a CSR matrix")
    return graph_from_arrays(
        name,
        features=features,
        edges=_array(path, arrays, "edges", "2×m node indices"),
        labels=_array(path, arrays, "labels", "one integer a node, -1 where unknown"),
        parts={part: arrays[part] for part in PARTS if part in arrays},
        where=str(path),
        source=str(arrays.get("source", f"own graph {Path(path).name}")),
        note=str(arrays.get("note", "")),
        num_classes=int(arrays.get("num_classes", 0)),
    )


def from_pyg(data: Any, name: str = "mine") -> Graph:
    """A Graph from a PyG ``Data`` with ``x``, ``edge_index``, ``y`` and, if there, its three masks.

    ``x`` may be dense or a sparse tensor. Edge weights and edge features are not used by the models here.
    """
    for key in ("x", "edge_index", "y"):
        if getattr(data, key, None) is None:
            raise UserError(f"Data.{key} is missing; a graph needs x, edge_index and y.")
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
    num_classes: int = 0,
) -> Graph:
    """Check plain arrays and bring them into canonical form."""
    if features.ndim != 2 or not np.issubdtype(features.dtype, np.number) or np.iscomplexobj(features):
        raise UserError(f"{where}: features are {features.dtype} {features.shape}, expected n×F numbers.")
    values = features if isinstance(features, np.ndarray) else features.data
    if not np.isfinite(values).all():
        raise UserError(f"{where}: features hold NaN or infinity; replace them, by 0 for instance.")
    nodes = features.shape[0]
    labels = np.squeeze(labels)
    if labels.shape != (nodes,) or not np.issubdtype(labels.dtype, np.integer):
        raise UserError(
            f"{where}: labels are {labels.dtype} {labels.shape}, expected {nodes} integers (one a row of features)."
        )
    if nodes and labels.min() < -1:
        raise UserError(f"{where}: labels hold {labels.min()}; expected classes from 0 up, -1 for unknown.")
    if edges.ndim != 2 or edges.shape[0] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise UserError(f"{where}: edges are {edges.dtype} {edges.shape}, expected 2×m integers; transpose m×2 first.")
    if edges.size and (edges.min() < 0 or edges.max() >= nodes):
        raise UserError(
            f"{where}: edges name node {edges.min() if edges.min() < 0 else edges.max()}; nodes are 0 to {nodes - 1}."
        )
    return Graph(
        name=name,
        source=source,
        features=canonical_features(features),
        edges=undirected_edges(edges[0], edges[1], nodes),
        labels=labels.astype(np.int64),
        num_classes=max(int(labels.max(initial=-1)) + 1, num_classes, 1),
        fixed_split=_fixed_split(parts, labels, where),
        note=note,
    )


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
        if found.ndim != 1 or not np.issubdtype(found.dtype, np.integer):
            raise UserError(
                f"{where}: {part} is {found.dtype} {found.shape}, expected node indices or {len(labels)} booleans."
            )
        if found.size and (found.min() < 0 or found.max() >= len(labels)):
            raise UserError(f"{where}: {part} names a node outside 0 to {len(labels) - 1}.")
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
    return tensor.detach().cpu().numpy() if hasattr(tensor, "detach") else np.asarray(tensor)


def _features_of(x: Any) -> Any:
    if getattr(x, "layout", None) is not None and "sparse" in str(x.layout):
        from scipy import sparse

        coo = x.to_sparse_coo().coalesce().cpu()
        return sparse.csr_array((coo.values().numpy(), tuple(coo.indices().numpy())), shape=tuple(coo.shape))
    return _numpy(x)
