"""Tables: what a cell shows, what it leaves empty, and the four files."""

import csv
import json

import made_up
import pandas as pd
import pytest
from made_up import exact_sample, rows

from cgnn.__main__ import main
from cgnn.render.catalogue import TABLE_FORMATS, TABLES
from cgnn.render.latex import escape
from cgnn.render.tables import fidelity, fixed_splits, gcn_residual, hyperparameters, random_splits


def written(tmp_path, frame, name="runs.csv"):
    frame.to_csv(tmp_path / name, index=False)
    return tmp_path / name


def cell_of(table, row, column, group=None):
    return next(r for r in table.rows if r.label == row and group in (None, r.group)).cells[column]


def fixed(tmp_path, *parts):
    return fixed_splits.build(written(tmp_path, pd.concat(parts)), made_up.REPORTED)


def test_a_cell_shows_ours_with_n_the_papers_value_and_the_difference_with_its_interval(tmp_path):
    cell = cell_of(fixed(tmp_path, rows("cora", "cgnn", exact_sample(82.5, 1.0, 10))), "CGNN", "Cora")
    assert cell.text == "82.5 ± 1.0 (10)"
    assert cell.under == ("paper 84.2 ± 1.0", "−1.7 [−2.6, −0.8]")
    assert cell.numbers["difference"] == pytest.approx(-1.7)


def test_best_is_bold_only_where_it_differs_from_the_next(tmp_path):
    near = [rows("cora", "cgnn", exact_sample(82.5, 1.0, 10)), rows("cora", "gcn", exact_sample(82.3, 1.0, 10, 1))]
    far = [
        rows("citeseer", "cgnn", exact_sample(72.5, 0.5, 10)),
        rows("citeseer", "gcn", exact_sample(70.3, 0.5, 10, 1)),
    ]
    table = fixed(tmp_path, *near, *far)
    assert not cell_of(table, "CGNN", "Cora").bold
    assert cell_of(table, "CGNN", "Citeseer").bold
    assert not cell_of(table, "GCN", "Citeseer").bold


def test_a_lead_that_only_pairing_shows_is_bold_on_random_splits(tmp_path):
    base = exact_sample(80.0, 3.0, 15)
    frame = pd.concat(
        [
            rows("cora", "gcn", base, split_kind="random"),
            rows("cora", "cgnn", [v + 0.5 + 0.01 * i for i, v in enumerate(base)], split_kind="random"),
        ]
    )
    table = random_splits.build(written(tmp_path, frame), made_up.REPORTED)
    assert cell_of(table, "CGNN", "Cora").bold


def test_missing_cells_say_why(tmp_path):
    table = fixed(
        tmp_path,
        rows("cora", "cgnn", [80.0, 81.0, None]),
        rows("nell", "gat", [None, None], status="out_of_memory"),
        rows("nell", "gcn", [None], status="diverged"),
    )
    assert cell_of(table, "GAT", "NELL").missing == "out of memory"
    assert "paper: out of memory" in cell_of(table, "GAT", "NELL").under
    assert cell_of(table, "GCN", "NELL").missing == "diverged"
    assert cell_of(table, "CGNN", "NELL").missing == "not run"
    assert cell_of(table, "CGNN", "NELL").text == "–"
    assert "1 diverged" in cell_of(table, "CGNN", "Cora").under


def test_partial_nell_is_shown_beside_the_paper_but_never_compared(tmp_path):
    table = fixed(tmp_path, rows("nell_partial", "cgnn", exact_sample(60.0, 1.0, 5)))
    cell = cell_of(table, "CGNN", "NELL (partial labels)")
    assert cell.under == ("paper, all labels 65.4 ± 1.0",)
    assert "difference" not in cell.numbers
    assert any("not comparable" in note for note in table.notes)


def test_each_protocol_is_a_block_of_its_own(tmp_path):
    table = fixed(
        tmp_path,
        rows("cora", "cgnn", [80.0, 81.0], source="search"),
        rows("cora", "cgnn", [82.0, 83.0], source="published"),
        rows("cora", "cgnn", [78.0, 79.0], source="published", preset_name="paper"),
    )
    assert [group.split(",")[0] for group in table.groups] == ["Preset released", "Preset released", "Preset paper"]
    assert cell_of(table, "CGNN", "Cora", table.groups[0]).numbers["value"] == 80.5


def test_a_cells_keys_find_exactly_its_rows(tmp_path):
    frame = made_up.runs(("cora",), seeds=3, splits=3)
    table = fixed_splits.build(written(tmp_path, frame), made_up.REPORTED)
    for row in table.rows:
        cell = row.cells["Cora"]
        chosen = frame
        for name, value in cell.where.items():
            chosen = chosen[chosen[name] == value]
        assert len(chosen) == 3
        assert chosen["test_accuracy"].mean() == pytest.approx(cell.numbers["value"])


def test_residual_depths_stand_beside_the_papers(tmp_path):
    parts = [rows("cora", "gcn_residual", exact_sample(77.0, 1.0, 10), layers=n, variant=f"layers-{n}") for n in (2, 4)]
    table = gcn_residual.build(written(tmp_path, pd.concat(parts)), made_up.REPORTED)
    assert cell_of(table, "4 layers", "Cora, fixed").under[0] == "paper 77.3 ± 2.0"
    assert cell_of(table, "16 layers", "Cora, fixed").missing == "not run"


def test_the_fidelity_table_names_what_reaches_the_published_number(tmp_path):
    from cgnn.paper.fidelity import preset

    seeds = exact_sample(0.0, 0.8, 10)
    frame = pd.concat(
        [
            rows("cora", "cgnn", [82.0 + s for s in seeds], variant="released"),
            rows(
                "cora", "cgnn", [84.1 + s for s in seeds], variant="x", fidelity=preset("released", alpha="tabulated")
            ),
        ]
    )
    table = fidelity.build(written(tmp_path, frame), made_up.REPORTED)
    flipped = cell_of(table, "α starts at the tabulated value", "Cora")
    assert flipped.bold and not cell_of(table, "released, nothing flipped", "Cora").bold
    assert flipped.under[-1] == "Δ +2.1 [+2.1, +2.1]"  # paired: the seeds' noise cancels
    assert "α starts at the tabulated value" in table.notes[0]
    oracle = [row for row in table.rows if row.label.startswith("oracle")]
    assert oracle and all("not a valid protocol" in row.label for row in oracle)


def test_hyperparameters_show_ours_above_the_papers(tmp_path):
    frame = rows("cora", "cgnn", [80.0, 81.0], source="search", lr=3.21e-3, t1=14.4)
    trials = written(tmp_path, made_up.trials(("cora",), count=5), "trials.csv")
    table = hyperparameters.build(written(tmp_path, frame), made_up.REPORTED, trials)
    cell = cell_of(table, "CGNN, fixed", "lr")
    assert (cell.text, cell.under) == ("3.21e-3", ("paper 4.70e-3",))
    assert cell_of(table, "CGNN, fixed", "search").under[0].startswith("5 trials")


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written_in_all_formats_and_agrees_with_itself(finished, name):
    paths = {suffix: finished / "tables" / f"{name}.{suffix}" for suffix in TABLE_FORMATS}
    assert all(path.stat().st_size > 0 for path in paths.values())
    content = json.loads(paths["json"].read_text())
    with open(paths["csv"], newline="") as stream:
        records = list(csv.DictReader(stream))
    assert len(records) == len(content["rows"]) * len(content["columns"])  # a row a cell
    assert paths["tex"].read_text().count(r"\toprule") == 1
    # Every cell of a LaTeX row: as many separators as columns.
    for line in paths["tex"].read_text().splitlines():
        if line.endswith(r"\\") and not line.startswith(r"\multicolumn"):
            assert line.replace(r"\&", "").count("&") == len(content["columns"])
    assert content["caption"] in paths["md"].read_text()


def test_latex_escapes_what_latex_would_misread():
    assert escape("50 % of a_b & α ± 1") == r"50 \% of a\_b \& $\alpha$ $\pm$ 1"


def test_an_unknown_table_and_a_missing_input_are_named(tmp_path, capsys):
    assert main(["table", "fixd_splits", "--out", str(tmp_path / "x")]) == 2
    assert "there are fixed_splits" in capsys.readouterr().err
    assert (
        main(
            [
                "table",
                "fixed_splits",
                "--results",
                str(tmp_path),
                "--reported",
                str(made_up.REPORTED),
                "--out",
                str(tmp_path / "x"),
            ]
        )
        == 2
    )
    assert "runs.csv" in capsys.readouterr().err


def test_without_a_benchmark_the_speed_table_says_so(tmp_path):
    assert main(["table", "speed", "--bench", str(tmp_path / "none.json"), "--out", str(tmp_path / "speed")]) in (
        0,
        None,
    )
    assert "Not measured" in (tmp_path / "speed.md").read_text()
