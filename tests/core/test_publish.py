"""Publishing the results of a run: which files are copied or deleted, the manifest, and the headline."""

import csv
import json
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from cgnn.__main__ import main
from cgnn.errors import UserError
from cgnn.pipeline.crate import CRATE, PROFILES
from cgnn.pipeline.manifest import MANIFEST, read_manifest
from cgnn.pipeline.publish import BEGIN, END, UNCOMMITTED, adopt, commit_of, headline, publish, renew_readme


@pytest.fixture
def results(tmp_path: Path) -> Path:
    tree = tmp_path / "paper"
    passed, failed = {"passed": True}, {"passed": False}
    claims = [
        {"id": "C1", "text": "a", "verdict": "reproduced", "comparisons": [passed], "missing": []},
        {"id": "C2", "text": "b", "verdict": "partly", "comparisons": [passed, failed], "missing": ["NELL"]},
    ]
    for name, text in {
        "runs.csv": "dataset\ncora\n",
        "claims.json": json.dumps({"claims": claims, "counts": {"reproduced": 1, "partly": 1}}),
        "tables/fixed_splits.md": "**Table 2.** | a |\n",
        "figures/accuracy_depth_time.png": "picture",
        "data/cora/graph.npz": "heavy",
        "search/cora/fixed/cgnn/released/best.yaml": "lr: 0.01\n",
        "search/cora/fixed/cgnn/released/store/orion.pkl": "store",
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


def test_publishing_copies_what_a_reader_opens_but_no_graphs_or_stores(results: Path, tmp_path: Path):
    target = tmp_path / "published"
    kept = set(publish(results, target))
    assert {name for name in kept if not name.startswith("code/")} == {
        "runs.csv",
        "claims.json",
        "tables/fixed_splits.md",
        "figures/accuracy_depth_time.png",
        "search/cora/fixed/cgnn/released/best.yaml",
    }
    assert (target / "runs.csv").read_text() == (results / "runs.csv").read_text()


def test_publishing_again_deletes_files_that_the_run_no_longer_has(target: Path, results: Path):
    (results / "tables/fixed_splits.md").unlink()
    publish(results, target)
    assert not (target / "tables/fixed_splits.md").exists()


@pytest.fixture
def target(results: Path, tmp_path: Path) -> Path:
    """The folder to which ``results`` was published."""
    publish(results, tmp_path / "published")
    return tmp_path / "published"


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_refused(results: Path, target: Path, match: str, watched: Path) -> None:
    before = files_in(watched)
    with pytest.raises(UserError, match=match):
        publish(results, target)
    assert files_in(watched) == before


def test_a_folder_that_publish_did_not_make_is_refused(results: Path, tmp_path: Path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("a page")
    assert_refused(results, docs, "has files that", watched=tmp_path)


@pytest.mark.parametrize("target", [".", "..", "../.."])
def test_the_checkout_and_the_folders_above_it_are_refused(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
):
    checkout = tmp_path / "a" / "b"
    (checkout / ".git").mkdir(parents=True)
    (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    shutil.move(results, checkout / "results")
    monkeypatch.chdir(checkout)
    assert_refused(Path("results"), Path(target), "overlaps", watched=tmp_path)


@pytest.mark.parametrize("target", ["paper", "paper/published", "."])
def test_a_folder_that_overlaps_the_results_is_refused(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
):
    monkeypatch.chdir(tmp_path)
    assert_refused(results, Path(target), "overlaps", watched=tmp_path)


def test_the_command_refuses_with_a_one_line_message(results: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["publish", "--results", str(results), "--out", str(results), "--files-only"]) == 2
    assert "overlaps the results" in capsys.readouterr().err


def test_a_published_file_that_was_edited_is_named_and_nothing_is_changed(target: Path, results: Path):
    (target / "tables/fixed_splits.md").write_text("edited by hand")
    (results / "tables/fixed_splits.md").unlink()
    assert_refused(results, target, r"last wrote: tables/fixed_splits\.md\.", watched=target)


def test_a_file_that_publish_did_not_write_is_kept_and_never_overwritten(target: Path, results: Path):
    (target / "tables" / "mine.txt").write_text("mine")
    (results / "runs.csv").write_text("dataset\nciteseer\n")
    publish(results, target)
    assert (target / "tables" / "mine.txt").read_text() == "mine"
    assert (target / "runs.csv").read_text() == "dataset\nciteseer\n"
    (target / "sweeps.csv").write_text("mine too")
    (results / "sweeps.csv").write_text("dataset\ncora\n")
    assert_refused(results, target, r"last wrote: sweeps\.csv\.", watched=target)


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt", "linked/outside.txt"])
def test_a_manifest_that_names_a_file_outside_its_folder_is_refused(
    target: Path, results: Path, tmp_path: Path, name: str
):
    (tmp_path / "outside.txt").write_text("precious")
    (target / "linked").symlink_to(tmp_path)
    content = json.loads((target / MANIFEST).read_text())
    digest = sha256(b"precious").hexdigest()
    content["files"].append({"path": name, "sha256": digest, "size": 8, "commit": "abc"})
    (target / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(UserError, match="outside"):
        publish(results, target)
    assert (tmp_path / "outside.txt").read_text() == "precious"


def test_nothing_is_written_through_a_symbolic_link(results: Path, tmp_path: Path):
    target, elsewhere = tmp_path / "published", tmp_path / "elsewhere"
    (results / "tables/fixed_splits.md").rename(results / "tables.md")
    publish(results, target)
    elsewhere.mkdir()
    (target / "tables").symlink_to(elsewhere)
    (results / "tables.md").rename(results / "tables/fixed_splits.md")
    assert_refused(results, target, r"tables/fixed_splits\.md", watched=tmp_path)


@pytest.mark.parametrize("failing", range(1, 8))
def test_an_error_in_the_middle_leaves_the_folder_as_it_was(
    target: Path, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
):
    (results / "runs.csv").write_text("dataset\nciteseer\n")
    (results / "sweeps.csv").write_text("dataset\nciteseer\n")
    (results / "tables/fixed_splits.md").unlink()
    before, rename, calls = files_in(tmp_path), os.replace, iter(range(1, 100))

    def fail_once(source: Path, place: Path) -> None:
        if next(calls) == failing:
            raise OSError(28, "No space left on device")
        rename(source, place)

    monkeypatch.setattr("cgnn.pipeline.manifest.os.replace", fail_once)
    with pytest.raises(UserError, match="No space left"):
        publish(results, target)
    assert files_in(tmp_path) == before


def test_the_manifest_lists_every_file_with_its_hash_and_size(target: Path):
    found = files_in(target)
    del found[MANIFEST]
    recorded = {entry.path: (entry.sha256, entry.size) for entry in read_manifest(target).files}
    assert recorded == {name: (sha256(content).hexdigest(), len(content)) for name, content in found.items()}


def test_publishing_the_same_results_later_changes_no_byte(
    target: Path, results: Path, monkeypatch: pytest.MonkeyPatch
):
    before = files_in(target)
    os.utime(results / "runs.csv", (2e9, 2e9))
    monkeypatch.setattr("cgnn.pipeline.publish.commit_of", lambda code: "another")
    monkeypatch.setattr("cgnn.pipeline.publish._iso", lambda timestamp=None: "2030-01-01T00:00:00+00:00")
    publish(results, target)
    assert files_in(target) == before


def test_publishing_works_after_a_folder_is_adopted(target: Path, results: Path):
    (target / MANIFEST).unlink()
    (target / "notes.txt").write_text("mine")
    before = files_in(target)
    assert_refused(results, target, "--adopt", watched=target)
    adopt(target, code=Path(__file__).parents[2])
    after = files_in(target)
    del before[CRATE]  # it names the commit and the time of the run, which adopting records again
    assert {name: after[name] for name in before} == before
    assert "notes.txt" not in {entry.path for entry in read_manifest(target).files}
    publish(results, target)


def test_adopting_records_the_current_commit_for_a_changed_file(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    target = tmp_path / "published"
    monkeypatch.setattr("cgnn.pipeline.publish.commit_of", lambda code: "first")
    publish(results, target)
    (target / "claims.json").write_text((target / "claims.json").read_text() + "\n")
    monkeypatch.setattr("cgnn.pipeline.publish.commit_of", lambda code: "second")
    adopt(target)
    manifest = read_manifest(target)
    assert {entry.path for entry in manifest.files if entry.commit == "second"} == {"claims.json", CRATE}
    assert {run.commit for run in manifest.runs} == {"first", "second"}


def test_a_folder_without_rows_is_not_adopted(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("a page")
    with pytest.raises(UserError, match=r"contains no runs\.csv"):
        adopt(tmp_path / "docs")


def test_the_commit_of_the_code_is_the_newest_commit_that_contains_it(tmp_path: Path):
    def git(*words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", *who, *words]
        return subprocess.run(command, cwd=checkout, check=True, capture_output=True, text=True).stdout.strip()

    checkout, commits = tmp_path / "checkout", []
    (checkout / "cgnn").mkdir(parents=True)
    git("init", "-q")
    for number in (1, 2):
        (checkout / "cgnn" / "a.py").write_text(f"A = {number}\n")
        git("add", ".")
        git("commit", "-qm", str(number))
        commits.append(git("rev-parse", "HEAD"))
    (checkout / "README.md").write_text("words")
    git("add", ".")
    git("commit", "-qm", "words alone")
    assert commit_of(checkout) == commits[1]
    (checkout / "cgnn" / "a.py").write_text("A = 1\n")
    assert commit_of(checkout) == commits[0]
    (checkout / "cgnn" / "a.py").write_text("A = 3\n")
    assert commit_of(checkout) == UNCOMMITTED
    (checkout / "cgnn" / "a.py").write_text("A = 2\n")
    (checkout / "cgnn" / "b.py").write_text("B = 1\n")
    assert commit_of(checkout) == UNCOMMITTED


def test_publishing_an_empty_folder_says_what_to_do(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="contains no results"):
        publish(tmp_path / "empty", tmp_path / "published")


def test_the_headline_of_the_committed_results_contains_findings_table_and_verdicts():
    published = Path(__file__).parents[2] / "results" / "published"
    text = headline(published)
    counts = json.loads((published / "claims.json").read_text())["counts"]
    assert f"{counts['reproduced']} reproduced" in text
    columns = ("dataset", "split_kind", "model", "preset", "hyperparameter_source", "variant")
    wanted = ["cora", "fixed", "cgnn", "released", "search", ""]
    rows = csv.DictReader((published / "summary.csv").open())
    cell = next(row for row in rows if [row[column] for column in columns] == wanted)
    (line,) = [line for line in text.splitlines() if line.startswith("| CGNN |")]
    assert line.split("|")[2].strip() == f"{float(cell['mean']):.1f} ± {float(cell['std']):.1f}"
    assert "84.2 ± 1.0" in line, "the paper's value for Cora"
    assert len([line for line in text.splitlines() if line[:2] in ("1.", "2.", "3.", "4.", "5.")]) >= 3


def test_the_readme_keeps_everything_outside_the_markers(tmp_path: Path):
    readme = tmp_path / "README.md"
    readme.write_text(f"# Title\n{BEGIN}\nold\n{END}\nafter\n")
    renew_readme(readme, "new")
    assert readme.read_text() == f"# Title\n{BEGIN}\nnew\n{END}\nafter\n"
    readme.write_text("# no marks\n")
    with pytest.raises(UserError, match="expected the markers"):
        renew_readme(readme, "new")


def crate_of(target: Path) -> dict[str, dict]:
    return {entity["@id"]: entity for entity in json.loads((target / CRATE).read_text())["@graph"]}


def ids(value: object) -> set[str]:
    return {item["@id"] for item in (value if isinstance(value, list) else [value])}  # type: ignore[index]


def test_the_folder_is_a_workflow_run_crate_that_lists_every_file(target: Path):
    """The entities that RO-Crate 1.1, Workflow RO-Crate 1.0 and Workflow Run Crate 0.5 require."""
    found = crate_of(target)
    assert ids(found[CRATE]["conformsTo"]) >= {"https://w3id.org/ro/crate/1.1"}
    root = found["./"]
    assert root["name"] and root["description"] and root["datePublished"] and ids(root["license"]) <= set(found)
    assert ids(root["conformsTo"]) == set(PROFILES) <= set(found)
    published = {entry.path: entry for entry in read_manifest(target).files if entry.path != CRATE}
    assert set(published) <= ids(root["hasPart"])
    for name, entry in published.items():
        assert "File" in found[name]["@type"]
        assert (found[name]["sha256"], found[name]["contentSize"]) == (entry.sha256, str(entry.size))
    workflow = found[root["mainEntity"]["@id"]]
    assert workflow["@type"] == ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
    assert "snakemake" in found[workflow["programmingLanguage"]["@id"]]["name"].lower()
    (run,) = (found[name] for name in ids(root["mentions"]))
    assert run["@type"] == "CreateAction" and run["instrument"] == {"@id": workflow["@id"]}
    assert {name for name in published if not name.startswith("code/")} == ids(run["result"])
    assert "code/config.yaml" in ids(run["object"])
    assert sum("ind.cora." in name and len(found[name]["sha256"]) == 64 for name in ids(run["object"])) == 8
    assert run["endTime"] and ids(run["agent"]) <= set(found)


def test_the_error_names_a_crate_that_was_edited(target: Path, results: Path):
    (target / CRATE).write_text("{}")
    (results / "runs.csv").write_text("dataset\nciteseer\n")
    assert_refused(results, target, rf"last wrote: {CRATE}\.", watched=target)


def test_the_benchmark_that_a_verdict_used_is_published(results: Path, tmp_path: Path):
    (results / "bench.json").write_text("{}")
    assert "bench.json" in publish(results, tmp_path / "published")
