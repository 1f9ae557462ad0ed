"""``pip install cgnn`` installs what ``from cgnn import CGNN`` needs; the workflow is an extra."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

CORE = {"numpy", "scipy", "torch"}
#: What the library must not import, whether or not it is installed.
WORKFLOW = ("pandas", "torch_geometric", "torchdiffeq", "yaml", "snakemake", "matplotlib", "orion", "jsonschema")


def test_the_library_imports_no_package_of_the_workflow(modules_after):
    imported = modules_after("from cgnn import CGNN, CGNNConv, Fidelity, Graph; import cgnn.paper.fidelity")
    assert not imported & set(WORKFLOW)


def test_the_command_line_names_a_missing_package_of_the_workflow():
    code = "import sys; sys.modules['yaml'] = None; from cgnn.__main__ import main; sys.exit(main(['train', '--help']))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "cgnn: needs the package yaml; run `pip install 'cgnn[workflow]'`\n"


def closure(names):
    """The installed distributions with these names and all their requirements, without extras."""
    found, waiting = {}, list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        found[name] = distribution(name)
        needed = [Requirement(text) for text in found[name].requires or []]
        waiting += [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


def link(names, site):
    """Make exactly these packages and their requirements importable from a folder."""
    for package in closure(names).values():
        root = Path(str(package.locate_file("")))
        for top in {file.parts[0] for file in package.files or [] if file.parts[0] != ".."}:
            if top != "__pycache__" and (root / top).exists() and not (site / top).exists():
                (site / top).symlink_to(root / top)


@pytest.mark.slow
def test_the_wheel_alone_can_train_one_step(project, tmp_path):
    pytest.importorskip("setuptools")
    source = tmp_path / "source"  # a build in the repository would create files there
    source.mkdir()
    shutil.copytree(project / "cgnn", source / "cgnn", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(project / name, source)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path), str(source)]
    subprocess.run([*pip, *build], check=True)
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    (wheel,) = tmp_path.glob("cgnn-*.whl")

    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    listed = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist")]
    requirements = [Requirement(text) for text in listed]
    assert {r.name for r in requirements if r.marker is None} == CORE
    assert {line.removeprefix("Provides-Extra: ") for line in lines if line.startswith("Provides-Extra")} >= {
        "workflow",
        "dev",
    }

    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    (site,) = environment.glob("lib/python*/site-packages")
    link(CORE, site)
    subprocess.run(
        [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)], check=True, env=clean
    )

    script = tmp_path / "step.py"
    script.write_text(
        f"""
import importlib.util, torch
assert not [name for name in {WORKFLOW} if importlib.util.find_spec(name)], "the environment is not fresh"
from cgnn import CGNN
import cgnn
assert cgnn.__file__.startswith({str(environment)!r}), cgnn.__file__
edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
x, y = torch.rand(3, 5).to_sparse_csr(), torch.tensor([0, 1, 0])
for options in ({{}}, {{"weight": True}}, {{"fidelity": "paper"}}, {{"variant": "discrete"}}):
    model = CGNN(5, 4, 2, 3, t1=2.0, **options)
    before = [p.detach().clone() for p in model.parameters()]
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.nn.functional.cross_entropy(model(x, edges), y).backward()
    optimiser.step()
    model.after_step()
    assert any(not torch.equal(a, b) for a, b in zip(before, model.parameters()))
try:
    CGNN(5, 4, 2, 3, t1=2.0, fidelity=cgnn.Fidelity(solver="rk4"))(x, edges)
except Exception as error:
    assert "needs torchdiffeq, which is not installed" in str(error), error
else:
    raise SystemExit("torchdiffeq was found")
""",
        encoding="utf-8",
    )
    subprocess.run([str(python), str(script)], check=True, cwd=tmp_path, env=clean)
    verb = [str(python), "-m", "cgnn", "train", "--help"]
    help_text = subprocess.run(verb, capture_output=True, text=True, cwd=tmp_path, env=clean, check=False)
    assert help_text.returncode == 2 and "pip install 'cgnn[workflow]'" in help_text.stderr
