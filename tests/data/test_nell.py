"""The complete NELL dataset: its eighth file is not in the mirror, so the test generates one of the same shape."""

import hashlib
import struct
from pathlib import Path

import numpy as np

from cgnn.datasets import cache as cache_module
from cgnn.datasets.registry import obtain_graph
from cgnn.datasets.unpickle import read_pickle


def synthetic_ally(like: Path, classes: np.ndarray, columns: int) -> bytes:
    """The bytes of a Python 2 pickle, derived from those of ``ty`` with another number of rows."""
    raw, rows = like.read_bytes(), read_pickle(like).shape[0]
    one_hot = np.zeros((len(classes), columns), dtype=np.int32)
    one_hot[np.arange(len(classes)), classes] = 1
    old_data = b"T" + struct.pack("<i", rows * columns * 4)
    head, tail = raw.split(old_data, 1)
    shape, new_shape = b"M" + struct.pack("<H", rows), b"M" + struct.pack("<H", len(classes))
    assert head.count(shape) == 1
    data = b"T" + struct.pack("<i", one_hot.nbytes) + one_hot.tobytes()
    return head.replace(shape, new_shape) + data + tail[rows * columns * 4 :]


def test_nell_has_all_labels_and_the_graph_of_nell_partial(dataset, mirror, tmp_path, monkeypatch):
    partial = dataset("nell_partial")
    used = np.unique(partial.labels[partial.labels >= 0])
    classes = np.where(partial.labels[:8922] >= 0, partial.labels[:8922], used[0])
    ally = tmp_path / "nell" / "ind.nell.0.001.ally"
    ally.parent.mkdir()
    ally.write_bytes(synthetic_ally(mirror / "nell" / "ind.nell.0.001.ty", classes, 210))
    sums = cache_module.expected_sums() | {"nell/ind.nell.0.001.ally": hashlib.sha256(ally.read_bytes()).hexdigest()}
    monkeypatch.setattr(cache_module, "expected_sums", lambda: sums)

    whole = obtain_graph("nell", cache=tmp_path, mirror=mirror)
    assert int((whole.labels >= 0).sum()) == 9891
    assert whole.note == ""
    np.testing.assert_array_equal(whole.edges, partial.edges)
    assert (whole.features != partial.features).nnz == 0
    known = partial.labels >= 0
    np.testing.assert_array_equal(whole.labels[known], partial.labels[known])
    assert len(whole.fixed_split.train) == 105
