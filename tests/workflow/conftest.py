"""A small run of the whole workflow, computed once and copied for each test."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
PARTS = ("cgnn", "paper", "workflow", "profiles", "Snakefile", "config.yaml", "environment.yml", "CITATION.cff")

#: Outputs besides the one that identifies a job.
SECONDARY = re.compile(
    r"\d\.seconds\.csv$|trials\.seconds\.csv$|\d\.npz$|best\.yaml$|/plots/|^paper_data"
    r"|^tables/.*\.(md|tex|json)$|^figures/.*\.(pdf|png|json)$"
)
PAPER = yaml.safe_load((REPOSITORY / "config.yaml").read_text(encoding="utf-8"))


def without(section: dict, *kept: str) -> dict[str, bool]:
    """Switches off every entry except those that are kept."""
    return {name: False for name in section if name not in kept}


TINY = {
    "results": "results/tiny",
    "datasets": {**without(PAPER["datasets"]), "synthetic": {"nodes": 400, "classes": 4, "features": 100}},
    "protocol": {
        "seeds": 2,
        "random_splits": 2,
        "epochs": 3,
        "split_sizes": {"synthetic": {"per_class": 5, "validation": 50, "test": 100}},
    },
    "experiments": {
        **without(PAPER["experiments"]),
        "main": {"models": ["gcn", "cgnn"], "splits": ["fixed"]},
        "published": {"models": ["cgnn"], "splits": ["random"]},
    },
    "residual": {"layers": []},
    "search": {"trials": 2, "finalists": 2, "replicas": 1, "epochs": {"default": 2}},
    "sweeps": {
        "datasets": ["synthetic"],
        "seeds": 1,
        "epochs": {"default": 2},
        "layers": {"models": ["gcn"], "values": [2]},
        "t1": {"models": ["cgnn"], "values": [1]},
        "readings": without(PAPER["sweeps"]["readings"]),
    },
    "profiles": {
        "datasets": ["synthetic"],
        "epochs": 1,
        "layers": [2],
        "t1": [1],
        "methods": without(PAPER["profiles"]["methods"], "gcn", "cgnn_exact"),
    },
    "fidelity": {
        "datasets": ["synthetic"],
        "seeds": 2,
        "variants": without(PAPER["fidelity"]["variants"], "released", "alpha-tabulated"),
    },
    "curves": {"datasets": ["synthetic"], "models": ["cgnn"], "seeds": 1},
    "jobs": {"device": "cpu", "search_workers": 1},
}


@dataclass(frozen=True)
class Project:
    """A copy of the project in a separate folder, with an overlay called tiny.yaml."""

    path: Path

    def configure(self, **changes) -> None:
        """Apply changes to tiny.yaml; two underscores in a name mean a nested key."""
        config = yaml.safe_load((self.path / "tiny.yaml").read_text())
        for name, value in changes.items():
            *parents, last = name.split("__")
            section = config
            for parent in parents:
                section = section.setdefault(parent, {})
            section[last] = value
        (self.path / "tiny.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def command(self, *arguments: str) -> list[str]:
        # --configfile takes every word that follows, so it comes last.
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, "--configfile", "tiny.yaml"]

    def process_options(self) -> dict[str, Any]:
        """Run in this folder, without variables of the test runner, with both output streams in one."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CGNN_", "PYTEST_"))}
        environment = {**clean, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
        streams = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return {"cwd": self.path, "env": environment, **streams}

    def run(self, command: list[str], timeout: float = 1800) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, timeout=timeout, **self.process_options())

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(self.command(*arguments))

    def start(self, *arguments: str) -> subprocess.Popen:
        """Start snakemake in a separate process group, so that a test can kill it with all its children."""
        return subprocess.Popen(self.command(*arguments), start_new_session=True, **self.process_options())

    def planned(self, *arguments: str) -> dict[str, set[str]]:
        """The jobs of a run that would start now: by rule, their main outputs below the results folder."""
        done = self.snakemake("--detailed-summary", *arguments)
        assert done.returncode == 0, done.stdout
        header, *lines = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") > 4]
        jobs: dict[str, set[str]] = {}
        for line in lines:
            row = dict(zip(header, line, strict=False))
            name = row["output_file"].removeprefix("results/tiny/")
            if row["plan"].strip() != "no update" and not SECONDARY.search(name):
                jobs.setdefault(row["rule"], set()).add(name)
        return jobs

    def append(self, file: str, text: str) -> None:
        with open(self.path / file, "a", encoding="utf-8") as stream:
            stream.write(text)


#: Makes each job of a finished tree record which modules it imported; see test_fingerprints_of_jobs.py.
RECORDER = """
def _record_modules() -> None:
    import json
    import os

    folder = Path("modules")
    folder.mkdir(exist_ok=True)
    found = sorted(name for name in sys.modules if name.partition(".")[0] == "cgnn")
    (folder / f"{os.getpid()}.json").write_text(json.dumps({"arguments": sys.argv[1:], "modules": found}))


__import__("atexit").register(_record_modules)

"""


def make_project(path: Path) -> Project:
    """A copy of the code and the tiny config, without results."""
    path.mkdir(parents=True)
    for part in PARTS:
        source = REPOSITORY / part
        if source.is_symlink():
            (path / part).symlink_to(os.readlink(source))
        elif source.is_dir():
            shutil.copytree(source, path / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, path / part)
    (path / "tiny.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False))
    return Project(path)


@pytest.fixture(scope="session")
def finished_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the whole workflow, computed once even if several pytest workers request it.

    During the development of these tests, a tree computed by the current code can be reused: FINISHED_TREE=folder.
    """
    if "FINISHED_TREE" in os.environ:
        return Path(os.environ["FINISHED_TREE"])
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    target = shared / "finished"
    with open(shared / "finished.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "complete").is_file():
            shutil.rmtree(target, ignore_errors=True)
            project = make_project(target)
            entry = target / "cgnn/__main__.py"
            last = 'if __name__ == "__main__":'
            assert last in entry.read_text()
            entry.write_text(entry.read_text().replace(last, RECORDER + last))
            done = project.snakemake()
            assert done.returncode == 0, done.stdout[-6000:]
            (target / "complete").touch()
    return target


@pytest.fixture
def finished(finished_tree: Path, tmp_path: Path) -> Project:
    """A copy of the finished project that a test may edit."""
    shutil.copytree(finished_tree, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A fresh project."""
    return make_project(tmp_path / "project")
