"""Results that lack a run, an interval or the benchmark give texts that are true of them, and no error."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import synthetic_results as synthetic

from cgnn.__main__ import main
from cgnn.analysis.rows import load_rows
from cgnn.errors import UserError
from cgnn.render.findings import Numbers
from cgnn.render.headline import headline
from cgnn.render.paper_data import _replicas
from cgnn.render.readings import readings
from cgnn.render.table import plain
from cgnn.render.tables import hyperparameters, propagation
from cgnn.render.tables.fixed_splits import build as fixed_splits

PUBLISHED = synthetic.ROOT / "results" / "published"


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the published results without figures and searches, to leave something out of."""
    monkeypatch.chdir(synthetic.ROOT)
    ignored = shutil.ignore_patterns("figures", "search", "code", "*.pdf", "*.html")
    return shutil.copytree(PUBLISHED, tmp_path / "published", ignore=ignored)


def leave_out(path: Path, query: str) -> None:
    rows = pd.read_csv(path, low_memory=False, dtype=str, keep_default_na=False)
    rows.query(f"not ({query})").to_csv(path, index=False)


def test_a_propagation_without_an_interval_is_not_read(published: Path) -> None:
    leave_out(published / "runs.csv", "model == 'cgnn_discrete' and replica != '0'")
    text = readings({"propagation": plain(propagation.build(published / "runs.csv"))})["propagation"]
    assert "APPNP" in text and "Euler" not in text


def test_without_the_benchmark_the_headline_names_the_gcn_of_the_profiles(published: Path) -> None:
    """Profiles time PyG's propagation with our encoder, and a residual GCN is no implementation of GCN."""
    assert "PyG's GCN with dense features (paper: 56 times" in headline(published)[-1].text
    (published / "bench.json").unlink()
    text = headline(published)[-1].text
    assert "PyG's GCN with our sparse encoder (paper: 56 times" in text
    assert "dense features" not in text and "Compared with faster" not in text


def test_the_headline_says_where_the_printed_equations_were_run(published: Path) -> None:
    leave_out(published / "summary.csv", "preset == 'paper' and dataset != 'cora'")
    assert headline(published)[0].text.endswith("(significantly) with the printed one on Cora.")


def test_a_finding_without_its_numbers_is_an_error_and_never_nan(published: Path) -> None:
    leave_out(published / "runs.csv", "model == 'appnp' and split_kind == 'random'")
    leave_out(published / "profiles.csv", "method == 'gat'")
    leave_out(published / "summary.csv", "model == 'cgnn_weight'")
    numbers = Numbers(published)
    with pytest.raises(UserError, match="too few runs"):
        numbers.gap("cora", "cgnn", "appnp", "random")
    with pytest.raises(UserError, match="lacks cgnn_adjoint or gat"):
        numbers.adjoint_depth("cora", "gat", "cgnn_adjoint")
    with pytest.raises(UserError, match="no cgnn_weight on cora"):
        numbers.from_paper("cora", "cgnn_weight")
    with pytest.raises(UserError, match="no C99"):
        numbers.verdict("C99")


def test_only_values_that_a_search_tried_are_called_found() -> None:
    files = (PUBLISHED / "runs.csv", synthetic.REPORTED, PUBLISHED / "trials.csv")
    notes = " ".join(hyperparameters.build(*files).notes)
    assert "derivative dropout 0." in notes and "solver steps" not in notes
    assert "because all searches have the same seed" in notes


def test_the_note_on_gode_names_the_models_that_were_run(published: Path) -> None:
    leave_out(published / "summary.csv", "model == 'gat_gode'")
    (note,) = [note for note in fixed_splits(published / "summary.csv", synthetic.REPORTED).notes if "GODE" in note]
    assert "Poli et al." in note and "GAT-GODE" not in note


def test_a_training_that_two_tables_name_is_counted_once() -> None:
    """CGNN with the gradient through E is a variant of the like-for-like runs and of the table of switches."""
    runs, fidelity = (load_rows(PUBLISHED / f"{name}.csv") for name in ("runs", "fidelity"))
    flows = fidelity[fidelity["variant"] == "source_gradient-flows"]
    assert _replicas([runs]) == len(runs)
    assert len(flows) == 30
    assert _replicas([runs, fidelity]) == len(runs) + len(fidelity) - len(flows)


def test_the_running_time_table_names_its_gcn(published: Path) -> None:
    (published / "bench.json").unlink()
    common = ["--results", str(published), "--reported", str(synthetic.REPORTED)]
    assert main(["table", "running_time", *common, "--out", str(published / "tables" / "running_time")]) in (0, None)
    text = (published / "tables" / "running_time.md").read_text(encoding="utf-8")
    assert "PyG's GCN with our sparse encoder" in text and "dense features)" not in text
