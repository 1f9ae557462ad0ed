"""Which jobs a change reruns, tested by dry runs on a finished tree."""

import os
import shutil
import subprocess

import pytest

from .conftest import make_project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RUNS = "runs/synthetic"
PUBLISHED = "synthetic/fixed/cgnn/released/published"
#: The jobs that run again if rows of the tables change.
AFTER_RUNS = {
    "collect_rows": {"runs.csv", "seconds.csv"},
    "summarise_runs": {"summary.csv"},
    "judge_claims": {"claims.json"},
    "compile_paper": {"paper.pdf"},
    "write_scorecard": {"index.html"},
}
#: Products that read runs.csv or the claims.
TABLES_OF_RUNS = {
    *("fixed_splits", "random_splits", "split_rules", "propagation", "fidelity"),
    *("hyperparameters", "gcn_residual", "claims"),
}


def tables(*names):
    return {f"tables/{name}.csv" for name in names}


def figures(*names):
    return {f"figures/{name}.svg" for name in names}


def test_a_finished_run_has_nothing_to_do(finished):
    assert finished.planned() == {}


def test_a_run_continues_in_another_checkout_with_the_files_that_the_documentation_names(finished, tmp_path):
    (finished.path / f"results/tiny/{RUNS}/fixed/gcn/released/search/0-1.csv").unlink()
    subprocess.run(
        ["tar", "czf", "run.tar.gz", "--exclude=logs", "--exclude=.code", "results/tiny", ".snakemake/metadata"],
        cwd=finished.path,
        check=True,
    )
    other = make_project(tmp_path / "another machine")
    # The finished tree's entry file has a recorder, which is part of its fingerprints.
    shutil.copy(finished.path / "cgnn/__main__.py", other.path / "cgnn/__main__.py")
    subprocess.run(["tar", "xzf", finished.path / "run.tar.gz"], cwd=other.path, check=True)
    assert other.planned() == finished.planned()
    assert other.planned()["train"] == {f"{RUNS}/fixed/gcn/released/search/0-1.csv"}


def test_editing_a_comment_or_a_docstring_anywhere_reruns_nothing(finished):
    for path in (finished.path / "cgnn").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        text = text.replace('"""', '"""Remark: ', 1) if text.startswith('"""') else text
        path.write_text(text + "\n# A remark.\n", encoding="utf-8")
    assert finished.planned() == {}


def test_touching_files_without_changing_them_reruns_nothing(finished):
    for folder in ("results", "cgnn", "paper", "workflow"):
        for path in (finished.path / folder).rglob("*"):
            if path.is_file() and path.suffix in (".npz", ".json", ".csv", ".yaml", ".py", ".smk", ".typ"):
                os.utime(path)
    assert finished.planned() == {}


def test_editing_the_style_redraws_only_figures_and_the_paper(finished):
    finished.append("cgnn/render/style.py", "\nADDED = 1\n")
    planned = finished.planned()
    assert set(planned) == {"draw_figure", "compile_paper", "write_scorecard"}
    drawn = {path.stem for path in (finished.path / "results/tiny/figures").glob("*.svg")}
    assert planned["draw_figure"] == figures(*drawn)


def test_editing_one_figure_redraws_that_figure(finished):
    finished.append("cgnn/render/figures/architecture.py", "\nADDED = 1\n")
    assert finished.planned("figures") == {"draw_figure": figures("architecture")}


def test_deleting_one_figure_redraws_that_figure(finished):
    (finished.path / "results/tiny/figures/memory_depth_time.pdf").unlink()
    assert finished.planned("figures") == {"draw_figure": figures("memory_depth_time")}
    assert set(finished.planned()) == {"draw_figure", "compile_paper", "write_scorecard"}


def test_editing_the_exact_solver_reruns_cgnn_and_no_baseline(finished):
    finished.append("cgnn/dynamics/chebyshev.py", "\nADDED = 1\n")
    planned = finished.planned()
    assert planned["search_hyperparameters"] == {"search/synthetic/fixed/cgnn/released/trials.csv"}
    assert planned["train"] == {
        f"{RUNS}/fixed/cgnn/released/search/0-1.csv",
        f"{RUNS}/random/cgnn/released/published/0-1.csv",
        "sweeps/synthetic/fixed/cgnn/released/published/t1-1/0-0.csv",
        *(f"fidelity/{PUBLISHED}/{name}/0-1.csv" for name in ("released", "alpha-tabulated")),
        f"curves/{PUBLISHED}/0-0.csv",
    }
    assert planned["measure_profile"] == {"profiles/synthetic/cgnn_exact/1.json"}
    rows = ("runs", "sweeps", "fidelity", "profiles", "trials", "seconds")
    assert planned["collect_rows"] == {*(f"{name}.csv" for name in rows), "recorded.npz"}
    assert not set(planned) & {"fetch_dataset", "assemble_graph", "make_split"}
    assert "tables/datasets.csv" not in planned["build_table"]


def test_editing_a_baseline_reruns_that_baseline(finished):
    finished.append("cgnn/models/gcn.py", "\nADDED = 1\n")
    planned = finished.planned()
    assert planned["search_hyperparameters"] == {"search/synthetic/fixed/gcn/released/trials.csv"}
    assert planned["train"] == {
        f"{RUNS}/fixed/gcn/released/search/0-1.csv",
        "sweeps/synthetic/fixed/gcn/released/published/layers-2/0-0.csv",
    }
    assert planned["measure_profile"] == {"profiles/synthetic/gcn/2.json"}
    assert "assemble_graph" not in planned


def test_changing_a_search_space_reruns_the_searches_and_trainings_of_its_model(finished):
    finished.configure(search__spaces__gcn__lr="loguniform(1e-3, 2e-2)")
    planned = finished.planned()
    assert planned["search_hyperparameters"] == {"search/synthetic/fixed/gcn/released/trials.csv"}
    assert planned["train"] == {f"{RUNS}/fixed/gcn/released/search/0-1.csv"}
    assert planned["collect_rows"] == {"runs.csv", "trials.csv", "seconds.csv"}
    assert not set(planned) & {"measure_profile", "assemble_graph"}


@pytest.mark.parametrize("key", ["epochs", "warmup"])
def test_changing_the_number_of_measured_epochs_reruns_the_profile_of_that_method(finished, key):
    finished.configure(**{f"profiles__methods__cgnn_exact__{key}": 2})
    assert finished.planned("profiles") == {"measure_profile": {"profiles/synthetic/cgnn_exact/1.json"}}


def test_an_additional_seed_computes_that_seed_and_the_aggregates(finished):
    finished.configure(protocol__seeds=3)
    planned = finished.planned()
    assert planned.pop("train") == {f"{RUNS}/fixed/{model}/released/search/2-2.csv" for model in ("gcn", "cgnn")}
    assert planned.pop("build_table") == tables(*TABLES_OF_RUNS)
    assert planned.pop("draw_figure") == figures("speed_accuracy", "forest", "forest_compact")
    assert planned == AFTER_RUNS


def test_an_additional_depth_computes_that_depth_and_the_aggregates(finished):
    finished.configure(sweeps__layers__values=[2, 3])
    planned = finished.planned()
    assert planned.pop("train") == {"sweeps/synthetic/fixed/gcn/released/published/layers-3/0-0.csv"}
    assert planned.pop("collect_rows") == {"sweeps.csv", "seconds.csv"}
    assert not set(planned) & {"search_hyperparameters", "summarise_runs", "assemble_graph", "make_split"}


def test_an_additional_dataset_computes_that_dataset_and_the_aggregates(finished):
    shutil.copy(finished.path / "results/tiny/data/synthetic/graph.npz", finished.path / "mine.npz")
    finished.configure(datasets__mine={"path": "mine.npz"})
    planned = finished.planned()
    assert planned["assemble_graph"] == {"data/mine/graph.npz"}
    assert planned["make_split"] == {f"splits/mine/{name}.json" for name in ("fixed", "random00", "random01")}
    assert planned["search_hyperparameters"] == {
        f"search/mine/fixed/{model}/released/trials.csv" for model in ("gcn", "cgnn")
    }
    assert planned["train"] == {
        *(f"runs/mine/fixed/{model}/released/search/0-1.csv" for model in ("gcn", "cgnn")),
        "runs/mine/random/cgnn/released/published/0-1.csv",
    }
    assert planned["collect_rows"] == {"runs.csv", "trials.csv", "seconds.csv"}
    assert "measure_profile" not in planned


@pytest.mark.parametrize("size", [1, 7])
def test_another_number_of_replicas_per_job_recomputes_nothing(finished, size):
    finished.configure(jobs__replicas_per_job=size)
    assert finished.planned() == {}


def test_other_cores_threads_or_memory_requests_recompute_nothing(finished):
    finished.configure(jobs__threads=2, jobs__search_workers=2, jobs__gpu_request="gres", jobs__gpu_partition="big")
    assert finished.planned() == {}


def test_a_corrected_published_hyperparameter_reruns_the_trainings_that_use_it(finished):
    path = finished.path / "paper/reported.yaml"
    text = path.read_text(encoding="utf-8")
    # A synthetic graph uses Cora's values; this one is for CGNN on random splits.
    assert "lr: 1.47e-3" in text
    path.write_text(text.replace("lr: 1.47e-3", "lr: 1.48e-3"), encoding="utf-8")
    assert finished.planned("runs") == {"train": {f"{RUNS}/random/cgnn/released/published/0-1.csv"}}
