"""Tables: the content of cells, missing values, and the output formats."""

import csv
import json
import math

import pandas as pd
import pytest
import synthetic_results as synthetic
from synthetic_results import exact_sample, rows

from cgnn.__main__ import main
from cgnn.analysis.rows import records
from cgnn.analysis.statistics import Difference
from cgnn.analysis.summary import summarise
from cgnn.datasets.synthetic import Parameters, generate
from cgnn.files import write_csv
from cgnn.paper.fidelity import preset
from cgnn.paper.reported import load_reported
from cgnn.render import latex, markdown
from cgnn.render.catalogue import TABLE_FORMATS, TABLES
from cgnn.render.cells import change_cell
from cgnn.render.products import load_tables
from cgnn.render.readings import readings
from cgnn.render.table import Table, write_table
from cgnn.render.tables import (
    datasets,
    fidelity,
    fixed_splits,
    gcn_residual,
    hyperparameters,
    propagation,
    random_splits,
    running_time,
    split_rules,
)

PRINTED = load_reported(synthetic.REPORTED)


def written(tmp_path, frame, name="runs.csv"):
    frame.to_csv(tmp_path / name, index=False)
    return tmp_path / name


def summarised(tmp_path, *parts):
    summary = summarise(pd.concat(parts, ignore_index=True), PRINTED)
    write_csv(tmp_path / "summary.csv", list(summary.columns), records(summary))
    return tmp_path / "summary.csv"


def cell_of(table, row, column, group=None):
    return next(r for r in table.rows if r.label == row and group in (None, r.group)).cells[column]


def fixed(tmp_path, *parts):
    return fixed_splits.build(summarised(tmp_path, *parts), synthetic.REPORTED)


def test_a_dataset_has_one_column_for_our_value_and_one_for_the_papers(tmp_path):
    table = fixed(tmp_path, rows("cora", "cgnn", exact_sample(82.5, 1.0, 10)))
    ours, paper = cell_of(table, "CGNN", "Cora, ours"), cell_of(table, "CGNN", "Cora, paper")
    assert (ours.text, ours.under) == ("82.5 ± 1.0", ()) and (paper.text, paper.under) == ("84.2 ± 1.0", ())
    assert ours.numbers["difference"] == pytest.approx(-1.7)
    assert (ours.numbers["difference_low"], ours.numbers["difference_high"]) == pytest.approx((-2.64, -0.76), abs=0.01)
    assert "10 seeds" in table.caption
    assert table.columns == ("Cora, ours", "Cora, paper")  # no column for datasets that were not run


def test_a_graph_that_is_not_in_the_paper_has_no_column_of_the_paper(tmp_path):
    table = fixed(tmp_path, rows("my_graph", "cgnn", exact_sample(82.5, 1.0, 10)))
    assert table.columns == ("my graph",)
    assert "paper" not in table.caption
    mixed = fixed(tmp_path, rows("my_graph", "cgnn", [80.0, 81.0]), rows("cora", "cgnn", [80.0, 81.0]))
    assert mixed.columns == ("Cora, ours", "Cora, paper", "my graph, ours")


def test_models_beyond_the_paper_are_in_a_separate_group(tmp_path):
    near = rows("cora", "cgnn", exact_sample(82.5, 1.0, 10)), rows("cora", "appnp", exact_sample(90.0, 1.0, 10, 1))
    table = fixed(tmp_path, *near)
    assert table.rows[-1].group.endswith("models beyond the paper")
    assert cell_of(table, "APPNP", "Cora, paper").text == "–"
    assert not cell_of(table, "APPNP", "Cora, ours").bold  # the best is marked among the paper's models


def test_the_best_value_is_bold_only_if_it_differs_from_the_next(tmp_path):
    near = [rows("cora", "cgnn", exact_sample(82.5, 1.0, 10)), rows("cora", "gcn", exact_sample(82.3, 1.0, 10, 1))]
    far = [
        rows("citeseer", "cgnn", exact_sample(72.5, 0.5, 10)),
        rows("citeseer", "gcn", exact_sample(70.3, 0.5, 10, 1)),
    ]
    table = fixed(tmp_path, *near, *far)
    assert not cell_of(table, "CGNN", "Cora, ours").bold
    assert cell_of(table, "CGNN", "Citeseer, ours").bold
    assert not cell_of(table, "GCN", "Citeseer, ours").bold


def test_a_difference_that_is_significant_only_in_pairs_is_bold_on_random_splits(tmp_path):
    base = exact_sample(80.0, 3.0, 15)
    summary = summarised(
        tmp_path,
        rows("cora", "gcn", base, split_kind="random"),
        rows("cora", "cgnn", [v + 0.5 + 0.01 * i for i, v in enumerate(base)], split_kind="random"),
    )
    assert cell_of(random_splits.build(summary, synthetic.REPORTED), "CGNN", "Cora, ours").bold


def test_missing_cells_state_the_reason(tmp_path):
    table = fixed(
        tmp_path,
        rows("cora", "cgnn", [80.0, 81.0, None]),
        rows("nell", "gat", [None, None], status="out_of_memory"),
        rows("nell", "gcn", [None], status="diverged"),
    )
    assert cell_of(table, "GAT", "NELL, ours").missing == "out of memory"
    assert cell_of(table, "GAT", "NELL, paper").missing == "out of memory"
    assert cell_of(table, "GCN", "NELL, ours").missing == "diverged"
    assert cell_of(table, "CGNN", "NELL, ours").missing == "not run"
    assert cell_of(table, "CGNN", "NELL, ours").text == "–"
    assert "1 diverged" in cell_of(table, "CGNN", "Cora, ours").under


def test_partial_nell_is_shown_next_to_the_paper_but_not_compared(tmp_path):
    table = fixed(tmp_path, rows("nell_partial", "cgnn", exact_sample(60.0, 1.0, 5)))
    assert cell_of(table, "CGNN", "NELL (partial labels), paper").text == "65.4 ± 1.0"
    assert "difference" not in cell_of(table, "CGNN", "NELL (partial labels), ours").numbers
    assert any("no difference" in note for note in table.notes)


def test_each_protocol_is_a_separate_group(tmp_path):
    table = fixed(
        tmp_path,
        rows("cora", "cgnn", [80.0, 81.0], source="search"),
        rows("cora", "cgnn", [82.0, 83.0], source="published"),
        rows("cora", "cgnn", [78.0, 79.0], source="published", preset_name="paper"),
    )
    groups = list(dict.fromkeys(row.group for row in table.rows))
    assert [group.split(",")[0] for group in groups] == ["Preset released", "Preset released", "Preset paper"]
    assert cell_of(table, "CGNN", "Cora, ours", groups[0]).numbers["value"] == 80.5


def test_the_keys_of_a_cell_select_exactly_its_rows(tmp_path):
    frame = synthetic.runs(("cora",), seeds=3, splits=3)
    table = fixed(tmp_path, frame)
    for row in table.rows:
        cell = row.cells["Cora, ours"]
        chosen = frame
        for name, value in cell.where.items():
            chosen = chosen[chosen[name] == value]
        assert len(chosen) == 3
        assert chosen["test_accuracy"].mean() == pytest.approx(cell.numbers["value"])


def test_residual_depths_are_shown_next_to_the_papers(tmp_path):
    parts = [rows("cora", "gcn_residual", exact_sample(77.0, 1.0, 10), layers=n, variant=f"layers-{n}") for n in (2, 4)]
    table = gcn_residual.build(summarised(tmp_path, *parts), synthetic.REPORTED)
    assert [row.label for row in table.rows] == ["2 layers", "4 layers"]  # no row that was not run
    assert cell_of(table, "4 layers", "Cora, paper").text == "77.3 ± 2.0"
    assert cell_of(table, "4 layers", "Cora, ours").numbers["difference"] == pytest.approx(-0.3)
    write_table(table, tmp_path / "gcn_residual")
    text = readings({"gcn_residual": json.loads((tmp_path / "gcn_residual.json").read_text())})["gcn_residual"]
    assert text == f"Ours minus the paper's: −0.4 to −0.3 points for {table.rows[0].group}."


def test_the_fidelity_table_compares_switches_with_the_preset_rows_of_the_runs(tmp_path):
    seeds = exact_sample(0.0, 0.8, 10)
    runs = pd.concat(
        [
            rows("cora", "cgnn", [82.0 + s for s in seeds]),
            rows("cora", "cgnn", [80.0 + s for s in seeds], preset_name="paper"),
            rows("cora", "cgnn", [60.0 + s for s in seeds], source="search"),  # not the published hyperparameters
        ]
    )
    flipped = rows(
        "cora", "cgnn", [84.1 + s for s in seeds], variant="x", fidelity=preset("released", alpha="tabulated")
    )
    table = fidelity.build(written(tmp_path, flipped, "f.csv"), written(tmp_path, runs), synthetic.REPORTED)
    group = "CGNN"
    assert cell_of(table, fidelity.PUBLISHED, "Cora, ours", group).text == "84.2 ± 1.0"
    base = cell_of(table, "released code, no switch changed", "Cora, ours", group)
    assert base.text == "82.0 ± 0.8" and not base.bold
    assert (base.file, base.where["variant"], base.where["preset"]) == ("runs", "", "released")
    assert cell_of(table, "printed equations, all switches changed", "Cora, Δ", group).text == "−2.0 [−2.0, −2.0]"
    assert cell_of(table, "α starts at the tabulated value", "Cora, ours", group).bold
    # The runs are paired by seed, so that their noise cancels.
    assert cell_of(table, "α starts at the tabulated value", "Cora, Δ", group).text == "+2.1 [+2.1, +2.1]"
    # 84.1 is nearest to the paper's 84.2, then 82.0; each has its difference and interval.
    (note,) = table.notes
    first, second, third = note.removesuffix(".").split(": ", 1)[1].split("; ")
    assert first.startswith("α starts at the tabulated value: Cora −0.1 [")
    assert second.startswith("released code, no switch changed: Cora −2.2 [") and "Cora −4.2 [" in third
    oracle = [row for row in table.rows if row.label.startswith("oracle")]
    assert oracle and all("not a valid protocol" in row.label for row in oracle)


def test_the_fidelity_table_of_one_seed_states_differences_without_intervals(tmp_path):
    flipped = rows("cora", "cgnn", [84.1], variant="x", fidelity=preset("released", alpha="tabulated"))
    runs = written(tmp_path, rows("cora", "cgnn", [82.0]))
    table = fidelity.build(written(tmp_path, flipped, "f.csv"), runs, synthetic.REPORTED)
    (note,) = table.notes
    expected = "α starts at the tabulated value: Cora −0.1; released code, no switch changed: Cora −2.2."
    assert note.endswith(f"(ours − paper): {expected}")
    write_table(table, tmp_path / "fidelity")
    assert cell_of(table, "α starts at the tabulated value", "Cora, Δ").text == "+2.1"


def test_the_note_of_the_fidelity_table_shows_on_which_side_of_0_an_interval_lies(tmp_path):
    """The paper's value is 84.2 ± 1.0 of 10 runs; t with 18 degrees of freedom is 2.1009."""
    half = 2.1009 * 0.2**0.5
    for gap, text in ((-half - 0.03, "−0.97 [−1.91, −0.03]"), (-half - 0.1, "−1.0 [−2.0, −0.1]")):
        runs = written(tmp_path, rows("cora", "cgnn", exact_sample(84.2 + gap, 1.0, 10)))
        flipped = rows("cora", "cgnn", [60.0, 61.0], variant="x", fidelity=preset("released", alpha="tabulated"))
        table = fidelity.build(written(tmp_path, flipped, "f.csv"), runs, synthetic.REPORTED)
        assert f"released code, no switch changed: Cora {text};" in table.notes[0]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((-0.7, -1.4, -0.2), "−0.7 [−1.4, −0.2]"),
        ((-0.7, -1.4, -0.03), "−0.70 [−1.40, −0.03]"),
        ((-0.7, -1.4, -0.003), "−0.70 [−1.40, −0.00]"),
        ((0.04, -0.5, 0.6), "0.0 [−0.5, +0.6]"),
        ((0.0, 0.0, 0.0), "0.0 [0.0, 0.0]"),
        ((0.4, math.nan, math.nan), "+0.4"),
    ],
)
def test_a_change_shows_on_which_side_of_0_its_interval_lies(values, text):
    estimate, low, high = values
    gap = Difference(estimate, math.nan, math.nan, low, high, math.nan, math.nan, 10, 10, "paired t")
    assert change_cell(gap).text == text


def test_repeated_rows_of_a_preset_are_not_shown_twice(tmp_path):
    """Result files of earlier versions repeat them in fidelity.csv."""
    values = exact_sample(82.0, 0.8, 10)
    runs, repeated = rows("cora", "cgnn", values), rows("cora", "cgnn", values, variant="released")
    table = fidelity.build(written(tmp_path, repeated, "f.csv"), written(tmp_path, runs), synthetic.REPORTED)
    assert [row.label for row in table.rows].count("released code, no switch changed") == 1


def test_our_hyperparameters_are_shown_above_the_papers(tmp_path):
    frame = rows("cora", "cgnn", [80.0, 81.0], source="search", lr=3.21e-3, t1=14.4)
    trials = written(tmp_path, synthetic.trials(("cora",), count=5), "trials.csv")
    table = hyperparameters.build(written(tmp_path, frame), synthetic.REPORTED, trials)
    assert cell_of(table, "CGNN, fixed", "lr").text == "3.21e−3"
    assert cell_of(table, "CGNN, fixed: paper", "lr").text == "4.70e−3"
    assert "5 trials" in table.caption


def test_the_propagation_table_compares_runs_with_equal_hyperparameters_and_gradient(tmp_path):
    def runs(model, shift, gradient, split_kind, variant, t1=12.1):
        # On the fixed split the models have different seeds, on random splits the same split.
        count = 10 if split_kind == "fixed" else 15
        values = [value + shift for value in exact_sample(80.0, 3.0, count)]
        frame = rows("cora", model, values, split_kind=split_kind, variant=variant, t1=t1)
        return frame.assign(sw_source_gradient=gradient)

    parts = [runs("cgnn", 0, "cut", "random", ""), runs("cgnn_discrete", -3, "cut", "random", "", t1=12.0)]
    assert propagation.build(written(tmp_path, pd.concat(parts))).rows == ()  # the ending times differ
    for kind in ("fixed", "random"):
        parts += [
            runs("cgnn_discrete", -1, "cut", kind, "settings_of-cgnn"),
            runs("cgnn_appnp", 0.5, "cut", kind, "settings_of-cgnn"),
            runs("cgnn", 1, "flows", kind, "source_gradient-flows"),
            runs("cgnn", 9, "flows", kind, "alpha-tabulated-source_gradient-flows").assign(sw_alpha="tabulated"),
            runs("cgnn_discrete", 3, "flows", kind, "settings_of-cgnn-source_gradient-flows"),
        ]
    table = propagation.build(written(tmp_path, pd.concat(parts)))
    shown = [(row.group, row.label.partition(":")[0], row.cells["Cora, Δ"].text) for row in table.rows]
    # The continuous model was not run on the fixed split with the gradient cut, so nothing is compared there.
    flows, wide = "Fixed splits, gradient through E", "[−0.8, +4.8]"
    assert shown == [
        (flows, "continuous", ""),
        (flows, "discrete", f"+2.0 {wide}"),
        (flows, "discrete", "−0.5 [−3.3, +2.3]"),
        ("Random splits, gradient through E cut, as released", "continuous", ""),
        ("Random splits, gradient through E cut, as released", "discrete", "−1.0 [−1.0, −1.0]"),
        ("Random splits, gradient through E", "continuous", ""),
        ("Random splits, gradient through E", "discrete", "+2.0 [+2.0, +2.0]"),
        ("Random splits, gradient through E", "discrete", "−0.5 [−0.5, −0.5]"),
    ]
    write_table(table, tmp_path / "propagation")
    text = readings({"propagation": json.loads((tmp_path / "propagation.json").read_text())})["propagation"]
    assert "unit Euler steps of the ODE, accuracy differs significantly" in text
    assert "continuous model's by −1.0 points on Cora (random splits, gradient through E cut, as released)" in text


def test_rules_of_random_splits_are_shown_side_by_side(tmp_path):
    parts = [rows("cora", "gcn", exact_sample(79.7, 1.2, 15), split_kind="random")]
    assert split_rules.build(summarised(tmp_path, *parts), synthetic.REPORTED).rows == ()
    parts.append(rows("cora", "gcn", exact_sample(80.6, 1.6, 15), split_kind="component"))
    (row,) = split_rules.build(summarised(tmp_path, *parts), synthetic.REPORTED).rows
    assert [cell.text for cell in row.cells.values()] == ["80.9 ± 1.1", "79.7 ± 1.2", "80.6 ± 1.6"]


def test_each_model_of_the_split_rules_has_the_hyperparameters_it_was_run_with(tmp_path):
    """The paper prints no hyperparameters of CGNN with weight for random splits, so its runs are searched ones."""
    parts = [
        rows("cora", "gcn", exact_sample(80.0, 1.0, 15), split_kind="random", source="search"),
        rows("cora", "gcn", exact_sample(79.0, 1.0, 15), split_kind="random"),
        rows("cora", "gcn", exact_sample(81.0, 1.0, 15), split_kind="pool"),
        rows("cora", "cgnn_weight", exact_sample(82.0, 1.0, 15), split_kind="random", source="search"),
        rows("cora", "cgnn_weight", exact_sample(83.0, 1.0, 15), split_kind="pool", source="search"),
    ]
    table = split_rules.build(summarised(tmp_path, *parts), synthetic.REPORTED)
    found = {row.label: [row.cells[name].text for name in table.columns[:2]] for row in table.rows}
    assert found == {"GCN": ["79.0 ± 1.0", "81.0 ± 1.0"], "CGNN with weight": ["82.0 ± 1.0", "83.0 ± 1.0"]}
    assert "published hyperparameters: GCN; hyperparameters of our search: CGNN with weight" in table.caption


def test_running_times_come_from_one_source_and_are_relative_to_gcn(results):
    table = running_time.build(results / "profiles.csv", synthetic.REPORTED, results / "bench.json")
    assert cell_of(table, "CGNN, released recipe", "ours, times GCN").numbers["value"] == pytest.approx(1200 / 9)
    assert cell_of(table, "CGNN, released recipe", "paper, times GCN").text == "55.9"
    assert cell_of(table, "CGNN, exact", "paper, seconds").text == ""


def test_table_1_omits_the_papers_columns_for_other_graphs():
    graph = generate("my_graph", Parameters())
    table = datasets.table_of([graph], PRINTED)
    assert table.columns == ("Nodes", "Edges", "Features", "Classes", "Label rate")
    assert cell_of(table, "my graph", "Nodes").text == "2,000"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written_in_all_formats_that_agree(finished, name):
    paths = {suffix: finished / "tables" / f"{name}.{suffix}" for suffix in TABLE_FORMATS}
    assert all(path.stat().st_size > 0 for path in paths.values())
    content = json.loads(paths["json"].read_text())
    with open(paths["csv"], newline="") as stream:
        records = list(csv.DictReader(stream))
    assert len(records) == len(content["rows"]) * len(content["columns"])  # one per cell
    assert paths["tex"].read_text().count(r"\toprule") == 1
    # Every row has as many separators as there are columns.
    for line in paths["tex"].read_text().splitlines():
        if line.endswith(r"\\") and not line.startswith(r"\multicolumn"):
            assert line.replace(r"\&", "").count("&") == len(content["columns"])
    assert content["caption"] in paths["md"].read_text()


def test_each_format_escapes_its_special_characters():
    assert latex.escape("50 % of a_b & α ± 1") == r"50 \% of a\_b \& $\alpha$ $\pm$ 1"
    assert markdown.escape("a|b *c* <d> `e`") == r"a\|b \*c\* \<d\> \`e\`"


def test_tables_without_rows_are_omitted(tmp_path):
    write_table(Table("speed", "Speed", "Not measured.", "", (), ()), tmp_path / "tables" / "speed")
    assert load_tables(tmp_path) == {}


def test_the_error_names_an_unknown_table_or_a_missing_input(tmp_path, capsys):
    assert main(["table", "fixd_splits", "--out", str(tmp_path / "x")]) == 2
    assert "expected one of datasets, fixed_splits" in capsys.readouterr().err
    options = ["--results", str(tmp_path), "--reported", str(synthetic.REPORTED), "--out", str(tmp_path / "x")]
    assert main(["table", "fixed_splits", *options]) == 2
    assert "summary.csv" in capsys.readouterr().err


def test_the_speed_table_without_a_benchmark_says_not_measured(tmp_path):
    options = ["--bench", str(tmp_path / "none.json"), "--out", str(tmp_path / "speed")]
    assert main(["table", "speed", *options]) in (0, None)
    assert "Not measured" in (tmp_path / "speed.md").read_text()
