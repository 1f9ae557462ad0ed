"""A wrong config is refused before any job, by key, value and what is allowed."""

import pytest

from cgnn.errors import UserError
from cgnn.pipeline.config import load, overlay, validate
from cgnn.pipeline.plan import curves, fidelity, profiles, runs, searches, sweeps

OVERLAYS = ("quick", "nell_partial")


def complaint(**changes) -> str:
    with pytest.raises(UserError) as caught:
        validate(overlay(load(), changes))
    return str(caught.value)


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_configs_that_come_with_the_project_are_good(name):
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
        ({"experiments": {"main": {"datasets": ["pubmd"]}}}, ["experiments.main.datasets", "did you mean pubmed?"]),
        ({"search": {"spaces": {"gcn": {"l_r": "uniform(0, 1)"}}}}, ["search.spaces.gcn", "'l_r'", "did you mean lr?"]),
        (
            {"search": {"spaces": {"gcn": {"lr": "unifrm(0, 1)"}}}},
            ["search.spaces.gcn.lr", "'unifrm(0, 1)'", "uniform"],
        ),
        ({"search": {"trials": 0}}, ["search.trials", "0", "at least 1"]),
        ({"sweeps": {"layers": {"models": ["cgnn"]}}}, ["sweeps.layers.models", "cgnn has t1, not layers"]),
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
        ({"datasets": {"cora": False, "citeseer": False, "pubmed": False}}, ["datasets", "switched off"]),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(changes, expected):
    text = complaint(**changes)
    for words in expected:
        assert words in text, text


def test_every_problem_is_told_at_once():
    text = complaint(protocol={"seeds": 0, "epochs": 0}, search={"trials": 0})
    assert all(key in text for key in ("protocol.seeds", "protocol.epochs", "search.trials"))


def test_the_full_config_states_the_tables_of_the_paper():
    config = load()
    wanted = {(run.dataset, run.split_kind, run.model, run.source, run.preset): run.replicas for run in runs(config)}
    for dataset in ("cora", "citeseer", "pubmed"):
        for model in ("gcn", "gat", "cgnn_discrete", "cgnn", "cgnn_weight"):
            assert wanted[dataset, "fixed", model, "search", "released"] == 10
            assert wanted[dataset, "random", model, "search", "released"] == 15
    assert config["search"]["trials"] == 50
    layers = {run.settings for run in runs(config) if run.model == "gcn_residual"}
    assert layers == {(("layers", n),) for n in (2, 4, 8, 16)}
    assert (
        {point.dataset for point in sweeps(config)}
        == {point.dataset for point in profiles(config)}
        == {"cora", "pubmed"}
    )
    assert {variant.dataset for variant in fidelity(config)} == {"cora", "citeseer", "pubmed"}
    assert all(variant.replicas >= 10 for variant in fidelity(config))


def test_a_switch_may_be_tried_on_some_datasets_only():
    config = overlay(load([]), {"fidelity": {"variants": {"paper": {"datasets": ["cora"]}}}})
    assert [item.dataset for item in fidelity(config) if item.variant == "paper"] == ["cora"]
    assert {item.dataset for item in fidelity(config) if item.variant == "released"} == {"cora", "citeseer", "pubmed"}


@pytest.mark.parametrize("name", [None, *OVERLAYS])
def test_no_two_jobs_of_a_config_write_the_same_file(name):
    config = load([f"config/{name}.yaml"] if name else [])
    folders = [t.folder for kind in (runs, sweeps, fidelity, curves) for t in kind(config)]
    folders += [search.folder for search in searches(config)] + [point.file for point in profiles(config)]
    assert len(folders) == len(set(folders))


def test_published_hyperparameters_fall_back_to_a_search_where_the_paper_prints_none():
    off = dict.fromkeys(("main", "gode_search", "gode_pubmed"), False)
    config = overlay(load(), {"experiments": off})
    assert {(search.split_kind, search.model) for search in searches(config)} == {("random", "cgnn_weight")}


@pytest.mark.slow
def test_a_misspelt_key_stops_snakemake_before_any_job(project):
    project.configure(jobs__replica_per_job=3)
    done = project.snakemake()
    assert done.returncode != 0
    assert "jobs.replica_per_job" in done.stdout and "did you mean replicas_per_job?" in done.stdout
    assert not (project.path / "results").exists()
