"""The committed outcome of a run, and the headline made from it."""

import json
from pathlib import Path

import pytest

from cgnn.errors import UserError
from cgnn.pipeline.publish import BEGIN, END, headline, publish, renew_readme


@pytest.fixture
def results(tmp_path: Path) -> Path:
    tree = tmp_path / "paper"
    for name, text in {
        "runs.csv": "dataset\ncora\n",
        "claims.json": json.dumps(
            {
                "claims": [
                    {
                        "id": "C1",
                        "text": "a",
                        "verdict": "reproduced",
                        "comparisons": [{"passed": True}],
                        "missing": [],
                    },
                    {
                        "id": "C2",
                        "text": "b",
                        "verdict": "partly",
                        "comparisons": [{"passed": True}, {"passed": False}],
                        "missing": ["NELL"],
                    },
                ],
                "counts": {"reproduced": 1, "partly": 1},
            }
        ),
        "tables/fixed_splits.md": "**Table 2.** | a |\n",
        "figures/accuracy_depth_time.png": "picture",
        "data/cora/graph.npz": "heavy",
        "search/cora/fixed/cgnn/released/best.yaml": "lr: 0.01\n",
        "search/cora/fixed/cgnn/released/store/orion.pkl": "store",
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree


def test_publishing_keeps_what_a_reader_opens_and_leaves_graphs_and_stores_behind(results: Path, tmp_path: Path):
    target = tmp_path / "published"
    kept = {path.as_posix() for path in publish(results, target)}
    assert kept == {
        "runs.csv",
        "claims.json",
        "tables/fixed_splits.md",
        "figures/accuracy_depth_time.png",
        "search/cora/fixed/cgnn/released/best.yaml",
    }
    assert (target / "runs.csv").read_text() == (results / "runs.csv").read_text()


def test_publishing_again_drops_what_the_run_no_longer_has(results: Path, tmp_path: Path):
    target = tmp_path / "published"
    publish(results, target)
    (results / "tables/fixed_splits.md").unlink()
    publish(results, target)
    assert not (target / "tables/fixed_splits.md").exists()


def test_publishing_an_empty_folder_says_what_to_do(tmp_path: Path):
    with pytest.raises(UserError, match="holds no results"):
        publish(tmp_path, tmp_path / "published")


def test_the_headline_counts_verdicts_and_carries_the_tables(results: Path, tmp_path: Path):
    target = tmp_path / "published"
    publish(results, target)
    text = headline(target)
    assert "The paper's 2 claims, tested:** 1 reproduced, 1 partly" in text
    assert "| C1 | a | reproduced | 1 of 1 |" in text
    assert "| C2 | b | partly | 1 of 2, 1 not run |" in text
    assert "**Table 2.**" in text and "accuracy_depth_time.png" in text


def test_the_readme_keeps_everything_outside_the_marks(tmp_path: Path):
    readme = tmp_path / "README.md"
    readme.write_text(f"# Title\n{BEGIN}\nold\n{END}\nafter\n")
    renew_readme(readme, "new")
    assert readme.read_text() == f"# Title\n{BEGIN}\nnew\n{END}\nafter\n"
    readme.write_text("# no marks\n")
    with pytest.raises(UserError, match="expected the marks"):
        renew_readme(readme, "new")
