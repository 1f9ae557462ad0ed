"""A user's own graph: a plain npz file or a PyG Data object, and error messages that name the array."""

import contextlib
import io
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from cgnn.__main__ import main
from cgnn.datasets import npz
from cgnn.datasets.graph import FEATURES_MODES, load_graph, save_graph
from cgnn.datasets.own import KNOWN, from_pyg, read_own
from cgnn.datasets.registry import DATASETS, obtain_graph
from cgnn.errors import UserError

PLAIN = {
    "features": np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.0], [1.0, 1.0]]),
    "edges": np.array([[0, 1, 2, 1, 3], [1, 0, 1, 1, 2]]),
    "labels": np.array([0, 1, -1, 1]),
}
SPLIT = {"train": np.array([0]), "validation": np.array([1]), "test": np.array([3])}


def written(tmp_path, **changes):
    content = {key: value for key, value in (PLAIN | changes).items() if value is not None}
    np.savez(tmp_path / "my.npz", **content)
    return tmp_path / "my.npz"


def test_a_plain_npz_file_gives_a_canonical_graph(tmp_path):
    graph = read_own("mine", written(tmp_path))
    assert graph.edges.tolist() == [[0, 1, 2], [1, 2, 3]]  # each edge once, without the self-loop of node 1
    assert (graph.name, graph.num_classes, graph.fixed_split) == ("mine", 2, None)
    np.testing.assert_array_equal(graph.features.toarray(), PLAIN["features"].astype(np.float32))


def test_csr_features_and_dense_features_give_the_same_graph(tmp_path):
    csr = sparse.csr_array(PLAIN["features"])
    parts = {f"features_{part}": getattr(csr, part) for part in ("data", "indices", "indptr")}
    dense = read_own("mine", written(tmp_path))
    same = read_own("mine", written(tmp_path, features=None, features_shape=np.array(csr.shape), **parts))
    assert dense.sha256 == same.sha256


def test_a_split_may_be_indices_or_booleans(tmp_path):
    by_index = read_own("mine", written(tmp_path, **SPLIT))
    masks = {part: np.isin(np.arange(4), nodes) for part, nodes in SPLIT.items()}
    by_mask = read_own("mine", written(tmp_path, **masks))
    assert by_index.sha256 == by_mask.sha256
    assert by_index.fixed_split.test.tolist() == [3]


CSR = {
    "features": None,
    "features_data": np.array([1.0, 0.5, 1.0, 1.0]),
    "features_indices": np.array([0, 1, 0, 1]),
    "features_indptr": np.array([0, 1, 2, 2, 4]),
    "features_shape": np.array([4, 2]),
}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        # names
        ({"edges": None}, "array 'edges' .* is missing; found features, labels"),
        ({"features": None}, "array 'features' .* is missing"),
        ({"label": np.zeros(4)}, "array 'label' is unknown. Did you mean 'labels'"),
        ({"val": np.zeros(4)}, "array 'val' is unknown"),
        ({"weights": np.ones(5)}, "array 'weights': the format has no edge weights"),
        ({"weight": np.full(5, np.inf)}, "array 'weight': the format has no edge weights"),
        # labels
        ({"labels": np.array([0, 1])}, r"labels are int64 \(2,\), expected 4 integers"),
        ({"labels": np.array([0.0, 1, 1, 1])}, "labels are float64"),
        ({"labels": np.array([0, 1, -7, 1])}, r"labels\[2\] is -7"),
        ({"labels": np.array([1, 2, -1, 3])}, "labels start at 1, .* Subtract 1"),
        ({"labels": np.array([0, 1, 2**63 - 1, 1])}, r"labels\[2\] is 9223372036854775807; .* without gaps"),
        ({"labels": np.array([0, 1, 2**64 - 1, 1], dtype=np.uint64)}, r"labels\[2\] is 18446744073709551615"),
        ({"labels": np.array([0, 1, 0, 1], dtype="m8[s]")}, "labels are timedelta64"),
        ({"labels": np.int64(3)}, r"labels are int64 \(\)"),
        ({"num_classes": np.array(1)}, "num_classes is 1; expected at least 2"),
        ({"num_classes": np.array(-3)}, "num_classes is -3"),
        ({"num_classes": np.array(10**12)}, "num_classes is 1000000000000; .* at most 1000"),
        ({"num_classes": np.array([2, 2])}, r"num_classes is int64 \(2,\), expected one integer"),
        ({"num_classes": np.array("two")}, "num_classes is <U3"),
        # edges
        ({"edges": PLAIN["edges"].T}, "expected 2×m integers; transpose"),
        ({"edges": np.array([[0], [4]])}, r"edges name node 4 \(edge 0\); nodes are 0 to 3"),
        ({"edges": np.array([[0, -1], [1, 2]])}, r"edges name node -1 \(edge 1\)"),
        ({"edges": np.array([[1, 2], [2, 4]])}, "edges name node 4 .* start at 1, subtract 1"),
        ({"edges": np.array([[0, 2**64 - 1], [1, 2]], dtype=np.uint64)}, "edges name node 18446744073709551615"),
        ({"edges": np.array([[0.0, 1.0], [1.0, 2.0]])}, "edges are float64, .* store edges.astype"),
        ({"edges": np.array([[0.0, 1.5], [1.0, 2.0]])}, "edges are float64, .* Edge 1 names node 1.5"),
        ({"edges": np.array([[0.0, np.nan], [1.0, 2.0]])}, "edges are float64, .* Edge 1 names node nan"),
        ({"edges": np.zeros((2, 0), dtype=int)}, "edges hold no edge between two different nodes"),
        ({"edges": np.array([[2], [2]])}, "edges hold no edge between two different nodes"),
        ({"edges": np.array([["a"], ["b"]])}, "edges are <U1"),
        # features
        ({"features": np.array([[0, 1], [0, np.nan], [1, 1], [1, 1]])}, r"features\[1, 1\] is NaN; expected a finite"),
        ({"features": np.array([[0, 1], [0, 1], [np.inf, 1], [-np.inf, 1]])}, r"features\[2, 0\] is infinity \(2 such"),
        ({"features": np.array([[0, 1], [0, 1e300], [1, 1], [1, 1]])}, r"features\[1, 1\] is 1e\+300, too large"),
        ({"features": np.zeros(4)}, "expected n×F numbers"),
        ({"features": np.zeros((4, 0))}, r"at least one node \(row\) and one column. For nodes without features"),
        ({"features": np.zeros((0, 2)), "labels": np.zeros(0, int)}, r"at least one node"),
        (
            {"features": np.ones((1, 2)), "labels": np.zeros(1, int), "edges": np.array([[0], [0]])},
            "no edge between two",
        ),
        ({"features": np.array([["a"]] * 4)}, "expected n×F numbers"),
        ({"features": np.ones((4, 2), dtype=complex)}, "expected n×F numbers"),
        # features as CSR
        (CSR | {"features_shape": np.array([4])}, r"features_shape is \[4\], expected two integers"),
        (CSR | {"features_shape": np.array(4)}, "features_shape is 4, expected two integers"),
        (CSR | {"features_shape": np.array([4.0, 2.0])}, r"features_shape is \[4.0, 2.0\], expected two integers"),
        (CSR | {"features_shape": np.array([-4, 2])}, "expected two integers"),
        (CSR | {"features_shape": np.array([5, 2])}, r"features_indptr has 5 entries, expected 6 \(rows \+ 1\)"),
        (
            CSR | {"features_indptr": np.array([0, 1, 2, 2, 9])},
            "features_indptr goes from 0 to 9, expected from 0 to 4",
        ),
        (CSR | {"features_indptr": np.array([1, 1, 2, 2, 4])}, "features_indptr goes from 1 to 4"),
        (CSR | {"features_indptr": np.array([0, 3, 2, 2, 4])}, "features_indptr decreases at entry 2"),
        (CSR | {"features_indptr": np.array([0, 10**9, 2, 2, 4])}, "features_indptr decreases at entry 2"),
        (CSR | {"features_indptr": np.array([0.0, 1, 2, 2, 4])}, "features_indptr is float64"),
        (CSR | {"features_indices": np.array([0, 1, 0, 2])}, r"features_indices\[3\] is column 2, expected 0 to 1"),
        (CSR | {"features_indices": np.array([0, -1, 0, 1])}, r"features_indices\[1\] is column -1"),
        (CSR | {"features_indices": np.array([0, 1, 0])}, "features_data has 4 values and features_indices 3"),
        (CSR | {"features_data": np.ones((2, 2))}, r"features_data is float64 \(2, 2\)"),
        (CSR | {"features_data": np.array([1, 2, np.nan, 4])}, r"features\[3, 0\] is NaN"),
        # fixed split
        ({"train": np.array([0])}, "the fixed split has only train"),
        (SPLIT | {"test": np.array([9])}, "test names node 9; nodes are 0 to 3"),
        (SPLIT | {"test": np.array([2])}, "test holds node 2, whose label is unknown"),
        (SPLIT | {"test": np.array([0])}, "share a node"),
        (SPLIT | {"test": np.array([], dtype=int)}, "test is empty"),
        (SPLIT | {"test": np.array([0.5])}, "expected node numbers or 4 booleans"),
        (SPLIT | {"test": np.ones((4, 3), dtype=bool)}, "several splits: choose one column"),
    ],
)
def test_an_error_names_the_file_and_the_array(tmp_path, changes, complaint):
    with pytest.raises(UserError, match=rf"my\.npz: .*{complaint}"):
        read_own("mine", written(tmp_path, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": np.array([0, 1, 0, 1], dtype=np.uint8)},
        {"labels": np.array([[0], [1], [-1], [1]], dtype=np.int16)},
        {"labels": np.array([0, 1, 0, 1], dtype=">i4")},
        {"labels": np.array([1, 2, -1, 1]), "num_classes": np.array(3)},
        {"num_classes": np.array([7])},
        {"edges": PLAIN["edges"].astype(np.uint32)},
        {"features": PLAIN["features"] > 0},
        {"features": PLAIN["features"].astype(np.float16)},
        {"features": np.asfortranarray(PLAIN["features"])},
        CSR | {"features_indptr": CSR["features_indptr"].astype(np.uint64)},
        CSR | {"features_data": CSR["features_data"].astype(">f8")},
        {"source": np.array("a survey"), "note": np.array("a caveat")},
    ],
)
def test_valid_input_is_accepted_in_any_data_type(tmp_path, changes):
    graph = read_own("mine", written(tmp_path, **changes))
    assert graph.num_nodes == 4 and graph.edges.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert graph.labels.tolist() == np.ravel(changes.get("labels", PLAIN["labels"])).tolist()
    assert graph.num_classes == max(graph.labels.max() + 1, *np.ravel(changes.get("num_classes", 0)), 1)
    save_graph(graph, tmp_path / "graph.npz")
    assert load_graph(tmp_path / "graph.npz").sha256 == graph.sha256


def test_features_are_used_as_given_unless_another_mode_is_requested(tmp_path):
    path = written(tmp_path, features=np.array([[1.0, 2.0], [0.0, 0.5], [1.0, 0.0], [-1.0, 3.0]]))
    assert read_own("mine", path).features_mode == "as_given"
    for mode in FEATURES_MODES:
        command = ["graph", "mine", "--path", str(path), "--features", mode, "--out", str(tmp_path / f"{mode}.npz")]
        assert main(command) == 0
        assert load_graph(tmp_path / f"{mode}.npz").features_mode == mode
        assert read_own("mine", tmp_path / f"{mode}.npz").features_mode == mode
    assert read_own("mine", tmp_path / "rows.npz", "as_given").features_mode == "as_given"


def test_the_preset_decides_the_features_of_the_papers_datasets(dataset, tmp_path):
    for name in ("cora", "nell_partial"):
        assert dataset(name).features_mode == ""
    assert main(["graph", "cora", "--features", "rows", "--out", str(tmp_path / "g.npz")]) == 2


@pytest.mark.parametrize(
    ("row", "mode", "complaint"),
    [
        ([0.0, 0.0], "rows", r"the features of node 2 sum to zero or less \(node 2: 0\)"),
        ([0.0, 0.0], "binary_rows", r"the features of node 2 sum to zero or less \(node 2: 0\)"),
        ([1.0, -1.5], "rows", r"the features of node 2 sum to zero or less \(node 2: -0\.5\)"),
        ([1.0, 1.0], "row", "features_mode is 'row', expected as_given, rows, binary_rows"),
    ],
)
def test_features_that_cannot_be_normalised_are_refused_when_the_graph_is_created(tmp_path, row, mode, complaint):
    features = np.array([[1.0, 0.0], [0.0, 0.5], row, [1.0, 1.0]])
    with pytest.raises(UserError, match=rf"my\.npz: {complaint}"):
        read_own("mine", written(tmp_path, features=features, features_mode=np.array(mode)))


def test_a_users_own_graph_cannot_have_the_name_of_a_built_in_dataset(tmp_path, capsys):
    for name in DATASETS:
        out = tmp_path / "g.npz"
        assert main(["graph", name, "--path", str(written(tmp_path)), "--out", str(out)]) == 2
        assert f"{name} is a dataset of this project" in capsys.readouterr().err and not out.exists()


def test_a_graph_cannot_be_loaded_as_another_dataset(tmp_path):
    save_graph(read_own("mine", written(tmp_path)), tmp_path / "g.npz")
    assert load_graph(tmp_path / "g.npz", dataset="mine").name == "mine"
    with pytest.raises(UserError, match=r"g\.npz: this is the graph mine, but the dataset citeseer was requested"):
        load_graph(tmp_path / "g.npz", dataset="citeseer")


def test_a_bad_row_pointer_is_an_error_and_not_a_crash_of_the_interpreter(tmp_path):
    """Runs in a separate process, because SciPy reads outside its buffers without a check."""
    indptr = np.array([0, 10**9, -(10**9), 2, 4])
    path = written(tmp_path, **(CSR | {"features_indptr": indptr}))
    command = [sys.executable, "-m", "cgnn", "graph", "mine", "--path", str(path), "--out", str(tmp_path / "g.npz")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "features_indptr decreases at entry 2" in done.stderr and "Traceback" not in done.stderr


def test_a_single_array_in_a_file_called_npz_is_recognised(tmp_path):
    np.save(tmp_path / "my.npy", PLAIN["features"])
    (tmp_path / "my.npy").rename(tmp_path / "my.npz")
    with pytest.raises(UserError, match=r"my\.npz: holds a single array, as np.save writes it.* np.savez"):
        read_own("mine", tmp_path / "my.npz")


def npz_with_header(path, shape, body=b"", descr="'<f8'"):
    """An npz whose array ``features`` declares any shape."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("features.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + body)
    return path


@pytest.mark.parametrize("shape", ["(10000000000, 1000)", "(4, -2)", "(2, 2)", "(3.5,)", "'all'"])
def test_a_shape_larger_than_the_file_is_refused_before_memory_is_allocated(tmp_path, shape):
    with pytest.raises(UserError, match=r"my\.npz: damaged, or not an npz of plain arrays"):
        read_own("mine", npz_with_header(tmp_path / "my.npz", shape, bytes(16)))


def test_a_small_file_that_would_fill_the_memory_is_refused_by_its_declared_size(tmp_path, monkeypatch):
    path = npz_with_header(tmp_path / "my.npz", "(1000, 1000)", bytes(8_000_000))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(npz, "SMALL_BYTES", 4_000_000)
    with pytest.raises(UserError, match=r"declares arrays of 7\.6 MiB; expected at most 3\.8 MiB.*sparse CSR matrix"):
        read_own("mine", path)
    monkeypatch.setattr(npz, "SMALL_BYTES", 8_000_128)
    with pytest.raises(UserError, match=r"array 'edges' .* is missing"):
        read_own("mine", path)
    monkeypatch.setattr(npz, "memory_bytes", lambda: 10_000_000)
    with pytest.raises(UserError, match="declares arrays"):
        read_own("mine", path)


def test_another_zip_file_and_a_duplicate_array_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "my.npz", "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    with pytest.raises(UserError, match=r"my\.npz: a zip file that holds word/document\.xml, expected an npz"):
        read_own("mine", tmp_path / "my.npz")
    path = written(tmp_path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning):
        archive.writestr("labels.npy", archive.read("labels.npy"))
    with pytest.raises(UserError, match="array 'labels' is in the file twice"):
        read_own("mine", path)


@given(st.data())
def test_a_damaged_file_gives_a_graph_or_a_user_error(data):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **(PLAIN | SPLIT)) if data.draw(st.booleans()) else np.savez(buffer, **(PLAIN | SPLIT))
    content = bytearray(buffer.getvalue())
    for position in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[position] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "my.npz"
        path.write_bytes(content[:end])
        with contextlib.suppress(UserError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert read_own("mine", path).num_nodes == 4


SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
ANY_ARRAY = st.one_of(
    *(
        hnp.arrays(dtype, SHAPES, elements=st.integers(-2, 5))
        for dtype in (np.int64, np.int8, np.float64, np.float16, np.complex64)
    ),
    hnp.arrays(np.uint64, SHAPES),
    hnp.arrays(np.float32, SHAPES),
    hnp.arrays(bool, SHAPES),
    hnp.arrays("U2", SHAPES),
)


@given(
    st.dictionaries(st.sampled_from([key for key in KNOWN if key != "features"]), ANY_ARRAY, min_size=1), st.booleans()
)
def test_any_arrays_with_known_names_give_a_graph_or_a_user_error(changes, as_csr):
    with tempfile.TemporaryDirectory() as folder:
        try:
            graph = read_own("mine", written(Path(folder), **((CSR if as_csr else {}) | changes)))
        except UserError:
            return
        save_graph(graph, Path(folder) / "graph.npz")
        assert load_graph(Path(folder) / "graph.npz").sha256 == graph.sha256


def test_a_damaged_graph_file_with_a_bad_row_pointer_is_refused(tmp_path):
    save_graph(read_own("mine", written(tmp_path)), tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz") as arrays:
        content = dict(arrays)
    content["features_indptr"][1] = 10**6
    np.savez(tmp_path / "g.npz", **content)
    with pytest.raises(UserError, match=r"g\.npz: damaged \(features_indptr decreases at entry 2"):
        load_graph(tmp_path / "g.npz")


def test_the_error_names_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(UserError, match=r"absent\.npz: there is no such file"):
        obtain_graph("mine", path=tmp_path / "absent.npz")


def test_a_saved_graph_can_be_used_as_a_users_own_graph(dataset, tmp_path):
    cora = dataset("cora")
    save_graph(cora, tmp_path / "cora.npz")
    assert read_own("mine", tmp_path / "cora.npz").sha256 == cora.sha256


@pytest.fixture
def data():
    torch = pytest.importorskip("torch")
    Data = pytest.importorskip("torch_geometric.data").Data
    masks = {
        f"{name}_mask": torch.tensor(np.isin(np.arange(4), SPLIT[part]))
        for name, part in (("train", "train"), ("val", "validation"), ("test", "test"))
    }
    return Data(
        x=torch.tensor(PLAIN["features"], dtype=torch.float32),
        edge_index=torch.tensor(PLAIN["edges"]),
        y=torch.tensor(PLAIN["labels"]),
        **masks,
    )


def test_a_pyg_object_gives_the_same_graph_as_the_npz(data, tmp_path):
    assert from_pyg(data).sha256 == read_own("mine", written(tmp_path, **SPLIT)).sha256


def test_sparse_features_of_a_pyg_object_give_the_same_graph(data):
    dense = from_pyg(data)
    for layout in ("to_sparse_coo", "to_sparse_csr"):
        data.x = getattr(data.x.to_dense(), layout)()
        assert from_pyg(data).sha256 == dense.sha256


def test_a_column_of_labels_is_flattened_and_missing_masks_mean_no_fixed_split(data):
    data.y = data.y[:, None]
    del data.val_mask, data.train_mask, data.test_mask
    graph = from_pyg(data)
    assert graph.labels.tolist() == [0, 1, -1, 1] and graph.fixed_split is None


def test_edge_weights_of_a_pyg_object_are_not_silently_ignored(data):
    import torch

    plain = from_pyg(data)
    data.edge_weight = torch.ones(data.num_edges)
    assert from_pyg(data).sha256 == plain.sha256
    for value in (float("inf"), float("nan"), 0.0, -1.0):
        data.edge_weight[:] = value
        with pytest.raises(UserError, match=r"Data\.edge_weight"):
            from_pyg(data)
    data.edge_weight[:] = 1
    data.edge_weight[0] = 2
    with pytest.raises(UserError, match=r"Data\.edge_weight: the workflow's models do not support edge weights"):
        from_pyg(data)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_features_of_a_pyg_object_are_read(data, dtype):
    import torch

    plain = from_pyg(data)
    data.x = data.x.to(getattr(torch, dtype))
    assert from_pyg(data).sha256 == plain.sha256
    data.x = data.x.to_sparse_coo()
    assert from_pyg(data).sha256 == plain.sha256


def test_a_pyg_object_without_labels_is_refused(data):
    del data.y
    with pytest.raises(UserError, match=r"Data\.y is missing"):
        from_pyg(data)


def test_the_converter_writes_a_graph_that_the_workflow_accepts(data, tmp_path):
    import torch

    torch.save(data, tmp_path / "data.pt")
    assert main(["convert", str(tmp_path / "data.pt"), "--name", "mine", "--out", str(tmp_path / "my.npz")]) == 0
    assert load_graph(tmp_path / "my.npz").sha256 == from_pyg(data).sha256
    assert main(["graph", "mine", "--path", str(tmp_path / "my.npz"), "--out", str(tmp_path / "g.npz")]) == 0
    options = ["--graph", str(tmp_path / "g.npz"), "--name", "fixed", "--out", str(tmp_path / "s.json")]
    assert main(["split", *options]) == 0


def test_the_converter_runs_nothing_that_is_hidden_in_a_file(tmp_path, monkeypatch, capsys):
    import os

    import torch

    class RunsACommand:
        def __reduce__(self):
            return os.system, ("touch it_ran",)

    monkeypatch.chdir(tmp_path)
    torch.save(RunsACommand(), "evil.pt")
    assert main(["convert", "evil.pt", "--out", "my.npz"]) == 2
    assert "evil.pt: not a PyG Data object that can be loaded safely" in capsys.readouterr().err
    assert not (tmp_path / "it_ran").exists()
