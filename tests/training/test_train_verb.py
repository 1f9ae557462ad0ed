"""``python -m cgnn train``: its files, its journal and its messages."""

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cgnn.datasets.graph import Graph
from cgnn.results.recorded import collect_recorded, read_recorded
from cgnn.results.schema import COLUMNS, recorded_path

QUICK = ("--epochs", "8")


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("model", ["cgnn", "gat"])
def test_the_same_command_twice_writes_the_same_file_to_the_bit(train: Callable[..., Path], model: str) -> None:
    first = train("--model", model, "--replicas", "0:2", *QUICK, out="first.csv")
    second = train("--model", model, "--replicas", "0:2", *QUICK, out="second.csv")
    assert first.read_bytes() == second.read_bytes()


def test_a_row_records_its_settings_and_provenance(train: Callable[..., Path], small_graph: Graph) -> None:
    out = train("--model", "cgnn", "--preset", "released", "--switch", "alpha=tabulated", "--set", "t1=5", *QUICK)
    (row,) = rows(out)
    assert tuple(row) == COLUMNS
    columns = ("dataset", "split", "model", "replica", "status")
    assert [row[column] for column in columns] == ["small", "fixed", "cgnn", "0", "ok"]
    assert (row["t1"], row["epochs"], row["layers"]) == ("5.0", "8", ""), "a column that CGNN does not use is empty"
    assert (row["sw_alpha"], row["sw_solver"], row["hyperparameter_source"]) == ("tabulated", "exact", "published")
    assert row["graph_sha256"] == small_graph.sha256 and "torch=" in row["versions"]
    assert 0 <= float(row["test_accuracy"]) <= float(row["test_oracle"]) <= 100


def test_more_replicas_later_leave_the_first_ones_as_they_were(train: Callable[..., Path]) -> None:
    two = rows(train("--model", "cgnn", "--replicas", "0:2", *QUICK, out="two.csv"))
    four = rows(train("--model", "cgnn", "--replicas", "0:4", *QUICK, out="four.csv"))
    assert four[:2] == two
    assert rows(train("--model", "cgnn", "--replicas", "3", *QUICK, out="one.csv")) == four[3:]


def test_each_replica_has_its_own_random_split(train: Callable[..., Path], small_file: Path, tmp_path: Path) -> None:
    from cgnn.__main__ import main

    for name in ("random00", "random01"):
        words = ["split", "--graph", str(small_file), "--name", name, "--out", str(tmp_path / f"{name}.json")]
        assert main([*words, "--per-class", "5", "--validation", "30", "--test", "60"]) == 0
    out = train("--model", "gcn", "--split", "random", "--splits", str(tmp_path), "--replicas", "0:2", *QUICK)
    assert [(row["split_kind"], row["split"]) for row in rows(out)] == [("random", "random00"), ("random", "random01")]
    out = train("--model", "gcn", "--split", "random01", "--splits", str(tmp_path), *QUICK, out="one.csv")
    assert rows(out)[0]["split"] == "random01"


def test_curves_and_alpha_are_recorded_next_to_the_rows(train: Callable[..., Path], small_graph: Graph) -> None:
    out = train("--model", "cgnn", "--replicas", "0:2", *QUICK)
    (recorded,) = read_recorded(recorded_path(out))
    assert (recorded.dataset, recorded.model, recorded.replica.tolist()) == ("small", "cgnn", [0, 1])
    assert recorded.test_accuracy.shape == (2, 8)
    for row in rows(out):
        chosen = int(row["replica"]), int(row["best_epoch"]) - 1
        assert recorded.test_accuracy[chosen] == np.float32(row["test_accuracy"])
        assert recorded.validation_accuracy[chosen] == np.float32(row["validation_accuracy"])
    assert recorded.alpha.shape == (2, 200) and ((recorded.alpha > 0) & (recorded.alpha < 1)).all()
    assert recorded.degree.sum() == 2 * small_graph.num_edges
    assert read_recorded(recorded_path(train("--model", "gcn", *QUICK, out="gcn.csv")))[0].alpha.shape == (1, 0)


def test_recordings_of_several_jobs_are_joined(train: Callable[..., Path], tmp_path: Path) -> None:
    parts = [train("--model", "gcn", "--replicas", r, *QUICK, out=f"{r[0]}.csv") for r in ("0:2", "2:3")]
    other = train("--model", "cgnn", *QUICK, out="cgnn.csv")
    assert collect_recorded(map(recorded_path, [*parts, other]), tmp_path / "recorded.npz") == 2
    gcn, cgnn = read_recorded(tmp_path / "recorded.npz")
    assert (gcn.model, gcn.replica.tolist(), cgnn.model, cgnn.replica.tolist()) == ("gcn", [0, 1, 2], "cgnn", [0])
    whole = read_recorded(recorded_path(train("--model", "gcn", "--replicas", "0:3", *QUICK, out="whole.csv")))[0]
    assert (gcn.test_accuracy == whole.test_accuracy).all()


def test_rows_of_another_training_are_never_overwritten(
    train: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = train("--model", "gcn", "--replicas", "0:2", *QUICK).read_bytes()
    for arguments in (("--model", "cgnn"), ("--model", "gcn", "--replicas", "2:3"), ("--model", "gcn")):
        out = train(*arguments, *QUICK, expect=2)
        assert "it has a row of another training" in capsys.readouterr().err
        assert out.read_bytes() == before
    assert train("--model", "gcn", "--replicas", "0:2", *QUICK).read_bytes() == before, "the same command may repeat"


def test_times_are_in_a_file_next_to_the_rows(train: Callable[..., Path]) -> None:
    out = train("--model", "gcn", "--replicas", "0:2", *QUICK)
    times = rows(out.with_suffix(".seconds.csv"))
    assert [row["replica"] for row in times] == ["0", "1"]
    assert all(float(row["seconds"]) > 0 and float(row["seconds_per_epoch"]) > 0 for row in times)


def test_a_killed_training_loses_no_finished_replica(
    train: Callable[..., Path], small_file: Path, tmp_path: Path
) -> None:
    """After SIGKILL the same command gives the result of an uninterrupted one."""
    out = tmp_path / "killed.csv"
    arguments = ("--model", "gcn", "--replicas", "0:12", "--epochs", "100")
    words = ["--dataset", "small", "--graph", str(small_file), *arguments]
    command = [sys.executable, "-m", "cgnn", "train", *words, "--out", str(out)]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    journal = Path(f"{out}.journal")
    deadline = time.monotonic() + 120
    while len(list(journal.glob("[0-9]*.json"))) < 3 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path.name: path.stat().st_mtime_ns for path in journal.glob("[0-9]*.json")}
    assert 3 <= len(finished) < 12 and not out.exists()

    (journal / "0.json").write_text('{"inputs": {}')  # only this truncated one is computed again
    train(*arguments, out="killed.csv")
    assert not journal.exists()
    undisturbed = train(*arguments, out="undisturbed.csv")
    assert out.read_bytes() == undisturbed.read_bytes()


def test_a_journal_of_other_settings_is_not_used(train: Callable[..., Path], tmp_path: Path) -> None:
    from cgnn.results.journal import Journal

    journal = Journal(tmp_path / "runs.csv")
    journal.add(0, {"lr": 0.1, "code_fingerprint": "a"}, {"results": {"status": "ok"}})
    assert journal.find(0, {"lr": 0.1, "code_fingerprint": "a"}) is not None
    assert journal.find(0, {"lr": 0.1, "code_fingerprint": "b"}) is None


def test_a_training_whose_code_changed_after_planning_is_refused(
    train: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    from cgnn.paper.fidelity import preset
    from cgnn.pipeline.provenance import training_fingerprint

    out = train("--model", "gcn", *QUICK, "--expect-fingerprint", "0123456789abcdef", expect=2)
    assert not out.exists()
    assert "changed since this job was planned" in capsys.readouterr().err
    train("--model", "gcn", *QUICK, "--expect-fingerprint", training_fingerprint("gcn", preset("released")))


def test_a_training_out_of_memory_is_recorded_as_a_row(
    train: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A million hidden channels on 200 nodes need 800 MB per tensor; the limit is 300 MiB."""
    out = train("--model", "gcn", *QUICK, "--set", "hidden=1000000", "--memory-limit", "300")
    (row,) = rows(out)
    assert (row["status"], row["test_accuracy"], row["best_epoch"]) == ("out_of_memory", "", "")
    assert "1 out of memory" in capsys.readouterr().out
    (row,) = rows(train("--model", "gcn", *QUICK))
    assert row["status"] == "ok", "the limit must not outlive its training"


def test_a_diverged_training_is_recorded_as_a_row(train: Callable[..., Path]) -> None:
    (row,) = rows(train("--model", "cgnn", *QUICK, "--set", "lr=1e30"))
    assert (row["status"], row["test_accuracy"]) == ("diverged", "")


def test_the_last_line_is_a_summary(train: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    train("--model", "cgnn", "--replicas", "0:3", *QUICK)
    line = capsys.readouterr().out.strip().splitlines()[-1]
    assert line.startswith("small fixed cgnn released, published hyperparameters: test ")
    assert " ± " in line and "(n=3), validation " in line


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--model", "cgn"), "found 'cgn'; did you mean cgnn?"),
        (("--model", "gcn", "--preset", "best"), "preset: found 'best'"),
        (("--model", "cgnn", "--switch", "alpha=3"), "switch alpha: found '3'"),
        (("--model", "gcn", "--set", "depth=3"), "--set: unknown hyperparameter 'depth'; expected one of lr"),
        (("--model", "gcn", "--replicas", "5:5"), "--replicas: found '5:5'"),
        (("--model", "gcn", "--device", "gpu"), "device: found 'gpu'"),
        (("--model", "gcn", "--hyperparameters", "no.yaml"), "no.yaml: no such file"),
        (("--model", "cgnn_weight", "--split", "random"), "prints no hyperparameters for cgnn_weight"),
        (("--model", "gcn", "--set", "t1=3"), "--set t1: gcn does not use it"),
        (("--model", "gcn", "--switch", "alpha=tabulated"), "--switch alpha: gcn does not use it"),
    ],
)
def test_the_error_names_a_wrong_argument(
    train: Callable[..., Path], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], complaint: str
) -> None:
    train(*arguments, "--epochs", "1", expect=2)
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--threads", "--memory-limit", "--epochs"])
@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_an_invalid_number_is_refused_with_a_one_line_message(
    train: Callable[..., Path], capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        train("--model", "gcn", f"{option}={value}")
    assert caught.value.code == 2
    assert f"{option}: found '{value}', expected a whole number of at least 1" in capsys.readouterr().err
