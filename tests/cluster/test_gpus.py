"""Sharing GPUs, with simulated device lists and real processes: no test here needs a GPU."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cgnn.training import gpus
from cgnn.training.gpus import one_gpu, visible_gpus

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import os, sys, time
from pathlib import Path
from cgnn.training.gpus import one_gpu
with one_gpu("auto", gpus=["0", "1"], locks=Path(sys.argv[1])) as gpu:
    print(gpu, os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    sys.stdin.readline()
"""


def holder(locks: Path) -> tuple[subprocess.Popen, str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(locks)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    gpu, seen = process.stdout.readline().split()
    assert gpu == seen
    return process, gpu


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        ("0", ["0"]),
        ("2,3", ["2", "3"]),
        ("2, 3", ["2", "3"]),
        ("0,-1,1", ["0"]),
        ("-1", []),
        ("NoDevFiles", []),
        ("GPU-8932f937,MIG-GPU-8932f937/1/0", ["GPU-8932f937", "MIG-GPU-8932f937/1/0"]),
    ],
)
def test_the_variable_says_which_gpus_are_visible(value, expected):
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": value}) == expected


def test_without_the_variable_the_device_files_are_counted(tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert visible_gpus({}, devices=tmp_path) == ["0", "1", "2"]
    assert visible_gpus({}, devices=tmp_path / "nothing here") == []


@pytest.mark.parametrize(
    ("device", "devices"), [("cpu", ["0", "1"]), ("cuda:1", ["0", "1"]), ("auto", []), ("auto", ["3"]), ("cuda", ["3"])]
)
def test_nothing_changes_if_there_is_no_choice(device, devices, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "as it was")
    with one_gpu(device, gpus=devices, locks=tmp_path) as gpu:
        assert gpu is None
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "as it was"
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_restored(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    with one_gpu("auto", locks=tmp_path) as gpu:
        assert gpu == os.environ["CUDA_VISIBLE_DEVICES"] == "0"
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert "CUDA_DEVICE_ORDER" not in os.environ


def test_a_job_that_fails_releases_its_gpu(tmp_path):
    for _ in range(2):
        with pytest.raises(ValueError, match="a bug"), one_gpu("auto", gpus=["0", "1"], locks=tmp_path) as gpu:
            assert gpu == "0"
            raise ValueError("a bug")


def test_two_processes_hold_two_gpus_and_the_third_waits_for_the_first_free_one(tmp_path, monkeypatch, capsys):
    first, first_gpu = holder(tmp_path)
    second, second_gpu = holder(tmp_path)
    assert {first_gpu, second_gpu} == {"0", "1"}

    # The second job ends while the third waits before its next attempt.
    monkeypatch.setattr(gpus.time, "sleep", lambda seconds: second.communicate("\n"))
    with one_gpu("cuda", gpus=["0", "1"], locks=tmp_path) as gpu:
        assert gpu == second_gpu
    monkeypatch.undo()
    assert "waiting for one of the GPUs 0, 1" in capsys.readouterr().err
    first.communicate("\n", timeout=20)


def test_a_killed_job_releases_its_gpu(tmp_path, capsys):
    process, gpu = holder(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    with one_gpu("auto", gpus=["0", "1"], locks=tmp_path) as next_gpu:
        assert next_gpu == gpu == "0"
    assert "waiting" not in capsys.readouterr().err


def test_choosing_a_gpu_after_cuda_has_started_is_an_error(tmp_path, monkeypatch):
    class Torch:
        class cuda:
            @staticmethod
            def is_initialized() -> bool:
                return True

    monkeypatch.setitem(sys.modules, "torch", Torch)
    with pytest.raises(RuntimeError, match="before a GPU was chosen"), one_gpu("auto", gpus=["0", "1"], locks=tmp_path):
        pass
