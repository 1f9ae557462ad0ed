"""The packages of cgnn import in one direction only, and the linter reports an import in the other direction."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
LINT = Path(sys.executable).with_name("lint-imports")

pytestmark = pytest.mark.skipif(not LINT.is_file(), reason="import-linter is not installed")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([LINT, "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_a_backward_import_breaks_the_contract(tmp_path):
    shutil.copytree(PROJECT / "cgnn", tmp_path / "cgnn", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    done = lint(tmp_path)
    assert done.returncode == 0, done.stdout
    with open(tmp_path / "cgnn" / "models" / "gcn.py", "a", encoding="utf-8") as stream:
        stream.write("\nfrom cgnn.pipeline import plan\n")
    done = lint(tmp_path)
    assert done.returncode != 0 and "cgnn.models.gcn -> cgnn.pipeline.plan" in done.stdout


def test_only_five_modules_are_outside_a_package():
    loose = {path.stem for path in (PROJECT / "cgnn").glob("*.py")}
    assert loose == {"__init__", "__main__", "errors", "files", "seeds"}
