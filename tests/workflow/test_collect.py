"""Collecting rows refuses files that are damaged, edited or inconsistent, and names them."""

import csv
import json

import numpy as np
import pytest

from cgnn.datasets.splits import Split, save_split
from cgnn.errors import UserError
from cgnn.files import write_csv
from cgnn.results.collect import PROFILE_COLUMNS, check_splits, collect_profiles, collect_runs, collect_trials
from cgnn.results.schema import COLUMNS, RESULTS, SECONDS_COLUMNS, with_digest
from cgnn.results.seconds import collect_seconds

ROW = {
    **{"dataset": "cora", "split_kind": "fixed", "split": "fixed", "model": "cgnn", "preset": "released"},
    **{"hyperparameter_source": "search", "variant": "", "sw_solver": "exact"},
    **{"code_fingerprint": "aaaa", "graph_sha256": "g1", "split_sha256": "s1"},
    **dict.fromkeys(RESULTS, "82.5"),
    **{"status": "ok", "best_epoch": "7"},
}


def chunk(folder, name, replicas, **changes):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(path, COLUMNS, [with_digest({**ROW, **changes, "replica": str(replica)}) for replica in replicas])
    return path


def test_rows_are_concatenated_in_order(tmp_path):
    files = [chunk(tmp_path, "a/0-1.csv", [0, 1]), chunk(tmp_path, "a/2-2.csv", [2])]
    columns, rows = collect_runs(files)
    assert columns == list(COLUMNS) and [row["replica"] for row in rows] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("file", "stage"),
    [
        ("runs/cora/fixed/cgnn/released/published/0-9.seconds.csv", "runs"),
        ("runs/cora/fixed/cgnn/released/search/0-9.seconds.csv", "runs"),  # searched hyperparameters
        ("sweeps/cora/fixed/cgnn/released/search/t1-10/0-9.seconds.csv", "sweeps"),
        ("search/cora/fixed/cgnn/released/trials.seconds.csv", "search"),
    ],
)
def test_times_are_counted_under_the_stage_that_spent_them(tmp_path, file, stage):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    trial = {"seconds": 2.0, "seconds_per_epoch": 0.1}
    row = trial if stage == "search" else {**dict.fromkeys(SECONDS_COLUMNS, ""), "dataset": "cora", **trial}
    write_csv(path, list(row), [row])
    _, (found,) = collect_seconds([path])
    assert (found["stage"], found["dataset"], found["seconds"]) == (stage, "cora", "2.0")


@pytest.mark.parametrize(
    ("changes", "meaning"),
    [
        ({"code_fingerprint": "bbbb"}, "different code"),
        ({"graph_sha256": "g2"}, "different graphs"),
        ({"split_sha256": "s2"}, "different splits"),
    ],
)
def test_the_error_for_inconsistent_rows_names_both_files(tmp_path, changes, meaning):
    files = [chunk(tmp_path, "a/0-0.csv", [0]), chunk(tmp_path, "b/1-1.csv", [1], **changes)]
    with pytest.raises(UserError) as caught:
        collect_runs(files)
    assert meaning in str(caught.value) and str(files[0]) in str(caught.value) and str(files[1]) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"test_accuracy": "nan"}, "test_accuracy: found nan, expected a percentage from 0 to 100"),
        ({"test_accuracy": "182.5"}, "test_accuracy: found 182.5, expected a percentage"),
        ({"final_train_loss": "inf"}, "final_train_loss: found inf, expected a finite number"),
        ({"validation_accuracy": "high"}, "validation_accuracy: found 'high', expected a number"),
        ({"test_accuracy": ""}, "test_accuracy: found '', expected a number"),
        ({"status": "diverged"}, "found '82.5' in a row with status diverged, expected nothing"),
        ({"status": "fine"}, "status: found 'fine', expected one of ok, diverged, out_of_memory"),
    ],
)
def test_the_error_for_an_impossible_value_names_file_and_line(tmp_path, changes, complaint):
    path = chunk(tmp_path, "a/0-0.csv", [0], **changes)
    with pytest.raises(UserError) as caught:
        collect_runs([path])
    assert str(caught.value).startswith(f"{path}, line 2: ") and complaint in str(caught.value)


def test_an_edited_value_is_refused(tmp_path):
    path = chunk(tmp_path, "a/0-1.csv", [0, 1])
    before, _, last = path.read_text().rpartition("82.5")
    path.write_text(f"{before}99.9{last}")
    with pytest.raises(UserError, match=r"0-1\.csv, line 3: row_digest.*a value was edited"):
        collect_runs([path])


def test_a_row_trained_on_another_split_is_refused(tmp_path):
    split = Split("fixed", *(np.array([node], dtype=np.int64) for node in range(3)))
    path = tmp_path / "splits/cora/fixed.json"
    save_split(split, path, dataset="cora", seed=None, graph_sha256="g1")
    check_splits([{**ROW, "replica": "0", "split_sha256": split.sha256}], tmp_path / "splits")
    with pytest.raises(UserError, match=r"fixed\.json: its hash is .*, but replica 0 of cgnn was trained on s1"):
        check_splits([{**ROW, "replica": "0"}], tmp_path / "splits")


def test_other_models_and_solvers_may_have_other_code(tmp_path):
    files = [
        chunk(tmp_path, "a/0-0.csv", [0]),
        chunk(tmp_path, "b/0-0.csv", [0], model="gcn", code_fingerprint="bbbb"),
        chunk(tmp_path, "c/0-0.csv", [0], variant="x", sw_solver="dopri5", code_fingerprint="cccc"),
    ]
    assert len(collect_runs(files)[1]) == 3


def test_a_duplicate_replica_is_refused(tmp_path):
    files = [chunk(tmp_path, "a/0-1.csv", [0, 1]), chunk(tmp_path, "a/1-1.csv", [1])]
    with pytest.raises(UserError, match=r"1-1\.csv: replica 1 is already in .*0-1\.csv"):
        collect_runs(files)


def test_a_file_truncated_at_any_byte_is_refused(tmp_path):
    path = chunk(tmp_path, "a/0-2.csv", [0, 1, 2])
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match="damaged"):
            collect_runs([path])


def test_trials_have_the_columns_of_their_search(tmp_path):
    files = []
    for model, parameter in (("gcn", "dropout"), ("cgnn", "t1")):
        path = tmp_path / "search/cora/fixed" / model / "released/trials.csv"
        path.parent.mkdir(parents=True)
        write_csv(path, ["trial", "status", "objective", parameter], [{"trial": 0, parameter: 1}])
        files.append(path)
    columns, rows = collect_trials(files)
    assert columns == ["dataset", "split_kind", "model", "preset", "trial", "status", "objective", "dropout", "t1"]
    assert [(row["model"], row["preset"]) for row in rows] == [("gcn", "released"), ("cgnn", "released")]


def test_profiles_become_rows_and_a_damaged_one_is_refused(tmp_path):
    point = dict.fromkeys(PROFILE_COLUMNS, 1) | {"seconds": [1, 2], "peak_bytes": None}
    (tmp_path / "2.json").write_text(json.dumps(point))
    columns, rows = collect_profiles([tmp_path / "2.json"])
    write_csv(tmp_path / "profiles.csv", columns, rows)
    (row,) = csv.DictReader((tmp_path / "profiles.csv").open())
    assert row["value"] == "1" and row["peak_bytes"] == ""
    (tmp_path / "2.json").write_text(json.dumps(point)[:-5])
    with pytest.raises(UserError, match=r"2\.json: damaged"):
        collect_profiles([tmp_path / "2.json"])
