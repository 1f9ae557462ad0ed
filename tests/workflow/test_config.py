"""A wrong config is refused before any job, with the key, the value and what is allowed."""

import hashlib
import re

import numpy as np
import pytest

from cgnn.errors import UserError
from cgnn.pipeline.config import PROJECT, active, active_datasets, check_files, load, overlay, read_yaml, validate
from cgnn.pipeline.data import graph_arguments, has_fixed_split, own_graph_digest, split_arguments
from cgnn.pipeline.plan import fidelity, profiles, runs, searches, sweeps

OVERLAYS = ("quick", "nell_partial")


def complaint(**changes) -> str:
    with pytest.raises(UserError) as caught:
        validate(overlay(load(), changes))
    return str(caught.value)


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_configs_of_the_project_are_valid(name):
    validate(load())
    validate(load([f"config/{name}.yaml"]))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"datasets": {"coraa": True}}, ["datasets.coraa", "True", "did you mean cora?", "pubmed"]),
        ({"protocol": {"seeds": -1}}, ["protocol.seeds", "-1", "at least 1"]),
        ({"protocol": {"epochs": "many"}}, ["protocol.epochs", "'many'", "a whole number"]),
        ({"protocl": {"seeds": 3}}, ["protocl", "did you mean protocol?"]),
        ({"jobs": {"replica_per_job": 3}}, ["jobs.replica_per_job", "3", "did you mean replicas_per_job?"]),
        ({"jobs": {"device": "gpu"}}, ["jobs.device", "'gpu'", "cuda"]),
        ({"experiments": {"main": {"models": ["cgn"]}}}, ["experiments.main.models", "'cgn'", "did you mean cgnn?"]),
        ({"experiments": {"main": {"preset": "relesed"}}}, ["experiments.main.preset", "did you mean released?"]),
        ({"experiments": {"main": {"hyperparameters": "serch"}}}, ["main.hyperparameters", "did you mean search?"]),
        (
            {"experiments": {"like_for_like": {"settings_of": "cgn"}}},
            ["like_for_like.settings_of", "did you mean cgnn?"],
        ),
        (
            {"experiments": {"like_for_like": {"hyperparameters": "search"}}},
            ["like_for_like.settings_of: needs `hyperparameters: published`, found search"],
        ),
        (
            {"experiments": {"like_for_like_flows": {"models": ["cgnn_appnp"]}}},
            ["like_for_like_flows.switches", "cgnn_appnp does not use it"],
        ),
        ({"experiments": {"main": {"datasets": ["pubmd"]}}}, ["experiments.main.datasets", "did you mean pubmed?"]),
        ({"search": {"spaces": {"gcn": {"l_r": "uniform(0, 1)"}}}}, ["search.spaces.gcn", "'l_r'", "did you mean lr?"]),
        (
            {"search": {"spaces": {"gcn": {"lr": "unifrm(0, 1)"}}}},
            ["search.spaces.gcn.lr", "'unifrm(0, 1)'", "uniform"],
        ),
        ({"search": {"trials": 0}}, ["search.trials", "0", "at least 1"]),
        (
            {"sweeps": {"layers": {"models": ["cgnn"]}}},
            ["sweeps.layers.models", "cgnn can be swept over t1, not over layers"],
        ),
        ({"sweeps": {"datasets": ["pubmet"]}}, ["sweeps.datasets", "did you mean pubmed?"]),
        (
            {"fidelity": {"variants": {"paper": {"switches": {"alpha": "tabled"}}}}},
            ["variants.paper.switches", "tabulated"],
        ),
        (
            {"fidelity": {"variants": {"paper": {"datasets": ["pubmd"]}}}},
            ["fidelity.variants.paper.datasets", "did you mean pubmed?"],
        ),
        ({"profiles": {"methods": {"cgnn_exakt": {}}}}, ["profiles.methods.cgnn_exakt"]),
        ({"datasets": {"mine": {"pth": "a.npz"}}}, ["datasets.mine.pth", "did you mean path?"]),
        ({"datasets": {"cora": {"path": "my.npz"}}}, ["datasets.cora", "cannot be redefined", "my_cora"]),
        ({"datasets": {"synthetic": {"path": "my.npz"}}}, ["datasets.synthetic", "cannot be redefined"]),
        ({"datasets": {"cora": {"nodes": 40}}}, ["datasets.cora", "a generated graph is called synthetic"]),
        ({"results": "results/{mine}"}, ["results", "{mine}", "without them"]),
        ({"datasets": {"mine": {"path": ""}}}, ["datasets.mine.path", "not empty"]),
        ({"datasets": {"mine": {"path": 3}}}, ["datasets.mine.path", "3", "text"]),
        ({"datasets": {"mine": 3}}, ["datasets.mine", "3", "true, false or a mapping"]),
        (
            {"datasets": {"mine": {"path": "no/such.npz"}}},
            ["datasets.mine.path", "no/such.npz", "there is no such file"],
        ),
        (
            {"datasets": {"mine": {"path": "a.npz", "features": "row"}}},
            ["datasets.mine.features", "did you mean rows?"],
        ),
        ({"protocol": {"split_sizes": {"cora": {"test": 1.5}}}}, ["protocol.split_sizes.cora.test", "1.5", "fraction"]),
        ({"protocol": {"split_sizes": {"cora": {"test": 0}}}}, ["protocol.split_sizes.cora.test", "more than 0"]),
        ({"search": {"spaces": {"gcn": {"lr": "loguniform(1e-3)"}}}}, ["search.spaces.gcn.lr", "loguniform(1e-3)"]),
        ({"search": {"spaces": {"gcn": {"lr": "uniform(2, 1)"}}}}, ["search.spaces.gcn.lr", "uniform(2, 1)"]),
        ({"datasets": {"cora": False, "citeseer": False, "pubmed": False}}, ["datasets", "switched off"]),
    ],
)
def test_the_error_names_a_wrong_value_and_what_is_allowed(changes, expected):
    text = complaint(**changes)
    for words in expected:
        assert words in text, text


@pytest.mark.parametrize(
    ("changes", "wrong", "meant", "right"),
    [
        ({"datasets": {"synthetic": {"nodes": 40, "classez": 4}}}, "synthetic.classez:", "classes", "nodes"),
        ({"datasets": {"mine": {"path": "a.npz", "feature": "rows"}}}, "mine.feature:", "features", "path"),
        ({"experiments": {"main": {"model": ["gcn"]}}}, "main.model: unknown key", "models", "main.models|main.preset"),
        ({"profiles": {"methods": {"gcn": {"epoch": 3, "warmup": 1}}}}, "gcn.epoch:", "epochs", "gcn.warmup"),
        ({"jobs": {"thread": 3, "threads": 1}}, "jobs.thread:", "threads", "jobs.threads"),
    ],
)
def test_the_error_names_only_the_misspelt_key(changes, wrong, meant, right):
    (line,) = complaint(**changes).splitlines()[1:]
    assert re.search(rf"{wrong} .* did you mean {meant}\?", line), line
    assert not re.match(rf"\s*\S*({right}):", line), line


def written(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("protocol:\n  seeds: 1\n  epochs: 3\n  seeds: 2\n", r"line 4: .*'seeds' occurs twice, first in line 2"),
        ("results: a\ncache: b\nresults: c\n", r"line 3: .*'results' occurs twice, first in line 1"),
        ("datasets: {cora: true, cora: false}\n", r"line 1: .*'cora' occurs twice"),
        ("results: a\nsearch: {trials: 3\nresidual: 4\n", r"line 3: not valid YAML"),
        ("results: a\n\tcache: b\n", r"line 2: not valid YAML: .*'\\t'"),
        ("? [a, b]\n: 3\n", r"line 1: not valid YAML: found unhashable key"),
        ("- a\n- b\n", r"found a list, expected a mapping"),
        ("results: !!python/object/apply:os.system ['touch it_ran']\n", r"line 1: not valid YAML"),
        (
            "__use_yte__: true\nresults: ?__import__('os').system('touch it_ran')\n",
            "`__use_yte__` makes a config run code",
        ),
        ("experiments: {paper: false}\n", r"experiments\.paper: `false` switches off .* no such entry; .*main"),
        ("fidelity: {variants: {papers: false}}\n", r"fidelity\.variants\.papers: .* did you mean paper\?"),
        ("profiles: {methods: {cgnn_exakt: false}}\n", r"profiles\.methods\.cgnn_exakt: .* did you mean cgnn_exact\?"),
    ],
)
def test_the_error_for_a_syntax_mistake_names_file_and_line(tmp_path, monkeypatch, text, expected):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, "mine.yaml", text)
    for read in (lambda: load([path]), lambda: check_files([path, PROJECT / "config.yaml"])):
        with pytest.raises(UserError, match=rf"(?s)mine\.yaml.*({expected})"):
            read()
    assert not (tmp_path / "it_ran").exists()


def test_the_error_names_an_overlay_that_is_missing_or_not_text(tmp_path):
    with pytest.raises(UserError, match=r"absent\.yaml: there is no such config file"):
        load([tmp_path / "absent.yaml"])
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=r"binary\.yaml: cannot be read"):
        load([tmp_path / "binary.yaml"])


def test_an_overlay_can_switch_off_an_entry_of_an_earlier_one(tmp_path):
    block = "{preset: released, hyperparameters: published, splits: [fixed], models: [gcn]}"
    first = written(tmp_path, "first.yaml", f"experiments: {{mine: {block}}}\n")
    second = written(tmp_path, "second.yaml", "experiments: {mine: false, main: false}\n")
    config = load([first, second])
    validate(config)
    assert config["experiments"]["mine"] is False


def test_anchors_and_merge_keys_are_not_duplicates(tmp_path):
    path = written(tmp_path, "a.yaml", "search:\n  spaces:\n    a: &x {lr: '1'}\n    b: {<<: *x, lr: '2'}\n")
    assert read_yaml(path) == {"search": {"spaces": {"a": {"lr": "1"}, "b": {"lr": "2"}}}}


def test_overlays_are_merged_as_in_snakemake():
    assert overlay({"a": {"b": 1, "c": [1]}, "d": False}, {"a": {"c": [2]}, "d": {"e": 1}}) == {
        "a": {"b": 1, "c": [2]},
        "d": {"e": 1},
    }


@pytest.fixture
def own_graph(tmp_path):
    """An npz without a fixed split, and one with it."""
    arrays = {"features": np.eye(4), "edges": np.array([[0, 1, 2], [1, 2, 3]]), "labels": np.array([0, 1, 0, 1])}
    np.savez(tmp_path / "plain.npz", **arrays)
    np.savez(tmp_path / "split.npz", **arrays, train=np.array([0]), validation=np.array([1]), test=np.array([2]))
    return tmp_path


def test_a_graph_without_a_fixed_split_is_refused_if_one_is_needed(own_graph):
    mine = {name: {"path": str(own_graph / f"{name}.npz")} for name in ("plain", "split")}
    config = overlay(load(), {"datasets": mine})
    validate(config)
    assert [has_fixed_split(config, name) for name in ("cora", "plain", "split")] == [True, False, True]
    for section in ("sweeps", "fidelity", "curves"):
        asked = overlay(config, {section: {"datasets": ["plain", "split"]}})
        with pytest.raises(UserError, match=rf"{section}\.datasets: plain has no fixed split") as caught:
            validate(asked)
        assert "split has no" not in str(caught.value)
        validate(asked, files=False)
    with pytest.raises(UserError, match=r"experiments\.published\.datasets: plain has no fixed split"):
        validate(overlay(config, {"experiments": {"published": {"datasets": ["plain"]}}}))


def test_the_config_for_a_users_own_graph_needs_only_a_path(own_graph):
    config = load([PROJECT / "config" / "own_graph.yaml"])
    with pytest.raises(UserError, match=r"datasets\.mine\.path: found 'my\.npz'; there is no such file"):
        validate(config)
    config = overlay(config, {"datasets": {"mine": {"path": str(own_graph / "plain.npz")}}})
    validate(config)
    assert active_datasets(config) == ["mine"]
    # Every section except experiments is empty.
    for section in ("sweeps", "profiles", "fidelity", "curves"):
        assert config[section]["datasets"] == []
    assert [block["splits"] for block in active(config["experiments"]).values()] == [["random"]]
    assert config["residual"]["layers"] == []


def test_the_digest_of_a_graph_is_the_hash_of_its_content(own_graph):
    path = own_graph / "plain.npz"
    assert own_graph_digest(str(path)) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert own_graph_digest(None) == ""
    with pytest.raises(UserError, match=r"absent\.npz: cannot be read"):
        own_graph_digest(str(own_graph / "absent.npz"))


def test_the_settings_of_a_dataset_are_passed_to_the_commands():
    config = overlay(
        load(),
        {
            "datasets": {"mine": {"path": "a b.npz", "features": "rows"}, "synthetic": {"nodes": 40}},
            "protocol": {"split_sizes": {"mine": {"per_class": 0.1, "test": 7}}},
        },
    )
    assert graph_arguments(config, "mine") == ["--path", "a b.npz", "--features", "rows"]
    assert graph_arguments(config, "synthetic") == ["--parameters", '{"nodes": 40}']
    assert graph_arguments(config, "cora") == []
    sizes = ["--validation", "500", "--test", "7", "--per-class", "0.1"]
    assert split_arguments(config, "mine", "random00") == split_arguments(config, "mine", "search00") == sizes
    assert split_arguments(config, "mine", "fixed") == split_arguments(config, "mine", "pool00") == []


def test_all_problems_are_reported_at_once():
    text = complaint(protocol={"seeds": 0, "epochs": 0}, search={"trials": 0})
    assert all(key in text for key in ("protocol.seeds", "protocol.epochs", "search.trials"))


def test_the_default_config_contains_the_tables_of_the_paper():
    config = load()
    wanted = {
        (t.dataset, t.split_kind, t.model, t.hyperparameter_source, t.preset): run.replicas
        for run in runs(config)
        for t in [run.training]
    }
    for dataset in ("cora", "citeseer", "pubmed"):
        for model in ("gcn", "gat", "cgnn_discrete", "cgnn", "cgnn_weight"):
            assert wanted[dataset, "fixed", model, "search", "released"] == 10
            assert wanted[dataset, "random", model, "search", "released"] == 15
    assert config["search"]["trials"] == 50
    layers = {run.training.settings for run in runs(config) if run.training.model == "gcn_residual"}
    assert layers == {(("layers", n),) for n in ("2", "4", "8", "16")}
    assert (
        {point.training.dataset for point in sweeps(config)}
        == {point.dataset for point in profiles(config)}
        == {"cora", "pubmed"}
    )
    assert {variant.training.dataset for variant in fidelity(config)} == {"cora", "citeseer", "pubmed"}
    assert all(variant.replicas >= 10 for variant in fidelity(config))


def test_a_switch_can_be_restricted_to_some_datasets():
    config = overlay(load([]), {"fidelity": {"variants": {"alpha-tabulated": {"datasets": ["cora"]}}}})
    found = {(item.training.variant, item.training.dataset) for item in fidelity(config)}
    assert {dataset for variant, dataset in found if variant == "alpha-tabulated"} == {"cora"}
    assert {dataset for variant, dataset in found if variant == "derivative-paper"} == {"cora", "citeseer", "pubmed"}


@pytest.mark.parametrize("name", [None, *OVERLAYS])
def test_no_two_jobs_of_a_config_write_the_same_file(name):
    config = load([f"config/{name}.yaml"] if name else [])
    folders = [t.folder for kind in (runs, sweeps, fidelity) for t in kind(config)]
    folders += [search.folder for search in searches(config)] + [point.file for point in profiles(config)]
    assert len(folders) == len(set(folders))


def test_hyperparameters_are_searched_if_the_paper_prints_none():
    off = dict.fromkeys(("main", "gode_search"), False)
    config = overlay(load(), {"experiments": off})
    assert {(search.split_kind, search.model) for search in searches(config)} == {("random", "cgnn_weight")}


@pytest.mark.slow
def test_a_misspelt_key_stops_snakemake_before_any_job(project):
    project.configure(jobs__replica_per_job=3)
    done = project.snakemake()
    assert done.returncode != 0
    assert "jobs.replica_per_job" in done.stdout and "did you mean replicas_per_job?" in done.stdout
    assert not (project.path / "results").exists()
