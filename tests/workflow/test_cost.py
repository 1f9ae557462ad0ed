"""Measured seconds count as they are, what is missing by the epochs that were timed, and what is unknown is said."""

from pathlib import Path

import pytest

from cgnn.pipeline.config import load, overlay
from cgnn.pipeline.cost import pieces, summary

HEADER = "dataset,split,model,preset,variant,replica,seconds,seconds_per_epoch"


@pytest.fixture
def config(tmp_path: Path) -> dict:
    off = {name: False for name in ("main", "published_random", "gode", "paper_fixed", "paper_random")}
    wanted = {"published": {"models": ["gcn"], "splits": ["fixed"], "datasets": ["cora", "citeseer"]}}
    return overlay(
        load([]),
        {
            "results": str(tmp_path),
            "protocol": {"seeds": 4, "epochs": 100},
            "experiments": off | wanted,
            "residual": {"layers": [4], "datasets": ["cora"], "seeds": 2, "random_splits": 1, "epochs": 50},
            "sweeps": {"datasets": []},
            "fidelity": {"datasets": []},
            "curves": {"datasets": []},
            "jobs": {"replicas_per_job": 2},
        },
    )


def test_measured_and_expected_seconds_add_up(config: dict, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "cora" / "fixed" / "gcn" / "released" / "published"
    folder.mkdir(parents=True)
    (folder / "0-1.csv").write_text("rows\n")
    rows = [f"cora,fixed,gcn,released,,{i},{2.0 + i},0.02" for i in (0, 1)]
    (folder / "0-1.seconds.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    found = list(pieces(config))
    gcn = next(piece for piece in found if (piece.stage, piece.dataset) == ("runs", "cora"))
    assert (gcn.epochs, gcn.measured, gcn.missing_epochs) == (400, 5.0, 200)
    assert gcn.expected == pytest.approx(200 * 0.02)
    citeseer = next(piece for piece in found if (piece.stage, piece.dataset) == ("runs", "citeseer"))
    assert citeseer.expected is None and citeseer.missing_epochs == 400
    text = summary(found, cores=2)
    assert "not in it: 550 epochs" in text  # Citeseer's, and the residual GCN's 3 × 50
    assert "0.0 core-hours in all" in text


def test_deeper_models_are_expected_to_take_longer(config: dict, tmp_path: Path) -> None:
    folder = tmp_path / "residual" / "cora" / "fixed" / "2"
    folder.mkdir(parents=True)
    (folder / "0-1.seconds.csv").write_text(f"{HEADER}\ncora,fixed,gcn_residual,released,layers-2,0,1,0.01\n")
    fixed = [piece for piece in pieces(config) if piece.stage == "residual"]
    assert [piece.expected for piece in fixed] == [pytest.approx(2 * 50 * 0.02), pytest.approx(50 * 0.02)]


def test_curves_are_found_where_they_were_recorded(config: dict, tmp_path: Path) -> None:
    config["curves"] |= {"datasets": ["cora"], "models": ["gcn"], "seeds": 3}
    (missing,) = (piece for piece in pieces(config) if piece.stage == "curves")
    assert (missing.measured, missing.missing_epochs) == (0.0, 300)
    folder = tmp_path / "curves" / "cora" / "gcn.rows"
    folder.mkdir(parents=True)
    (folder / "runs.csv").write_text("rows\n")
    rows = [f"cora,fixed,gcn,released,,{i},{1.0 + i},0.02" for i in range(3)]
    (folder / "runs.seconds.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    (found,) = (piece for piece in pieces(config) if piece.stage == "curves")
    assert (found.measured, found.missing_epochs) == (6.0, 0)
