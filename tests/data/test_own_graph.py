"""Your own graph: a plain npz or a PyG Data object, and complaints that name the array."""

import numpy as np
import pytest
from scipy import sparse

from cgnn.__main__ import main
from cgnn.datasets.graph import load_graph, save_graph
from cgnn.datasets.own import from_pyg, read_own
from cgnn.datasets.registry import obtain_graph
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


def test_a_plain_npz_becomes_a_canonical_graph(tmp_path):
    graph = read_own("mine", written(tmp_path))
    assert graph.edges.tolist() == [[0, 1, 2], [1, 2, 3]]  # each once; the self-loop of 1 is gone
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


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"edges": None}, "array 'edges' .* is missing; found features, labels"),
        ({"features": None}, "array 'features' .* is missing"),
        ({"labels": np.array([0, 1])}, r"labels are int64 \(2,\), expected 4 integers"),
        ({"labels": np.array([0.0, 1, 1, 1])}, "labels are float64"),
        ({"labels": np.array([0, 1, -7, 1])}, "labels hold -7"),
        ({"edges": PLAIN["edges"].T}, "expected 2×m integers; transpose"),
        ({"edges": np.array([[0], [4]])}, "edges name node 4; nodes are 0 to 3"),
        ({"edges": np.array([[-1], [2]])}, "edges name node -1"),
        ({"features": np.array([[np.nan]] * 4)}, "features hold NaN"),
        ({"features": np.zeros(4)}, "expected n×F numbers"),
        ({"features": np.array([["a"]] * 4)}, "expected n×F numbers"),
        ({"train": np.array([0])}, "the fixed split has only train"),
        (SPLIT | {"test": np.array([9])}, "test names a node outside 0 to 3"),
        (SPLIT | {"test": np.array([2])}, "test holds node 2, whose label is unknown"),
        (SPLIT | {"test": np.array([0])}, "share a node"),
        (SPLIT | {"test": np.array([0.5])}, "expected node indices or 4 booleans"),
    ],
)
def test_a_complaint_names_the_file_and_the_array(tmp_path, changes, complaint):
    with pytest.raises(UserError, match=rf"my\.npz: .*{complaint}"):
        read_own("mine", written(tmp_path, **changes))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match=r"absent\.npz: there is no such file"):
        obtain_graph("mine", path=tmp_path / "absent.npz")


def test_a_saved_graph_can_be_used_as_ones_own(dataset, tmp_path):
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


def test_sparse_features_of_a_pyg_object_stay_what_they_are(data):
    dense = from_pyg(data)
    for layout in ("to_sparse_coo", "to_sparse_csr"):
        data.x = getattr(data.x.to_dense(), layout)()
        assert from_pyg(data).sha256 == dense.sha256


def test_a_column_of_labels_is_flattened_and_missing_masks_mean_no_fixed_split(data):
    data.y = data.y[:, None]
    del data.val_mask, data.train_mask, data.test_mask
    graph = from_pyg(data)
    assert graph.labels.tolist() == [0, 1, -1, 1] and graph.fixed_split is None


def test_a_pyg_object_without_labels_is_refused(data):
    del data.y
    with pytest.raises(UserError, match=r"Data\.y is missing"):
        from_pyg(data)


def test_the_converter_writes_a_graph_that_the_pipeline_takes(data, tmp_path):
    import torch

    torch.save(data, tmp_path / "data.pt")
    assert main(["convert", str(tmp_path / "data.pt"), "--name", "mine", "--out", str(tmp_path / "my.npz")]) == 0
    assert load_graph(tmp_path / "my.npz").sha256 == from_pyg(data).sha256
    assert main(["graph", "mine", "--path", str(tmp_path / "my.npz"), "--out", str(tmp_path / "g.npz")]) == 0
    assert (
        main(["split", "--graph", str(tmp_path / "g.npz"), "--name", "fixed", "--out", str(tmp_path / "s.json")]) == 0
    )


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
