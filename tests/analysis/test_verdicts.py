"""All claims together: the report, the gate, folders without results, and the committed verdicts."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import synthetic_results as synthetic
from judging import NOTHING, REPORTED, judged, tables

from cgnn.__main__ import main
from cgnn.analysis.claims.base import Comparison, Kind, Outcome, Verdict, claim_count, count_verdicts, span
from cgnn.analysis.tree import check_results
from cgnn.analysis.verdicts import TESTS, judge, write_claims
from cgnn.errors import UserError
from cgnn.files import sha256_of
from cgnn.render.tables.claims import build

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results" / "published"
WORDS = (Verdict, Outcome, Kind)


@pytest.mark.parametrize("name", TESTS)
def test_without_results_no_claim_is_testable_and_the_reason_is_given(name):
    claim = judged(name)
    assert claim.verdict is Verdict.NOT_TESTABLE
    assert claim.why


def test_counts_of_verdicts_agree_in_number_and_leave_out_zeros():
    counts = {**dict.fromkeys(Verdict, 0), "reproduced": 4, "partly": 1, "depends on the protocol": 2}
    assert count_verdicts(counts) == ["4 reproduced", "1 partly reproduced", "2 depend on the protocol"]
    assert count_verdicts({"depends on the protocol": 1, "too few runs": 2}) == [
        "1 depends on the protocol",
        "2 with too few runs",
    ]


def test_a_claim_in_two_parts_is_one_claim_with_two_verdicts():
    assert claim_count([{"id": "C1"}, {"id": "C2"}]) == "2 claims"
    both = [{"id": "C12"}, {"id": "C13a"}, {"id": "C13b"}]
    assert claim_count(both) == "2 claims (3 verdicts, because C13 has two parts)"


def test_an_interval_that_excludes_zero_is_never_printed_as_if_it_ended_there():
    def text(estimate, low, high):
        return span(Comparison(Kind.DIFFERENCE, "", estimate, "points", "", Outcome.PASSED, low, high))

    assert text(-0.44, -0.85, -0.03) == "−0.44 [−0.85, −0.03]"
    assert text(1.23, 0.41, 2.0) == "+1.2 [+0.4, +2.0]"


def test_the_report_is_json_with_the_documented_keys(tmp_path):
    runs = tables("fixed", gcn=80.0, gat=80.0)
    write_claims(judge(replace(NOTHING, runs=runs)), tmp_path / "claims.json")
    report = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    assert [claim["id"] for claim in report["claims"]] == list(REPORTED.claims) == list(TESTS)
    assert all(claim["evidence"].endswith(".") and claim["test"] for claim in report["claims"])
    assert report["counts"] == {**dict.fromkeys(Verdict, 0), "reproduced": 1, "not testable here": 13}
    claim = report["claims"][0]
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    for names in (report, claim, claim["comparisons"][0], claim["protocols"][0]):
        assert [name for name in names if f"`{name}`" not in page] == []
    assert [word for words in WORDS for word in words if word not in page] == []


def arguments(folder, *more):
    return ["claims", "--reported", str(synthetic.REPORTED), "--results", str(folder), *more]


def test_the_exit_code_says_whether_the_gate_passed(tmp_path, capsys):
    def results(**means):
        tables("fixed", **means).to_csv(tmp_path / "runs.csv", index=False)

    results(gcn=80.0, gat=80.0)
    assert main(arguments(tmp_path, "--gate", "--out", str(tmp_path / "good.json"))) == 0
    results(gcn=(80.0, 82.0, 83.0), gat=80.0)
    assert main(arguments(tmp_path, "--gate")) == 0
    assert main(arguments(tmp_path, "--gate", "--expect", str(tmp_path / "good.json"))) == 1
    assert "C1 worse than" in capsys.readouterr().out
    results(gcn=84.0, gat=84.0)
    assert main(arguments(tmp_path, "--gate")) == 1
    assert main(arguments(tmp_path)) == 0


@pytest.mark.parametrize("gate", [[], ["--gate"]])
@pytest.mark.parametrize(("make", "message"), [(False, "no such folder"), (True, "holds no results")])
def test_a_folder_without_results_is_an_error_and_writes_nothing(tmp_path, capsys, gate, make, message):
    folder, out = tmp_path / "results", tmp_path / "claims.json"
    if make:
        folder.mkdir()
    assert main(arguments(folder, *gate, "--out", str(out))) != 0
    assert message in capsys.readouterr().err and not out.exists()
    with pytest.raises(UserError, match=message):
        check_results(folder)


def test_the_gate_fails_if_no_claim_could_be_tested(tmp_path, capsys):
    tables("fixed", gcn=80.0)[:0].to_csv(tmp_path / "runs.csv", index=False)
    assert main(arguments(tmp_path, "--gate")) != 0
    assert "no claim could be tested" in capsys.readouterr().err


def test_the_committed_rows_give_the_committed_verdicts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # nothing besides the published tree and the paper's numbers may be read
    assert main(arguments(PUBLISHED, "--out", "claims.json")) == 0
    found, committed = (
        json.loads((folder / "claims.json").read_text(encoding="utf-8")) for folder in (tmp_path, PUBLISHED)
    )
    for ours, theirs in zip(found["claims"], committed["claims"], strict=True):
        for key in ("id", "verdict", "verdict_holm", "also"):
            assert ours[key] == theirs[key]
        assert [item["outcome"] for item in ours["comparisons"]] == [item["outcome"] for item in theirs["comparisons"]]
    assert found["counts"] == committed["counts"]


def test_all_inputs_of_the_committed_verdicts_are_committed_and_unchanged():
    inputs = json.loads((PUBLISHED / "claims.json").read_text(encoding="utf-8"))["inputs"]
    files = {item["name"]: PUBLISHED / item["file"] for item in inputs} | {"reported": synthetic.REPORTED}
    assert set(files) >= {"runs", "sweeps", "fidelity", "profiles", "convergence", "bench", "reported"}
    assert {item["name"]: item["sha256"] for item in inputs} == {name: sha256_of(path) for name, path in files.items()}


def test_the_table_shows_protocols_and_holm_if_they_change_a_verdict(tmp_path):
    searched = tables("fixed", gcn=81.4, gat=81.4).assign(hyperparameter_source="search")
    runs = pd.concat([tables("fixed", gcn=84.0, gat=84.0), searched])
    write_claims(judge(replace(NOTHING, runs=runs)), tmp_path / "claims.json")
    table = build(tmp_path / "claims.json")
    first, second = table.rows[0].cells, table.rows[1].cells
    assert first["verdict"].text == "depends on the protocol"
    assert first["verdict"].under == (
        "released/published, fixed: not reproduced",
        "released/search, fixed: reproduced",
        "with Holm: not reproduced",
    )
    assert "contradicted" in first["least favourable comparison"].under
    assert (second["verdict"].text, second["verdict"].under) == ("not testable here", ())
