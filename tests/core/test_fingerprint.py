"""Fingerprints of a small test package: what changes them and what does not."""

import pytest

from cgnn.pipeline.fingerprint import PACKAGE, code_fingerprint, import_closure
from cgnn.pipeline.provenance import ALLOCATOR, limit_params

FILES = {
    "__init__.py": "",
    "verbs/__init__.py": "",
    "verbs/train.py": '"""Train."""\nfrom pack.solver import solve\n\n\ndef run():\n    return solve()\n',
    "verbs/draw.py": '"""Draw."""\n\n\ndef run():\n    from pack.style import colour\n    return colour()\n',
    "solver.py": "from . import maths\n\n\ndef solve():\n    return maths.exp(1)\n",
    "maths.py": "def exp(x):\n    # a comment\n    return x + 1\n",
    "style.py": '"""Style."""\n\n\ndef colour():\n    """Blue."""\n    return "blue"\n',
    "models/__init__.py": "",
    "models/base.py": "class Base:\n    size = 1\n",
    "models/gcn.py": "from .base import Base\nfrom ..maths import exp\n\n\nclass GCN(Base):\n    pass\n",
    "table.py": 'MODELS = {"gcn": "pack.models.gcn"}\n',
}


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "pack"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


VERBS = {
    "train": ("pack.verbs.train",),
    "draw": ("pack.verbs.draw",),
    "gcn": ("pack.models.gcn",),
    "table": ("pack.table",),
}


def fingerprints(package):
    return {verb: code_fingerprint(*modules, package=package) for verb, modules in VERBS.items()}


def changed_by(package, file, old, new):
    before = fingerprints(package)
    text = (package / file).read_text()
    assert old in text
    (package / file).write_text(text.replace(old, new))
    after = fingerprints(package)
    return {verb for verb in VERBS if before[verb] != after[verb]}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("maths.py", "# a comment", "# another comment"),
        ("maths.py", "    # a comment\n", ""),
        ("style.py", '"""Style."""', '"""Another docstring of the module."""'),
        ("style.py", '    """Blue."""\n', ""),
        ("style.py", '"blue"', "'blue'"),
        ("maths.py", "x + 1", "(x  +  1)"),
        ("verbs/train.py", "\n\n\ndef", "\n\ndef"),
    ],
)
def test_comments_docstrings_and_formatting_change_no_fingerprint(package, file, old, new):
    assert changed_by(package, file, old, new) == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "dependents"),
    [
        ("style.py", '"blue"', '"red"', {"draw"}),
        ("solver.py", "exp(1)", "exp(2)", {"train"}),
        ("maths.py", "x + 1", "x + 2", {"train", "gcn"}),
        ("models/base.py", "size = 1", "size = 2", {"gcn"}),
        ("verbs/draw.py", "return colour()", "return colour() + colour()", {"draw"}),
        ("table.py", "gcn", "gat", {"table"}),
    ],
)
def test_a_change_affects_exactly_the_fingerprints_of_code_that_imports_it(package, file, old, new, dependents):
    assert changed_by(package, file, old, new) == dependents


def test_an_import_inside_a_function_is_followed(package):
    assert "pack.style" in import_closure("pack.verbs.draw", package=package)


def test_relative_imports_with_one_or_two_dots_are_followed(package):
    closure = import_closure("pack.models.gcn", package=package)
    assert {"pack.models.base", "pack.maths", "pack.models", "pack"} <= closure
    assert "pack.maths" in import_closure("pack.solver", package=package)


def test_a_module_named_only_in_a_string_is_not_followed_but_can_be_passed(package):
    assert "pack.models.gcn" not in import_closure("pack.table", package=package)
    alone = code_fingerprint("pack.table", package=package)
    assert code_fingerprint("pack.table", "pack.models.gcn", package=package) != alone


def test_the_init_file_of_an_imported_package_counts(package):
    before = code_fingerprint("pack.models.gcn", package=package)
    (package / "models" / "__init__.py").write_text("SIDE_EFFECT = 1\n")
    assert code_fingerprint("pack.models.gcn", package=package) != before


def test_circular_imports_are_followed_once(package):
    (package / "maths.py").write_text("from pack import solver\n" + FILES["maths.py"])
    assert {"pack.maths", "pack.solver"} <= import_closure("pack.maths", package=package)


def test_other_packages_are_not_followed(package):
    (package / "maths.py").write_text("import json\nimport packaging.version\n" + FILES["maths.py"])
    assert import_closure("pack.maths", package=package) == {"pack", "pack.maths"}


def test_the_order_of_the_names_does_not_matter(package):
    one = code_fingerprint("pack.table", "pack.maths", package=package)
    assert one == code_fingerprint("pack.maths", "pack.table", package=package)


def test_the_error_names_a_module_that_does_not_exist(package):
    with pytest.raises(ModuleNotFoundError, match=r"pack\.absent"):
        code_fingerprint("pack.absent", package=package)


def test_renaming_a_module_changes_the_fingerprint(package):
    before = code_fingerprint("pack.maths", package=package)
    (package / "maths.py").rename(package / "maths2.py")
    assert code_fingerprint("pack.maths2", package=package) != before


def test_every_module_of_the_project_has_a_fingerprint():
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        assert len(code_fingerprint(name)) == 16


def test_package_init_files_import_no_module_of_the_project():
    # Otherwise every fingerprint would depend on the whole project.
    for path in PACKAGE.rglob("__init__.py"):
        name = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        parents = {".".join(name.split(".")[:depth]) for depth in range(1, name.count(".") + 2)}
        assert import_closure(name) == parents


def test_jobs_depend_on_the_allocator_only_if_their_memory_is_limited():
    assert limit_params(None) == {}
    assert limit_params(540) == {"allocator": code_fingerprint(ALLOCATOR)}
