"""The findings page: each of its numbers comes from the committed results."""

from pathlib import Path

import pytest

from cgnn.errors import UserError
from cgnn.render.findings import PAGE, Numbers, render_findings

ROOT = Path(__file__).parents[2]
PUBLISHED = Path("results/published")
CGNN_ON_CORA = ["cora", "fixed", "cgnn", "released", "published", ""]


@pytest.fixture(autouse=True)
def work_in_the_project_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_page_is_the_template_rendered_with_the_committed_results():
    assert PAGE.read_text(encoding="utf-8") == render_findings(PUBLISHED)


def test_a_number_on_the_page_is_computed_from_the_rows():
    rows = [line.split(",") for line in (PUBLISHED / "summary.csv").read_text().splitlines()]
    cell = next(dict(zip(rows[0], row, strict=True)) for row in rows if row[:6] == CGNN_ON_CORA)
    found = Numbers(PUBLISHED).run("cora", "cgnn")
    assert found == f"{float(cell['mean']):.1f} ± {float(cell['std']):.1f}"
    assert Numbers(PUBLISHED).paper("cora", "cgnn") == "84.2 ± 1.0"


def test_the_error_names_a_model_that_was_not_run():
    with pytest.raises(UserError, match="has no dataset cora, model no_such_model"):
        Numbers(PUBLISHED).run("cora", "no_such_model")
