"""The fingerprint of a job covers every module of cgnn that the job imported."""

import argparse
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from cgnn.datasets.registry import modules_of as dataset_modules
from cgnn.models.registry import modules_of, resolve_method
from cgnn.paper.fidelity import preset
from cgnn.pipeline.fingerprint import DECIDES_NOTHING, PACKAGE, code_fingerprint, import_closure
from cgnn.pipeline.provenance import TABLE_OF_MODELS
from cgnn.render.catalogue import FIGURES, TABLES
from cgnn.training.record import pairs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def named_modules(arguments: list[str]) -> tuple[str, ...]:
    """The modules that the rule of this command names for its fingerprint, besides the module of the command."""
    command, name = arguments[0], arguments[1] if len(arguments) > 1 else ""
    parser = argparse.ArgumentParser()
    for option in ("--model", "--method", "--preset"):
        parser.add_argument(option)
    parser.add_argument("--switch", action="append", default=[])
    options, _ = parser.parse_known_args(arguments[1:])
    if command in ("train", "search"):
        return modules_of(options.model, preset(options.preset, **dict(pairs(options.switch, "--switch"))))
    if command == "profile":
        return modules_of(*resolve_method(options.method, preset(options.preset)))
    if command in ("table", "figure"):
        return ({"table": TABLES, "figure": FIGURES}[command][name].module,)
    if command == "graph":
        return ("cgnn.datasets.registry", *dataset_modules(name))
    if command == "fetch":
        return ("cgnn.datasets.registry", "cgnn.datasets.cache")
    return ("cgnn.datasets.registry",) if command == "split" else ()


#: Modules that do not affect results, and their packages, whose __init__.py has only a docstring (test_fingerprint.py).
NOT_COVERED = {*DECIDES_NOTHING, *(name.rpartition(".")[0] for name in DECIDES_NOTHING)} - {"cgnn"}
TRAINING = ("train", "search", "profile")


def jobs_of(tree: Path) -> list[tuple[list[str], set[str]]]:
    """The arguments of every job of the tree, and the modules that it had imported when it ended.

    Modules that PyG generates in memory at run time, inside the package of a layer, are left out.
    """
    found = [json.loads(path.read_text()) for path in (tree / "modules").glob("*.json")]
    return [(job["arguments"], {name for name in job["modules"] if not name.endswith("_propagate")}) for job in found]


def covered(arguments: list[str]) -> frozenset[str]:
    return import_closure(f"cgnn.cli.{arguments[0]}", *named_modules(arguments))


def test_every_command_of_the_workflow_was_run(finished_tree: Path) -> None:
    run = {arguments[0] for arguments, _ in jobs_of(finished_tree)}
    rules = "".join(path.read_text() for path in (finished_tree / "workflow/rules").glob("*.smk"))
    called = {word.split()[0] for word in rules.split("python -m cgnn ")[1:]}
    assert called - run <= {"fetch"}, "a synthetic graph is not fetched"


def test_every_module_that_a_job_imports_is_covered_or_does_not_affect_results(finished_tree: Path) -> None:
    for arguments, imported in jobs_of(finished_tree):
        missed = imported - covered(arguments) - NOT_COVERED
        if arguments[0] in TRAINING:
            missed -= {TABLE_OF_MODELS}
        assert not missed, f"cgnn {' '.join(arguments[:6])}: its fingerprint misses {sorted(missed)}"


def test_a_changed_constant_in_any_covered_module_changes_the_fingerprints_of_its_jobs(
    finished_tree: Path, tmp_path: Path
) -> None:
    package = tmp_path / "cgnn"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    jobs = {
        (f"cgnn.cli.{arguments[0]}", *named_modules(arguments)): imported
        for arguments, imported in jobs_of(finished_tree)
    }
    before = {modules: code_fingerprint(*modules, package=package) for modules in jobs}
    for name in sorted(set().union(*jobs.values()) - NOT_COVERED - {"cgnn", TABLE_OF_MODELS}):
        path = package.joinpath(*name.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "\nA_CONSTANT = 1\n", encoding="utf-8")
        for modules, imported in jobs.items():
            if name in imported:
                assert code_fingerprint(*modules, package=package) != before[modules], f"{modules[0]} misses {name}"
        path.write_text(text, encoding="utf-8")


TRAIN, SEARCH = {"train", "search_hyperparameters", "measure_profile"}, {"search_hyperparameters"}


@pytest.mark.parametrize(
    ("file", "old", "new", "rules"),
    [
        ("training/experiment.py", "make_deterministic(experiment.threads)", "make_deterministic(1)", TRAIN),
        ("search/trials.py", "threads=1,", "threads=2,", SEARCH),
        ("training/allocator.py", "return bool(mapped", "return bool(not mapped", {"measure_profile"}),
        ("results/schema.py", '"final_train_loss",\n)', '"final_train_loss", "more",\n)', {"train"}),
        ("training/tensors.py", "symmetric_mode=True", "symmetric_mode=False", TRAIN),
        ("cli/train.py", "side_by_side=args.side_by_side", "side_by_side=True", {"train"}),
        ("cli/search.py", "args.seed", "args.seed + 1", SEARCH),
    ],
)
def test_an_edit_that_changes_results_reruns_the_jobs(finished, file, old, new, rules: Iterable[str]) -> None:
    path = finished.path / "cgnn" / file
    assert old in path.read_text(), f"{file} no longer has {old!r}: choose another edit"
    path.write_text(path.read_text().replace(old, new))
    assert set(rules) <= set(finished.planned())


def test_changed_options_rerun_one_model_and_an_additional_model_reruns_nothing(finished) -> None:
    records = finished.path / "cgnn/models/records.py"
    text = records.read_text()
    records.write_text(text + '\nRECORDS["another"] = RECORDS["gcn"]\n')
    assert not TRAIN & set(finished.planned())
    records.write_text(
        text + "\nfrom dataclasses import replace\n"
        'RECORDS["gcn"] = replace(RECORDS["gcn"], options={**RECORDS["gcn"].options, "fused": False})\n'
    )
    planned = finished.planned()
    assert all("/gcn/" in name for name in planned["train"]) and planned["search_hyperparameters"]
    records.write_text(
        text + "\nfrom dataclasses import replace\nRECORDS['gcn'] = replace(RECORDS['gcn'], label='Other')\n"
    )
    planned = finished.planned()
    assert not TRAIN & set(planned) and planned["draw_figure"], "figures show labels"
