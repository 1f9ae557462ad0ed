"""``python -m cgnn profile``: what it measures and records."""

import json
from pathlib import Path

import pytest

from cgnn.__main__ import main
from cgnn.models.registry import resolve_method
from cgnn.paper.fidelity import Fidelity


def profile(graph: Path, out: Path, *arguments: str, expect: int = 0) -> dict:
    words = ["--dataset", "small", "--graph", str(graph), "--epochs", "3", "--warmup", "1", "--out", str(out)]
    assert main(["profile", *words, *arguments]) == expect
    return json.loads(out.read_text()) if expect == 0 else {}


def test_a_method_is_a_model_or_a_model_with_a_solver() -> None:
    released = Fidelity()
    assert resolve_method("gcn", released) == ("gcn", released)
    model, fidelity = resolve_method("cgnn_adjoint", released)
    assert (model, fidelity.solver) == ("cgnn", "dopri5_adjoint")
    model, fidelity = resolve_method("cgnn_discrete", Fidelity(discrete_steps="50"))
    assert (model, fidelity.discrete_steps) == ("cgnn_discrete", "t1"), "its depth must be variable"


def test_a_point_records_what_was_measured_and_how(small_file: Path, tmp_path: Path) -> None:
    point = profile(small_file, tmp_path / "p.json", "--method", "cgnn_exact", "--value", "5")
    assert (point["model"], point["axis"], point["value"], point["status"]) == ("cgnn", "t1", 5.0, "ok")
    assert (point["epochs_timed"], len(point["seconds"]), point["memory_counter"]) == (3, 3, "torch cpu allocator")
    assert min(point["seconds"]) <= point["seconds_per_epoch"] <= max(point["seconds"])
    assert point["peak_bytes"] > 0 and point["code_fingerprint"] and "torch=" in point["versions"]


def test_memory_grows_by_the_same_amount_for_each_layer_of_gcn(small_file: Path, tmp_path: Path) -> None:
    peaks = [
        profile(small_file, tmp_path / "p.json", "--method", "gcn", "--value", str(layers))["peak_bytes"]
        for layers in (4, 8, 12)
    ]
    assert peaks[1] - peaks[0] == pytest.approx(peaks[2] - peaks[1], rel=0.05)
    assert peaks[1] > 1.1 * peaks[0]


def test_memory_of_the_recomputing_solver_does_not_depend_on_time(small_file: Path, tmp_path: Path) -> None:
    def peak(method: str, t1: str) -> int:
        return profile(small_file, tmp_path / "p.json", "--method", method, "--value", t1)["peak_bytes"]

    assert peak("cgnn_exact_recompute", "50") == pytest.approx(peak("cgnn_exact_recompute", "2"), rel=0.05)
    assert peak("cgnn_exact", "50") > 1.05 * peak("cgnn_exact", "2")


def test_a_point_out_of_memory_is_a_result(small_file: Path, tmp_path: Path) -> None:
    arguments = ("--method", "gcn", "--set", "hidden=1000000", "--memory-limit", "300")
    point = profile(small_file, tmp_path / "p.json", *arguments)
    assert (point["status"], point["peak_bytes"], point["seconds_per_epoch"]) == ("out_of_memory", None, None)


def test_an_unknown_method_and_changed_code_are_refused(
    small_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile(small_file, tmp_path / "p.json", "--method", "cgnn_exakt", expect=2)
    assert "found 'cgnn_exakt'" in capsys.readouterr().err
    profile(small_file, tmp_path / "p.json", "--method", "gcn", "--expect-fingerprint", "00", expect=2)
    assert "changed since this job was planned" in capsys.readouterr().err
