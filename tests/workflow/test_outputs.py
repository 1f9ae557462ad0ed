"""The files that a config produces, without producing them."""

from pathlib import Path

import pytest

from cgnn.errors import UserError
from cgnn.models.registry import MODELS, published
from cgnn.pipeline import plan, resources
from cgnn.pipeline.config import load, overlay
from cgnn.pipeline.outputs import outputs_of


@pytest.fixture(scope="module")
def paper():
    return outputs_of(load())


def test_every_training_of_the_paper_belongs_to_one_stage(paper):
    stages = [planned.stage for planned in paper.trainings.values()]
    assert set(stages) == {"runs", "sweeps", "fidelity"}, "curves and α are recorded by the runs of Table 2"
    assert sum(len(paper.collected[stage]) for stage in set(stages)) == len(stages)


def test_a_variant_that_sets_no_switch_is_trained_once_as_a_run():
    config = load()
    runs = {planned.folder for planned in plan.runs(config)}
    assert "runs/cora/fixed/cgnn/released/published" in runs
    variants = {planned.training.variant for planned in plan.fidelity(config) if planned.training.dataset == "cora"}
    assert "alpha-tabulated" in variants and not variants & {"released", "paper", "weight-released", "discrete-paper"}
    alone = overlay(config, {"experiments": {name: False for name in config["experiments"]}})
    assert "released" in {planned.training.variant for planned in plan.fidelity(alone)}


def test_recorded_curves_are_those_of_table_2_or_trained_for_the_figure():
    config = load()
    assert {planned.stage for planned in plan.recorded(config)} == {"runs"}
    alone = overlay(config, {"experiments": {name: False for name in config["experiments"]}})
    assert {(planned.stage, planned.replicas) for planned in plan.recorded(alone)} == {("curves", 3)}


def test_an_empty_section_and_the_products_that_need_it_are_omitted():
    quiet = outputs_of(overlay(load(), {"sweeps": {"datasets": []}, "curves": {"datasets": []}}))
    assert "sweeps" not in quiet.products and "accuracy_depth_time" not in quiet.figures
    assert "recorded" not in quiet.products and "alpha_degree" not in quiet.figures
    assert "fixed_splits" in quiet.tables


def test_a_users_own_graph_has_no_verdicts_on_the_paper(tmp_path):
    (tmp_path / "my.npz").touch()
    mine = {"mine": {"path": str(tmp_path / "my.npz")}}
    found = outputs_of(overlay(load(["config/own_graph.yaml"]), {"datasets": mine}))
    assert "claims" not in found.products and "claims" not in found.tables and "speed" not in found.tables
    assert not any("/fixed.json" in split for split in found.splits)
    assert "random_splits" in found.tables


def test_only_splits_that_are_used_are_requested(paper):
    names = {Path(split).relative_to("results/paper/splits").as_posix() for split in paper.splits}
    assert {"cora/fixed.json", "cora/random14.json", "cora/pool00.json", "pubmed/component14.json"} <= names
    assert not any("search" in name or "random15" in name for name in names)


def test_a_block_with_settings_of_a_model_trains_the_others_with_its_hyperparameters():
    """All hyperparameters that both models use are equal to those that the paper prints for CGNN."""
    chosen = {planned.folder: planned.training for planned in plan.runs(load())}
    mine = chosen["runs/citeseer/random/cgnn_appnp/released/published/settings_of-cgnn"].hyperparameters()
    cgnn = published("citeseer", "random", "cgnn")
    assert cgnn is not None
    for name in MODELS["cgnn"].hyperparameters:
        assert mine.value(name) == cgnn.value(name), name
    flows = chosen["runs/citeseer/fixed/cgnn/released/published/source_gradient-flows"]
    assert flows.switches == (("source_gradient", "flows"),) and flows.settings == ()


def test_settings_of_a_model_without_published_hyperparameters_are_refused():
    config = load()
    block = {**config["experiments"]["like_for_like"], "settings_of": "cgnn_weight", "models": ["cgnn"]}
    with pytest.raises(UserError, match="settings_of: the paper prints no hyperparameters for cgnn_weight on cora"):
        plan.runs(overlay(config, {"experiments": {"like_for_like": block}}))


def test_every_target_has_files_and_an_unplanned_training_is_refused(paper):
    assert all(paper.targets.values())
    with pytest.raises(UserError, match="the config has no such training"):
        paper.training("runs/cora/fixed/gcm/released/published")


def test_other_rules_of_random_splits_use_the_search_on_random_splits(paper):
    planned = paper.training("runs/cora/pool/cgnn_weight/released/search")
    assert planned.search == plan.Search("cora", "random", "cgnn_weight", "released")
    assert planned.inputs("R", 3, 4)["splits"] == ["R/splits/cora/pool03.json", "R/splits/cora/pool04.json"]


def test_resources_grow_with_the_attempt_and_a_gpu_is_requested_only_if_there_may_be_one():
    assert resources.memory_mb("cora", 2, gpu=False) == 2 * resources.memory_mb("cora", 1, gpu=False)
    assert resources.runtime_minutes("pubmed", 3) == 3 * resources.runtime_minutes("pubmed", 1)
    jobs = {"gpu_request": "auto", "device": "auto", "gpu_partition": "big"}
    assert (resources.gpu_request(jobs, 0), resources.gpu_request(jobs, 2)) == ("none", "gpu")
    assert resources.gpu_resources({**jobs, "gpu_request": "gres"}) == {"gres": "gpu:1", "slurm_partition": "big"}
    assert resources.gpu_resources({**jobs, "gpu_request": "none"}) == {}
