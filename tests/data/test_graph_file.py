"""The file in which a graph is stored."""

import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgnn.datasets.graph import Graph, canonical_features, load_graph, save_graph, undirected_edges
from cgnn.datasets.splits import Split
from cgnn.errors import UserError


def small(**changes):
    fields = {
        "name": "small",
        "source": "a test",
        "features": canonical_features(np.array([[1, 0], [0, 2], [0, 0]])),
        "edges": np.array([[0, 1], [1, 2]]),
        "labels": np.array([0, 1, -1]),
        "num_classes": 2,
    }
    return Graph(**(fields | changes))


def test_a_saved_graph_loads_unchanged(tmp_path):
    split = Split("fixed", np.array([0]), np.array([1]), np.array([], dtype=np.int64))
    graph = small(fixed_split=split, note="with a caveat")
    save_graph(graph, tmp_path / "g.npz")
    again = load_graph(tmp_path / "g.npz")
    assert (again.name, again.source, again.note, again.sha256) == ("small", "a test", "with a caveat", graph.sha256)
    assert (again.features != graph.features).nnz == 0 and again.features.dtype == np.float32
    np.testing.assert_array_equal(again.edges, graph.edges)
    np.testing.assert_array_equal(again.labels, graph.labels)
    assert again.fixed_split.sha256 == split.sha256


def test_equal_graphs_give_equal_bytes(tmp_path):
    for file in ("a.npz", "b.npz"):
        save_graph(small(), tmp_path / file)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_the_file_contains_no_pickled_objects(tmp_path):
    save_graph(small(), tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz", allow_pickle=False) as arrays:
        assert all(arrays[key].dtype != object for key in arrays.files)


@pytest.mark.parametrize(
    "changes",
    [
        {"features": canonical_features(np.array([[1, 0], [0, 3], [0, 0]]))},
        {"features": canonical_features(np.array([[1, 0, 0], [0, 2, 0], [0, 0, 0]]))},
        {"edges": np.array([[0, 0], [1, 2]])},
        {"labels": np.array([0, 1, 1])},
        {"num_classes": 3},
        {"fixed_split": Split("fixed", np.array([0]), np.array([1]), np.array([2]))},
    ],
)
def test_the_hash_depends_on_everything_a_model_uses(changes):
    assert small(**changes).sha256 != small().sha256


def test_the_hash_does_not_depend_on_the_name():
    assert small(name="other", note="note").sha256 == small().sha256


def test_an_edited_file_is_refused_with_both_hashes(tmp_path):
    save_graph(small(), tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz") as arrays:
        content = {key: arrays[key] for key in arrays.files}
    content["labels"] = np.array([1, 1, -1])
    np.savez(tmp_path / "g.npz", **content)
    with pytest.raises(UserError, match=rf"g\.npz: damaged or edited.*expected {small().sha256}"):
        load_graph(tmp_path / "g.npz")


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_the_error_names_a_truncated_file(tmp_path, keep):
    save_graph(small(), tmp_path / "g.npz")
    raw = (tmp_path / "g.npz").read_bytes()
    (tmp_path / "g.npz").write_bytes(raw[: keep if isinstance(keep, int) else int(len(raw) * keep)])
    with pytest.raises(UserError, match=r"g\.npz"):
        load_graph(tmp_path / "g.npz")


def test_a_flipped_byte_is_refused(tmp_path):
    save_graph(small(), tmp_path / "g.npz")
    raw = bytearray((tmp_path / "g.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "g.npz") as archive:
        offset = archive.getinfo("labels.npy").header_offset + 200
    raw[offset] ^= 1
    (tmp_path / "g.npz").write_bytes(raw)
    with pytest.raises(UserError, match=r"g\.npz"):
        load_graph(tmp_path / "g.npz")


def test_the_error_for_another_npz_file_says_what_is_missing(tmp_path):
    np.savez(tmp_path / "g.npz", x=np.zeros(3))
    with pytest.raises(UserError, match="is missing; this is not a graph"):
        load_graph(tmp_path / "g.npz")


def test_the_error_names_a_missing_graph_file(tmp_path):
    with pytest.raises(UserError, match="there is no such file"):
        load_graph(tmp_path / "absent.npz")


def test_a_pickled_array_is_refused(tmp_path):
    np.savez(tmp_path / "g.npz", name=np.array([object()], dtype=object))
    with pytest.raises(UserError, match="plain arrays"):
        load_graph(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"edges": np.array([[1], [0]])}, "smaller node first"),
        ({"edges": np.array([[0], [3]])}, "leaves the 3 nodes"),
        ({"edges": np.array([[1, 0], [2, 1]])}, "sorted and distinct"),
        ({"edges": np.array([[0, 0], [1, 1]])}, "sorted and distinct"),
        ({"labels": np.array([0, 1, 2])}, "out of range"),
        ({"labels": np.array([0, 1])}, "one int64 per node"),
        ({"fixed_split": Split("fixed", np.array([0]), np.array([1]), np.array([3]))}, "outside the 3 nodes"),
    ],
)
def test_a_graph_that_is_not_canonical_cannot_be_created(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        small(**changes)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=40))
def test_undirected_edges_are_the_set_of_unordered_pairs(pairs):
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    found = [tuple(edge) for edge in undirected_edges(source, target, 9).T.tolist()]
    assert found == sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b})
