"""The workflow on a real Slurm cluster: it completes although jobs fail, with the results of a local run.

The first two tests (sbatch, GPUs, scancel) run in CI. The others run with ``pytest -m slurm_full tests/slurm``. All of
them are skipped, with the reason, if no test cluster can be started: it needs root and Debian's Slurm packages.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.slurm, pytest.mark.xdist_group("slurm"), pytest.mark.usefixtures("cluster")]

PAPER = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
OFF = {name: False for name in PAPER["experiments"]}
EMPTY = {"datasets": []}
SMALL = {
    "results": "results/test",
    "datasets": {"cora": False, "citeseer": False, "pubmed": False, "synthetic": {"nodes": 300, "classes": 3}},
    "protocol": {
        "seeds": 2,
        "random_splits": 2,
        "epochs": 5,
        "split_sizes": {"default": {"validation": 60, "test": 60}},
    },
    "experiments": OFF | {"main": {"models": ["cgnn"], "splits": ["fixed"], "hyperparameters": "search"}},
    "residual": {"layers": []},
    "search": {"trials": 2, "finalists": 1, "replicas": 1, "epochs": {"default": 3}},
    "sweeps": EMPTY,
    "fidelity": EMPTY,
    "curves": EMPTY,
    "profiles": EMPTY,
    "jobs": {"replicas_per_job": 2, "search_workers": 1},
}

# Every kind of job, and all tables, figures and pages made from their rows.
WHOLE = SMALL | {
    "sweeps": {
        "datasets": ["synthetic"], "seeds": 1, "epochs": {"default": 2},
        "layers": {"models": [], "values": [2]}, "t1": {"models": ["cgnn"], "values": [1]},
        "readings": {name: False for name in PAPER["sweeps"]["readings"]},
    },
    "profiles": {
        "datasets": ["synthetic"], "epochs": 1, "layers": [2], "t1": [1],
        "methods": {name: False for name in PAPER["profiles"]["methods"] if name not in ("gcn", "cgnn_exact")},
    },
    "fidelity": {
        "datasets": ["synthetic"], "seeds": 1,
        "variants": {
            name: False for name in PAPER["fidelity"]["variants"] if name not in ("released", "alpha-tabulated")
        },
    },
    "curves": {"datasets": ["synthetic"], "models": ["cgnn"], "seeds": 1},
}  # fmt: skip


def long(replicas: int, epochs: int) -> dict:
    """One job that trains long enough to be interrupted."""
    return SMALL | {
        "protocol": SMALL["protocol"] | {"seeds": replicas, "epochs": epochs},
        "experiments": OFF | {"main": {"models": ["cgnn"], "splits": ["fixed"], "hyperparameters": "published"}},
        "jobs": {"replicas_per_job": replicas},
    }


def jobs_of(project, **columns: str) -> list[dict[str, str]]:
    """The jobs of this project that sacct lists, oldest first, with the requested columns."""
    names = {"job": "JobID", "state": "State", "partition": "Partition", "folder": "WorkDir", **columns}
    command = ["sacct", "-X", "-P", "-n", "-S", "now-1hour", "-o", ",".join(names.values())]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [dict(zip(names, line.split("|"), strict=True)) for line in lines]
    return [row for row in rows if row["folder"] == str(project.folder)]


def ended_jobs(project, **columns: str) -> list[dict[str, str]]:
    """The same, once sacct reports that they have ended, which is shortly after squeue does."""
    wait_until(lambda: not {job["state"] for job in jobs_of(project)} & {"PENDING", "RUNNING", "COMPLETING"}, 60)
    return jobs_of(project, **columns)


def wait_until(true: Callable[[], object], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not seen within {seconds} s"
        time.sleep(0.2)


def set_node(state: str) -> None:
    name = socket.gethostname().split(".")[0]
    subprocess.run(["scontrol", "update", f"NodeName={name}", f"State={state}", "Reason=test"], check=True)


@pytest.fixture
def drained_node(cluster):
    """Jobs wait until the test resumes the node."""
    set_node("DRAIN")
    yield
    with contextlib.suppress(subprocess.CalledProcessError):  # the test has already resumed it
        set_node("RESUME")


def put_first(project, lines: str) -> None:
    """Make every ``python -m cgnn`` of this copy run these lines first. No fingerprint depends on the file."""
    main = project.folder / "cgnn" / "__main__.py"
    main.write_text(f"{lines}\n{main.read_text()}")


def test_the_dag_runs_through_sbatch_with_the_results_of_a_local_run(copy_project, local_results):
    project = copy_project(SMALL)
    process = project.start(project.on_slurm("runs"))
    training = project.wait_for_training(process)
    project.finish(process)
    assert project.results() == local_results(SMALL, "runs")
    jobs = ended_jobs(project, comment="Comment", account="Account", tres="AllocTRES")
    assert [job["comment"].split("_wildcards")[0] for job in jobs] == ["rule_search_hyperparameters", "rule_train"]
    assert {job["state"] for job in jobs} == {"COMPLETED"}
    assert {job["account"] for job in jobs} == {"paper"}
    # Each job requested a GPU in the right partition, and the training could see one.
    assert {job["partition"] for job in jobs} == {"gpu"}
    assert all("gres/gpu=1" in job["tres"] for job in jobs)
    assert training["CUDA_VISIBLE_DEVICES"] in ("0", "1")


def test_a_cancelled_training_is_retried_and_keeps_its_finished_replicas(copy_project, local_results):
    config = long(replicas=8, epochs=300)
    project = copy_project(config)
    # This run also tests the other way to request a GPU.
    process = project.start(project.on_slurm("runs", "--config", "jobs={gpu_request: gres, gpu_partition: gpu}"))
    training = project.wait_for_training(process)
    assert training["CUDA_VISIBLE_DEVICES"] in ("0", "1")
    journal = project.folder / "results/test/runs/synthetic/fixed/cgnn/released/published/0-7.csv.journal"
    wait_until(lambda: list(journal.glob("[0-9]*.json")))
    subprocess.run(["scancel", training["SLURM_JOB_ID"]], check=True)
    wait_until(lambda: not project.trainings())
    kept = {path: path.stat().st_mtime_ns for path in journal.glob("[0-9]*.json")}
    assert kept
    project.wait_for_training(process)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    project.finish(process)
    assert project.results() == local_results(config, "runs")
    jobs = ended_jobs(project, asked="ReqTRES")
    assert [job["state"].split()[0] for job in jobs] == ["CANCELLED", "COMPLETED"]
    assert all(job["partition"] == "gpu" and "gres/gpu=1" in job["asked"] for job in jobs)


@pytest.mark.slurm_full
@pytest.mark.timeout(900)
def test_a_job_over_its_time_limit_is_retried_with_more_time_and_memory(copy_project, local_results):
    config = long(replicas=2, epochs=5)
    project = copy_project(config)
    put_first(
        project,
        "import pathlib, sys, time\n"
        "if 'train' in sys.argv and not pathlib.Path('hung').exists():\n"
        "    pathlib.Path('hung').touch()\n"
        "    time.sleep(600)",
    )
    process = project.start(project.on_slurm("runs", "--set-resources", "train:runtime=attempt"))
    project.finish(process)
    assert project.results() == local_results(config, "runs")
    jobs = ended_jobs(project, limit="Timelimit", memory="ReqMem")
    assert [job["state"] for job in jobs] == ["TIMEOUT", "COMPLETED"]
    assert [job["limit"] for job in jobs] == ["00:01:00", "00:02:00"]
    first, second = (int(job["memory"].rstrip("M")) for job in jobs)
    assert second == 2 * first


@pytest.mark.slurm_full
@pytest.mark.timeout(900)
def test_a_run_waits_for_a_drained_node_and_continues_when_it_is_resumed(copy_project, local_results, drained_node):
    config = long(replicas=8, epochs=100)
    project = copy_project(config)
    process = project.start(project.on_slurm("runs"))
    wait_until(lambda: jobs_of(project))
    time.sleep(15)
    assert [job["state"] for job in jobs_of(project)] == ["PENDING"]
    set_node("RESUME")
    project.wait_for_training(process)
    set_node("DRAIN")  # running jobs may finish
    project.finish(process)
    assert project.results() == local_results(config, "runs")
    assert [job["state"] for job in ended_jobs(project)] == ["COMPLETED"]


@pytest.mark.slurm_full
@pytest.mark.timeout(900)
def test_a_run_survives_a_restart_of_slurmctld(cluster, copy_project, local_results):
    config = long(replicas=8, epochs=100)
    project = copy_project(config)
    process = project.start(project.on_slurm("runs"))
    project.wait_for_training(process)
    controller = int((cluster / "pid" / "slurmctld").read_text())
    os.kill(controller, signal.SIGTERM)
    wait_until(lambda: not Path(f"/proc/{controller}").exists())
    time.sleep(25)
    subprocess.run(
        ["slurmctld"], env={"SLURM_CONF": str(cluster / "slurm.conf"), "PATH": "/usr/sbin:/usr/bin"}, check=True
    )
    project.finish(process)
    assert project.results() == local_results(config, "runs")


@pytest.mark.slurm_full
@pytest.mark.timeout(900)
def test_ctrl_c_cancels_the_jobs_and_the_same_command_resumes(copy_project, local_results):
    config = long(replicas=8, epochs=100)
    project = copy_project(config)
    process = project.start(project.on_slurm("runs"))
    project.wait_for_training(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) != 0
    assert [job["state"].split()[0] for job in ended_jobs(project)] == ["CANCELLED"]
    project.finish(project.start(project.on_slurm("runs")))
    assert project.results() == local_results(config, "runs")


@pytest.mark.slurm_full
@pytest.mark.timeout(900)
def test_jobs_of_a_killed_snakemake_can_be_cancelled_by_its_run_id(copy_project, local_results):
    config = long(replicas=8, epochs=300)
    project = copy_project(config)
    process = project.start(project.on_slurm("runs"))
    project.wait_for_training(process)
    process.kill()
    process.wait()
    assert [job["state"] for job in jobs_of(project)] == ["RUNNING"]
    (run_id,) = re.findall(r"SLURM run ID: (\S+)", (project.folder / "output.log").read_text())
    subprocess.run(["scancel", f"--name={run_id}"], check=True)
    assert [job["state"].split()[0] for job in ended_jobs(project)] == ["CANCELLED"]
    project.run(project.snakemake("--unlock", "--cores", "1"))
    project.finish(project.start(project.on_slurm("runs")))
    assert project.results() == local_results(config, "runs")


@pytest.mark.slurm_full
@pytest.mark.timeout(900)
def test_editing_the_project_while_jobs_wait_does_not_change_what_they_run(copy_project, local_results, drained_node):
    project = copy_project(SMALL)
    process = project.start(project.on_slurm("runs"))
    wait_until(lambda: jobs_of(project))
    for file in ("cgnn/cli/train.py", "cgnn/cli/search.py", "cgnn/training/replicas.py", "workflow/rules/train.smk"):
        (project.folder / file).write_text("raise RuntimeError('this file was edited')\n")
    for file in ("config.yaml", "test.yaml"):
        text = (project.folder / file).read_text()
        (project.folder / file).write_text(text.replace("epochs: 5", "epochs: 7").replace("epochs: 400", "epochs: 7"))
    set_node("RESUME")
    project.finish(process)
    assert project.results() == local_results(SMALL, "runs")


@pytest.mark.slurm_full
@pytest.mark.timeout(900)
def test_jobs_need_no_network_and_no_data_source(copy_project, mirror):
    """Real data, and jobs in a separate network namespace without a loopback interface."""
    config = SMALL | {"datasets": {"citeseer": False, "pubmed": False}}
    project = copy_project(config)
    put_first(
        project,
        "import ctypes, os, socket\n"
        "if 'SLURM_JOB_ID' in os.environ:\n"
        "    assert ctypes.CDLL(None).unshare(0x40000000) == 0\n"  # CLONE_NEWNET
        "    os.environ.pop('CGNN_DATA_MIRROR', None)\n"
        "    assert not os.path.exists('/proc/self/net/route') or len(open('/proc/self/net/route').readlines()) <= 1",
    )
    project.run(project.on_slurm("runs"))
    assert {job["state"] for job in ended_jobs(project)} == {"COMPLETED"}
    assert any("cora" in name for name in project.results())
    assert (project.folder / "data").is_dir()  # the submitting host's cache


@pytest.mark.slurm_full
@pytest.mark.timeout(2400)
def test_the_whole_dag_completes_on_the_cluster_and_leaves_nothing_to_do(copy_project):
    project = copy_project(WHOLE)
    project.run(project.on_slurm(), timeout=2300)
    assert (project.folder / "results" / "test" / "paper.pdf").is_file()
    jobs = ended_jobs(project, comment="Comment", cpus="AllocCPUS")
    assert {job["state"] for job in jobs} == {"COMPLETED"}
    rules = {job["comment"].removeprefix("rule_").split("_wildcards")[0]: job for job in jobs}
    local = {"fetch_dataset", "make_split", "collect_rows", "build_table", "draw_figure", "compile_paper"}
    assert not rules.keys() & local
    assert rules["measure_convergence"]["partition"] == "main"  # it neither needs nor requests a GPU
    assert int(rules["measure_profile"]["cpus"]) == os.cpu_count()  # the only job on its node
    assert "Nothing to be done" in project.run(project.snakemake("--cores", "1"))


@pytest.mark.slurm_full
@pytest.mark.timeout(3600)
def test_the_quick_config_on_real_data_completes_through_sbatch(copy_project, mirror):
    project = copy_project(yaml.safe_load((ROOT / "config" / "quick.yaml").read_text()) | {"results": "results/test"})
    project.run(project.on_slurm(), timeout=3500)
    jobs = ended_jobs(project)
    assert len(jobs) > 50 and {job["state"] for job in jobs} == {"COMPLETED"}
    assert (project.folder / "results" / "test" / "paper.pdf").is_file()
    assert "Nothing to be done" in project.run(project.snakemake("--cores", "1"))
