"""The example in docs/adding_a_model.md works in a copy of the package."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cgnn.datasets.graph import save_graph
from cgnn.datasets.synthetic import Parameters, generate


def block(page: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert found is not None, f"the page has no {language} block"
    return found[1]


def test_the_example_of_the_page_trains_and_changes_no_other_fingerprint(project: Path, tmp_path: Path) -> None:
    page = (project / "docs" / "adding_a_model.md").read_text(encoding="utf-8")
    for folder in ("cgnn", "paper"):
        shutil.copytree(project / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}

    def python(*words: str) -> str:
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    fingerprint = (
        "from cgnn.pipeline.provenance import *; from cgnn.paper.fidelity import preset; import cgnn;"
        "print(cgnn.__file__,"
        "*(training_fingerprint(m, preset('released')) for m in ('gcn', 'cgnn')))"
    )
    before = python("-c", fingerprint)
    assert str(tmp_path) in before, "the copy of the package must be imported"

    (tmp_path / "cgnn/models/ssgc.py").write_text(block(page, "python"), encoding="utf-8")
    table = tmp_path / "cgnn/models/records.py"
    opening = "RECORDS: dict[str, ModelRecord] = {\n"
    text = table.read_text(encoding="utf-8")
    assert opening in text
    table.write_text(text.replace(opening, opening + block(page, "record")), encoding="utf-8")

    save_graph(generate("synthetic", Parameters(nodes=300, classes=3)), tmp_path / "graph.npz")
    words = ["--dataset", "synthetic", "--graph", "graph.npz", "--model", "ssgc", "--epochs", "30"]
    words += ["--set", "jump=0.1", "--out", "ssgc.csv"]
    assert "synthetic fixed ssgc released, published hyperparameters: test " in python("-m", "cgnn", "train", *words)
    with open(tmp_path / "ssgc.csv", encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["status"], row["layers"], row["t1"], row["own"]) == ("ok", "16", "", "jump=0.1")
    assert float(row["test_accuracy"]) > 50, "a model that learned is better than chance on three classes"
    assert python("-c", fingerprint) == before

    settings = (
        "from cgnn.models import names, registry; from cgnn.search.priors import parse_prior;"
        "from cgnn.render.style import look;"
        "print(names.model('ssgc'), registry.published('pubmed', 'fixed', 'ssgc').own, look('ssgc').marker,"
        "parse_prior('jump', 'uniform(0, 0.5)', '', registry.types_of('ssgc')))"
    )
    assert python("-c", settings).strip() == "S²GC (('jump', 0.1),) H uniform(0, 0.5)"
