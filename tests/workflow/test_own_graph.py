"""The workflow accepts a user's own graph with any file name, and reruns if its content changes."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml

from .conftest import REPOSITORY, Project

ODD = "my data {\u00fc} $(touch pwned) 'x'"


def write_graph(path, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=120)
    edges = rng.integers(120, size=(2, 400))
    path.parent.mkdir(exist_ok=True)
    np.savez(path, features=rng.normal(size=(120, 5)), edges=edges, labels=labels)
    os.utime(path, (1e9, 1e9))  # a date in the past, so that only the content differs


def run(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    return project.run([*command, "--configfile", "own_graph.yaml", "mine.yaml"])


def configure(project: Project, path: str) -> None:
    shutil.copy(REPOSITORY / "config" / "own_graph.yaml", project.path)
    content = {"cache": f"{ODD}/cache", "datasets": {"mine": {"path": path}}, "jobs": {"device": "cpu"}}
    (project.path / "mine.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.mark.slow
def test_a_users_own_graph_needs_no_fixed_split_and_is_never_stale(project):
    path = project.path / ODD / "my graph.npz"
    write_graph(path, seed=0)
    configure(project, f"{ODD}/my graph.npz")
    done = run(project, "data")
    assert done.returncode == 0, done.stdout[-3000:]
    splits = sorted(p.name for p in (project.path / "results" / "mine" / "splits" / "mine").iterdir())
    assert splits == [f"random{i:02d}.json" for i in range(10)]
    assert not list(project.path.glob("pwned*"))

    assert "Nothing to be done" in run(project, "data").stdout
    write_graph(path, seed=1)
    planned = run(project, "-n", "data").stdout
    assert "assemble_graph" in planned, planned[-2000:]

    path.rename(path.with_name("moved.npz"))
    done = run(project, "-n", "data")
    assert done.returncode != 0 and "datasets.mine.path" in done.stdout and "there is no such file" in done.stdout
