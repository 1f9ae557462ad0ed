"""The commands fetch, graph and split, as a rule of the workflow or a user calls them."""

import json

import numpy as np
import pytest

from cgnn.__main__ import main
from cgnn.datasets.graph import load_graph
from cgnn.datasets.registry import DATASETS, lookup, modules_of
from cgnn.datasets.splits import load_split
from cgnn.errors import UserError
from cgnn.pipeline.fingerprint import import_closure


def test_fetch_writes_a_manifest_with_files_checksums_and_sources(mirror, tmp_path, capsys):
    manifest = tmp_path / "raw.json"
    options = ["--cache", str(tmp_path / "c"), "--mirror", str(mirror), "--manifest", str(manifest)]
    assert main(["fetch", "cora", *options]) == 0
    content = json.loads(manifest.read_text())
    assert content["dataset"] == "cora" and len(content["files"]) == 8
    assert {entry["source"] for entry in content["files"]} == {f"mirror {mirror}"}
    assert all(len(entry["sha256"]) == 64 and entry["bytes"] > 0 for entry in content["files"])
    assert "cora: 8 files verified" in capsys.readouterr().out


def test_fetch_accepts_several_datasets(mirror, tmp_path, capsys):
    assert main(["fetch", "cora", "citeseer", "synthetic", "--cache", str(tmp_path), "--mirror", str(mirror)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_error_for_a_misspelt_dataset_suggests_the_closest_name(tmp_path, capsys):
    assert main(["fetch", "citeser", "--cache", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "dataset 'citeser' is unknown" in told and "Did you mean citeseer?" in told and "Traceback" not in told


def test_a_split_can_be_made_for_a_graph_file(graph_file, tmp_path):
    path = graph_file("cora")
    assert main(["split", "--graph", str(path), "--name", "random03", "--out", str(tmp_path / "s.json")]) == 0
    split, graph = load_split(tmp_path / "s.json", graph_sha256=load_graph(path).sha256), load_graph(path)
    assert split.name == "random03"
    assert np.bincount(graph.labels[split.train]).tolist() == [20] * 7


def test_nell_has_one_training_node_per_class_by_default(graph_file, tmp_path):
    options = ["--name", "random00", "--out", str(tmp_path / "s.json")]
    command = ["split", "--graph", str(graph_file("nell_partial")), *options]
    assert main(command) == 0
    assert len(load_split(tmp_path / "s.json").train) == 105
    assert main([*command, "--per-class", "0"]) == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--name", "randm00"], "expected fixed, or a rule and a number"),
        (["--name", "fixed"], "has no fixed split"),
        (["--name", "pool00"], "has no fixed split"),
        (["--name", "random00", "--validation", "-5"], "validation is -5"),
        (["--name", "random00", "--per-class", "5"], "protocol.split_sizes.mine"),
    ],
)
def test_the_error_says_why_a_split_cannot_be_made(tmp_path, capsys, arguments, complaint):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "my.npz", features=rng.random((50, 3)), edges=np.array([[0], [1]]), labels=np.arange(50) % 2)
    assert main(["graph", "mine", "--path", str(tmp_path / "my.npz"), "--out", str(tmp_path / "g.npz")]) == 0
    assert main(["split", "--graph", str(tmp_path / "g.npz"), "--out", str(tmp_path / "s.json"), *arguments]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "s.json").exists()


def test_the_name_of_a_split_selects_the_rule_and_sizes_may_be_fractions(graph_file, tmp_path, capsys):
    for name, expected in (("pool01", "140 train, 500"), ("component01", "140 train, 500"), ("search01", "140 train")):
        path = graph_file("cora")
        assert main(["split", "--graph", str(path), "--name", name, "--out", str(tmp_path / f"{name}.json")]) == 0
        assert f"cora {name}: {expected}" in capsys.readouterr().out
    sizes = ["--per-class", "0.5", "--validation", "0.25", "--test", "0.25"]
    assert main(["split", "--graph", str(path), "--name", "random00", *sizes, "--out", str(tmp_path / "s.json")]) == 0
    assert "1353 train, 677 validation, 677 test" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{", "[1]", '{"nodez": 3}'])
def test_bad_synthetic_parameters_are_refused(tmp_path, text):
    assert main(["graph", "synthetic", "--parameters", text, "--out", str(tmp_path / "g.npz")]) == 2


def test_commands_that_only_read_or_write_data_do_not_import_torch(modules_after):
    imported = modules_after("from cgnn.cli import fetch, graph, split, table, convert")
    assert not imported & {"torch", "pandas", "requests"}


def test_assembling_a_graph_does_not_depend_on_the_network_code():
    for name in DATASETS:
        closure = import_closure("cgnn.cli.graph", *modules_of(name))
        assert "cgnn.datasets.network" not in closure
        assert ("cgnn.datasets.synthetic" in closure) == (name == "synthetic")
    assert "cgnn.datasets.network" in import_closure("cgnn.cli.fetch")


def test_any_name_with_a_path_is_a_users_own_graph():
    assert lookup("anything", path="my.npz").kind == "own"
    with pytest.raises(UserError, match="your own with --path"):
        lookup("anything")
