"""All claims together: nothing without results, the adjusted p, the report and the gate."""

import json
from dataclasses import replace

import made_up
import pytest
from judging import NOTHING, REPORTED, tables, verdict

from cgnn.__main__ import main
from cgnn.analysis.claims.base import NOT_TESTABLE
from cgnn.analysis.verdicts import TESTS, judge, write_claims


@pytest.mark.parametrize("name", TESTS)
def test_without_results_nothing_is_testable_and_the_reason_is_given(name):
    claim = verdict(name)
    assert claim.verdict == NOT_TESTABLE
    assert claim.why


def test_holm_is_taken_over_the_comparisons_of_a_claim():
    claim = verdict("C1", runs=tables("fixed", gcn=81.0, gat=81.0))
    p_values = [item.p for item in claim.comparisons]
    assert min(item.p_adjusted for item in claim.comparisons) == pytest.approx(6 * min(p_values))


def test_the_report_is_json_with_every_claim_and_a_sentence_each(tmp_path):
    runs = tables("fixed", gcn=80.0, gat=80.0)
    write_claims(judge(replace(NOTHING, runs=runs)), tmp_path / "claims.json")
    report = json.loads((tmp_path / "claims.json").read_text())
    assert [claim["id"] for claim in report["claims"]] == list(REPORTED.claims)
    assert all(claim["evidence"].endswith(".") and claim["test"] for claim in report["claims"])
    assert sum(report["counts"].values()) == 13
    assert {"id", "text", "verdict", "why", "test", "evidence", "effect", "comparisons", "missing", "also"} == set(
        report["claims"][0]
    )


def test_the_gate_passes_and_fails_by_exit_code(tmp_path, capsys):
    arguments = [
        "claims",
        "--reported",
        str(made_up.REPORTED),
        "--bench",
        str(tmp_path / "none"),
        "--runs",
        str(tmp_path / "runs.csv"),
    ]
    tables("fixed", gcn=80.0, gat=80.0).to_csv(tmp_path / "runs.csv", index=False)
    assert main([*arguments, "--gate", "--out", str(tmp_path / "good.json")]) == 0
    tables("fixed", gcn=(80.0, 82.0, 83.0), gat=80.0).to_csv(tmp_path / "runs.csv", index=False)
    assert main([*arguments, "--gate"]) == 0
    assert main([*arguments, "--gate", "--expect", str(tmp_path / "good.json")]) == 1
    assert "C1 worse than" in capsys.readouterr().out
    tables("fixed", gcn=84.0, gat=84.0).to_csv(tmp_path / "runs.csv", index=False)
    assert main([*arguments, "--gate"]) == 1
    assert main(arguments) == 0
