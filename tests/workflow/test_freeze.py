"""A run uses the code with which it was started."""

import pytest

from cgnn.errors import UserError
from cgnn.pipeline.freeze import CONFIG, check_frozen, freeze, frozen_config, frozen_path


@pytest.fixture
def source(tmp_path):
    for name, text in (("cgnn/a.py", "A = 1\n"), ("paper/reported.yaml", "x: 1\n"), ("workflow/rules/a.smk", "")):
        (tmp_path / "source" / name).parent.mkdir(parents=True)
        (tmp_path / "source" / name).write_text(text)
    (tmp_path / "source/config.yaml").write_text("results: r\n")
    return tmp_path / "source"


def test_the_copy_contains_code_and_config_and_is_written_once(source, tmp_path):
    results, config = str(tmp_path / "results"), {"results": "r", "search": {"trials": 5}}
    target = frozen_path(source, results, config)
    freeze(source, target, results, config)
    freeze(source, target, results, config)
    assert (target / "cgnn/a.py").read_text() == "A = 1\n"
    assert frozen_config(target) == config
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_different_code_or_config_has_a_separate_copy(source, tmp_path):
    places = {frozen_path(source, str(tmp_path), {"seeds": seeds}) for seeds in (1, 2)}
    (source / "cgnn/a.py").write_text("A = 2\n")
    places.add(frozen_path(source, str(tmp_path), {"seeds": 1}))
    assert len(places) == 3


@pytest.mark.parametrize("edit", ["cgnn/a.py", "cgnn/added.py", "workflow/rules/a.smk", CONFIG, "torch.py", "deleted"])
def test_a_copy_that_does_not_have_the_hash_in_its_name_is_refused(source, tmp_path, edit):
    """A results folder from somebody else may contain any code under the name of our copy."""
    results, config = str(tmp_path / "results"), {"seeds": 1}
    target = frozen_path(source, results, config)
    freeze(source, target, results, config)
    check_frozen(target)
    if edit == "deleted":
        (target / "cgnn/a.py").unlink()
    else:
        (target / edit).write_text('{"seeds": 2}')
    with pytest.raises(UserError, match="does not have the hash in its name"):
        freeze(source, target, results, config)
    with pytest.raises(UserError, match="edited or damaged"):
        check_frozen(target)


def test_a_link_is_refused_and_compiled_modules_are_deleted(source, tmp_path):
    """Python prefers the folder cgnn/a to cgnn/a.py, and a compiled module of the right date to its source."""
    results = str(tmp_path / "results")
    target = frozen_path(source, results, {})
    freeze(source, target, results, {})
    (target / "cgnn/__pycache__").mkdir()
    (target / "cgnn/__pycache__/a.cpython-311.pyc").write_bytes(b"anything")
    freeze(source, target, results, {})
    assert not (target / "cgnn/__pycache__").exists()
    (tmp_path / "elsewhere").mkdir()
    (target / "cgnn/a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="edited or damaged"):
        freeze(source, target, results, {})


def test_an_edit_between_planning_and_freezing_is_refused(source, tmp_path):
    target = frozen_path(source, str(tmp_path), {})
    (source / "cgnn/a.py").write_text("A = 2\n")
    with pytest.raises(UserError, match="edited while the DAG was being planned"):
        freeze(source, target, str(tmp_path), {})


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_jobs_run_the_frozen_code_although_the_working_tree_is_broken_meanwhile(project):
    """The code is overwritten while the graph is being assembled, before the training starts."""
    target = "results/tiny/runs/synthetic/random/cgnn/released/published/0-1.csv"
    process = project.start(target)
    started = project.path / "results/tiny/logs/assemble_graph/synthetic.log"
    while process.poll() is None and not started.exists():
        pass
    for path in (project.path / "cgnn").rglob("*.py"):
        path.write_text("this is no Python\n")
    output = process.communicate()[0]
    assert process.returncode == 0, output
    assert (project.path / target).is_file()
