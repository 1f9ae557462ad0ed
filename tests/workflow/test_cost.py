"""The cost of finished work is its measured time, that of missing work is estimated; unknown times are reported."""

from pathlib import Path

import pytest

from cgnn.pipeline.config import load, overlay
from cgnn.pipeline.cost import measured_speeds, pieces, summary, time_left
from cgnn.results.schema import SECONDS_COLUMNS

HEADER = ",".join(SECONDS_COLUMNS)


@pytest.fixture
def config(tmp_path: Path) -> dict:
    paper = load([])
    off = {name: False for name in paper["experiments"]}
    wanted = {"published": {"models": ["gcn"], "splits": ["fixed"], "datasets": ["cora", "citeseer"]}}
    return overlay(
        paper,
        {
            "results": str(tmp_path),
            "protocol": {"seeds": 4, "epochs": 100},
            "experiments": off | wanted,
            "residual": {
                **{"models": {"gcn_residual_plain": False}, "layers": [4], "datasets": ["cora"]},
                **{"seeds": 2, "random_splits": 1, "epochs": 50},
            },
            "sweeps": {"datasets": []},
            "fidelity": {"datasets": []},
            "curves": {"datasets": []},
            "jobs": {"replicas_per_job": 2},
        },
    )


def write_times(folder: Path, name: str, model: str, variant: str, seconds: list[tuple[float, float]]) -> None:
    """Write a job's rows, which are not read here, and its file of seconds and seconds per epoch."""
    folder.mkdir(parents=True)
    (folder / f"{name}.csv").write_text("rows\n")
    rows = [
        f"cora,fixed,{model},released,published,{variant},{i},fixed,{each},{epoch}"
        for i, (each, epoch) in enumerate(seconds)
    ]
    (folder / f"{name}.seconds.csv").write_text("\n".join([HEADER, *rows]) + "\n")


def test_measured_and_expected_seconds_add_up(config: dict, tmp_path: Path) -> None:
    write_times(tmp_path / "runs/cora/fixed/gcn/released/published", "0-1", "gcn", "", [(2.0, 0.02), (3.0, 0.02)])
    found = list(pieces(config, published=tmp_path / "none.csv"))
    gcn, *_ = (piece for piece in found if (piece.stage, piece.dataset) == ("runs", "cora"))
    assert (gcn.epochs, gcn.measured, gcn.missing_epochs) == (400, 5.0, 200)
    assert gcn.expected == pytest.approx(200 * 0.02)
    citeseer = next(piece for piece in found if (piece.stage, piece.dataset) == ("runs", "citeseer"))
    assert citeseer.expected is None and citeseer.missing_epochs == 400
    text = summary(found, cores=2)
    assert "not included: 550 epochs" in text  # Citeseer's, and the residual GCN's 3 × 50
    assert "0.0 core-hours in total" in text
    assert time_left(found, cores=2).startswith("4 trainings and searches left")


def test_missing_times_are_taken_from_the_published_run(config: dict, tmp_path: Path) -> None:
    published = tmp_path / "published.csv"
    published.write_text(f"{HEADER}\nciteseer,fixed,gcn,released,published,,0,fixed,8,0.04\n")
    found = pieces(config, published)
    citeseer = next(piece for piece in found if (piece.stage, piece.dataset) == ("runs", "citeseer"))
    assert citeseer.expected == pytest.approx(400 * 0.04)


def test_deeper_models_are_expected_to_take_longer(config: dict, tmp_path: Path) -> None:
    folder = tmp_path / "runs/cora/fixed/gcn_residual/released/published/layers-2"
    write_times(folder, "0-1", "gcn_residual", "layers-2", [(1, 0.01)])
    deep = [piece for piece in pieces(config, tmp_path / "none.csv") if piece.epochs in (100, 50)]
    assert [piece.expected for piece in deep] == [pytest.approx(2 * 50 * 0.02), pytest.approx(50 * 0.02)]


def test_a_model_that_was_timed_in_variants_only_has_their_median_speed(tmp_path: Path) -> None:
    folder = tmp_path / "sweeps/cora/fixed/cgnn_no_h0/released/published"
    write_times(folder / "t1-5", "0-1", "cgnn_no_h0", "t1-5", [(1.0, 0.01), (1.0, 0.03)])
    write_times(folder / "gcn", "0-1", "gcn", "", [(1.0, 0.05)])
    write_times(folder / "deep", "0-1", "gcn", "layers-16", [(1.0, 0.5)])
    found = measured_speeds(sorted(tmp_path.rglob("*.seconds.csv")))
    assert found == {("cora", "cgnn_no_h0"): pytest.approx(0.02), ("cora", "gcn"): pytest.approx(0.05)}
