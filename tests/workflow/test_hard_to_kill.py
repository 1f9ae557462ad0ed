"""After a kill, damage or a full disk the same command completes, and no finished work is lost."""

import csv
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

RESULTS = "results/tiny"
CHUNK = f"{RESULTS}/runs/synthetic/random/cgnn/released/published/0-3.csv"
LOG = f"{RESULTS}/logs/runs/synthetic/random/cgnn/released/published/0-3.log"
SEARCH = f"{RESULTS}/search/synthetic/fixed/gcn/released"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")


def wait_for(condition: Callable[[], object], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"the condition was not met within {seconds} s"
        time.sleep(0.02)


def journal(project) -> list[Path]:
    return sorted(project.path.glob(f"{CHUNK}.journal/[0-9]*.json"))


def kill_command(process: subprocess.Popen, verb: str) -> None:
    """Kill the Python processes that run `cgnn VERB` as children of the given snakemake."""
    found = [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if child.name().startswith("python") and verb in child.cmdline()
    ]
    assert found
    for child in found:
        child.kill()


def long_training(project):
    """Configure one job of four replicas that takes longer than the start of a snakemake."""
    project.configure(protocol__random_splits=4, protocol__epochs=1500, jobs__replicas_per_job=4)


def complete_chunk(project, kept: int, tmp_path: Path) -> None:
    """The same command completes the chunk, uses the replicas that were kept, and gives the same rows."""
    again = project.snakemake(CHUNK)
    assert again.returncode == 0, again.stdout
    assert f"{kept} of 4 replicas were already finished" in (project.path / LOG).read_text()
    assert not journal(project)
    assert (project.path / CHUNK).read_bytes() == uninterrupted(project, CHUNK, tmp_path)


def uninterrupted(project, target: str, tmp_path: Path) -> bytes:
    """The content of the target after a run without interruption in another folder."""
    other = type(project)(tmp_path / "uninterrupted")
    shutil.copytree(project.path, other.path, symlinks=True)
    shutil.rmtree(other.path / "results")
    shutil.rmtree(other.path / ".snakemake")
    done = other.snakemake(target)
    assert done.returncode == 0, done.stdout
    return (other.path / target).read_bytes()


def test_a_killed_training_keeps_its_finished_replicas_and_ends_with_the_same_rows(project, tmp_path):
    long_training(project)
    process = project.start(CHUNK)
    wait_for(lambda: len(journal(project)) >= 2)
    kill_command(process, "train")
    output = process.communicate()[0]
    assert process.returncode != 0 and "train runs/synthetic/random/cgnn" in output and "python -m cgnn train" in output
    kept = len(journal(project))
    assert kept
    complete_chunk(project, kept, tmp_path)


def test_a_killed_snakemake_resumes_after_the_unlock_that_its_message_suggests(project, tmp_path):
    long_training(project)
    process = project.start(CHUNK)
    wait_for(lambda: journal(project))
    os.killpg(process.pid, signal.SIGKILL)  # snakemake and its jobs, as in a power failure
    process.communicate()
    kept = len(journal(project))
    blocked = project.snakemake(CHUNK)
    assert blocked.returncode != 0 and "--unlock" in blocked.stdout
    assert project.snakemake("--unlock").returncode == 0
    complete_chunk(project, kept, tmp_path)


def test_a_killed_search_resumes_with_the_next_trial_and_finds_the_same_best_trial(project, tmp_path):
    project.configure(search__trials=4, search__epochs={"default": 150})
    progress = project.path / SEARCH / "store/progress.json"
    process = project.start(f"{SEARCH}/best.yaml")
    wait_for(progress.is_file)
    kill_command(process, "search")
    assert process.communicate() and process.returncode != 0
    finished = int(progress.read_text().split('"finished": ')[1].split(",")[0])
    again = project.snakemake(f"{SEARCH}/best.yaml")
    assert again.returncode == 0, again.stdout
    # One replica per trial, and one further replica of each of the two finalists.
    assert f"4 trials ({4 + 2 - finished} new replicas, 0 trials failed)" in again.stdout
    rows = list(csv.DictReader((project.path / SEARCH / "trials.csv").open()))
    assert [row["trial"] for row in rows] == [str(i) for i in range(4)]
    best = (project.path / SEARCH / "best.yaml").read_bytes()
    assert best == uninterrupted(project, f"{SEARCH}/best.yaml", tmp_path)


def test_two_snakemakes_at_once_do_not_disturb_each_other(project):
    long_training(project)
    first = project.start(CHUNK)
    wait_for(lambda: journal(project))
    second = project.snakemake(CHUNK)
    assert second.returncode != 0 and "lock" in second.stdout.lower()
    output = first.communicate()[0]
    assert first.returncode == 0, output
    assert len(list(csv.DictReader((project.path / CHUNK).open()))) == 4


def test_the_error_names_a_truncated_result_which_is_recomputed_once_deleted(finished):
    chunk = finished.path / RESULTS / "runs/synthetic/fixed/gcn/released/search/0-1.csv"
    before, table = chunk.read_bytes(), (finished.path / RESULTS / "tables/fixed_splits.csv").read_bytes()
    chunk.write_bytes(before[: len(before) // 2])
    broken = finished.snakemake()
    assert broken.returncode != 0
    assert "search/0-1.csv: damaged" in broken.stdout
    assert "Delete it and run the same snakemake command" in broken.stdout
    chunk.unlink()
    repaired = finished.snakemake()
    assert repaired.returncode == 0, repaired.stdout
    assert chunk.read_bytes() == before
    assert (finished.path / RESULTS / "tables/fixed_splits.csv").read_bytes() == table


def test_the_error_names_a_corrupted_graph_which_is_rebuilt_once_deleted(finished):
    graph = finished.path / RESULTS / "data/synthetic/graph.npz"
    before = graph.read_bytes()
    damaged = bytearray(before)
    damaged[len(damaged) // 2] ^= 0xFF
    graph.write_bytes(damaged)
    target = f"{RESULTS}/runs/synthetic/random/cgnn/released/published/0-1.csv"
    rows = (finished.path / target).read_bytes()
    broken = finished.snakemake(target)
    assert broken.returncode != 0 and "graph.npz" in broken.stdout and "Traceback" not in broken.stdout
    graph.unlink()
    repaired = finished.snakemake(f"{RESULTS}/data/synthetic/graph.npz", target)
    assert repaired.returncode == 0, repaired.stdout
    assert graph.read_bytes() == before and (finished.path / target).read_bytes() == rows


@pytest.fixture
def mounted(project):
    """The project's results on a separate small file system."""
    folder = project.path / "results"
    folder.mkdir()

    def mount(*options: str) -> Path:
        done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"cannot mount a small file system here: {done.stderr.strip()}")
        return folder

    yield mount
    subprocess.run(["umount", "-l", str(folder)], capture_output=True)


@needs_root
def test_a_full_disk_is_named_and_what_was_finished_is_kept(project, mounted, tmp_path):
    folder = mounted("-t", "tmpfs", "-o", "size=16m", "tmpfs")
    first = f"{RESULTS}/runs/synthetic/random/cgnn/released/published/0-1.csv"
    assert project.snakemake(f"{RESULTS}/data/synthetic/graph.npz").returncode == 0
    with pytest.raises(OSError), open(folder / "filler", "wb") as stream:
        while True:
            stream.write(b"0" * 4096)
            stream.flush()
    full = project.snakemake(first)
    assert full.returncode != 0
    assert "No space left on device" in full.stdout
    (folder / "filler").unlink()
    again = project.snakemake(first)
    assert again.returncode == 0, again.stdout
    assert (project.path / first).read_bytes() == uninterrupted(project, first, tmp_path)


@needs_root
def test_a_read_only_results_folder_is_reported_before_any_job(project, mounted):
    mounted("-t", "tmpfs", "-o", "ro", "tmpfs")
    done = project.snakemake(f"{RESULTS}/data/synthetic/graph.npz")
    assert done.returncode != 0
    assert "results" in done.stdout and "Read-only file system" in done.stdout and "Traceback" not in done.stdout
