"""docs/findings.md says which models need more memory on NELL than config/nell_memory.yaml allows."""

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cgnn.__main__ import main
from cgnn.pipeline import plan
from cgnn.pipeline.config import load


@pytest.mark.slow
def test_only_gat_runs_out_of_memory_on_nell(project: Path, graph_file: Callable[[str], Path], tmp_path: Path) -> None:
    graph = graph_file("nell_partial")
    assert not main(["split", "--graph", str(graph), "--name", "fixed", "--out", str(tmp_path / "fixed.json")])
    config = load([project / "config" / name for name in ("nell_partial.yaml", "nell_memory.yaml")])
    options = ["--graph", graph, "--splits", tmp_path, "--memory-limit", config["jobs"]["memory_limit_mb"]]
    states = {}
    for planned in plan.runs(config):
        model, out = planned.training.model, tmp_path / f"{planned.training.model}.csv"
        command = [*planned.training.arguments(), *map(str, options), "--replicas", "0:1", "--out", str(out)]
        # A process of its own, as in the workflow: memory that other tests left allocated would count.
        subprocess.run([sys.executable, "-m", "cgnn", "train", *command], cwd=project, check=True)
        states[model] = next(csv.DictReader(out.open()))["status"]
    assert states == {"gcn": "ok", "cgnn": "ok", "cgnn_discrete": "ok", "gat": "out_of_memory"}
