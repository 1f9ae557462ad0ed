"""Choosing a protocol, pairing runs, and the summary of each cell."""

import pandas as pd
import pytest
import synthetic_results as synthetic
from scipy import stats

from cgnn.analysis.rows import choose_protocol, compare, load_rows, missing_reason
from cgnn.analysis.summary import summarise
from cgnn.errors import UserError
from cgnn.paper.reported import load_reported

REPORTED = load_reported(synthetic.REPORTED)


def test_random_splits_are_paired_by_split_in_any_order():
    a = synthetic.rows("cora", "cgnn", [80, 82, 81, 85], split_kind="random")
    b = synthetic.rows("cora", "gcn", [79, 80, 80.5, 83], split_kind="random").sample(frac=1, random_state=1)
    gap = compare(a, b)
    assert gap.method == "paired t"
    assert gap.p == pytest.approx(stats.ttest_rel([80, 82, 81, 85], [79, 80, 80.5, 83]).pvalue)


def test_only_splits_that_both_models_finished_are_paired():
    a = synthetic.rows("cora", "cgnn", [80, None, 81, 85], split_kind="random")
    b = synthetic.rows("cora", "gcn", [79, 80, 80.5, None], split_kind="random")
    assert compare(a, b).n_a == 2


def test_two_models_on_the_fixed_split_are_independent_groups():
    a, b = synthetic.rows("cora", "cgnn", [80, 82, 81]), synthetic.rows("cora", "gcn", [79, 80, 80])
    assert compare(a, b).method == "Welch"


def test_variants_of_one_model_are_paired_by_seed():
    a = synthetic.rows("cora", "cgnn", [80, 82, 81], variant="released")
    b = synthetic.rows("cora", "cgnn", [79, 80, 80], variant="alpha-tabulated")
    assert compare(a, b).method == "paired t"


def test_the_released_preset_with_searched_hyperparameters_is_the_main_protocol():
    parts = [
        synthetic.rows("cora", "cgnn", [80, 81], preset_name=preset, source=source)
        for preset, source in (("paper", "published"), ("released", "published"), ("released", "search"))
    ]
    assert str(choose_protocol(pd.concat(parts))) == "released/search"
    assert str(choose_protocol(pd.concat(parts), preset="paper")) == "paper/published"
    with pytest.raises(UserError, match="released/search"):
        choose_protocol(pd.concat(parts), preset="paper", source="search")


def test_a_cell_without_numbers_states_the_reason():
    assert missing_reason(synthetic.rows("nell", "gat", [])) == "not run"
    assert missing_reason(synthetic.rows("nell", "gat", [None], status="out_of_memory")) == "out of memory"


def test_the_summary_compares_with_the_number_printed_in_the_paper():
    summary = summarise(synthetic.rows("cora", "cgnn", synthetic.exact_sample(82.5, 1.0, 10)), REPORTED)
    row = summary.iloc[0]
    expected = stats.ttest_ind_from_stats(82.5, 1.0, 10, 84.2, 1.0, 10, equal_var=False)
    assert (row["difference"], row["p"]) == (pytest.approx(-1.7), pytest.approx(expected.pvalue))
    assert row["difference_low"] < -1.7 < row["difference_high"] < 0


def test_the_summary_counts_failed_runs_and_leaves_their_values_missing():
    rows = pd.concat(
        [
            synthetic.rows("cora", "cgnn", [80.0, None, 82.0]),
            synthetic.rows("nell", "gat", [None, None], status="out_of_memory"),
        ]
    )
    summary = summarise(rows, REPORTED).set_index("model")
    assert (summary.loc["cgnn", "n_ok"], summary.loc["cgnn", "n_diverged"]) == (2, 1)
    assert summary.loc["gat", "status"] == "out_of_memory"
    assert pd.isna(summary.loc["gat", "mean"])


def test_the_error_names_a_file_that_lacks_a_required_column(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("dataset,model\ncora,cgnn\n")
    with pytest.raises(UserError, match=r"runs\.csv.*split_kind"):
        load_rows(path)
