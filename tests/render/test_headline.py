"""The five sentences: numbers recomputed by hand from small made-up claims and cells."""

import json
from pathlib import Path

from cgnn.render.headline import five_sentences, load_summary

PUBLISHED = Path(__file__).parents[2] / "results" / "published"


def cell(preset, dataset, model, mean, difference):
    return {
        "preset": preset,
        "dataset": dataset,
        "model": model,
        "split_kind": "fixed",
        "hyperparameter_source": "published",
        "variant": "",
        "mean": str(mean),
        "difference": str(difference),
    }


SUMMARY = [
    cell("released", "pubmed", "cgnn", 82.0, -0.5),
    cell("released", "cora", "cgnn", 83.0, -1.2),
    cell("paper", "cora", "cgnn", 80.0, -4.2),
    cell("released", "cora", "cgnn_discrete", 75.0, -6.8),
    cell("paper", "cora", "cgnn_discrete", 81.5, -0.3),
]


def comparison(estimate, passed=True, **more):
    return {"estimate": estimate, "passed": passed, **more}


CLAIMS = {
    "claims": [
        {"id": "C1", "comparisons": [comparison(1.5), comparison(-0.25, passed=False)]},
        {"id": "C3", "comparisons": []},
        {"id": "C5", "comparisons": [comparison(-28.4), comparison(-55.9)]},
        {"id": "C6", "comparisons": [comparison(-0.6), comparison(0.2)]},
        {"id": "C11", "comparisons": [comparison(21.2, details={"paper": 55.9, "exact": 0.13})]},
    ]
}


def test_five_sentences_hold_the_numbers_of_claims_and_cells():
    texts = [sentence.text for sentence in five_sentences(CLAIMS, SUMMARY)]
    assert texts == [
        "With the equations of the released code and the published hyperparameters, CGNN reaches 83.0 and 82.0 % on "
        "Cora and Pubmed, 0.5 to 1.2 points below the paper; with the equations as printed it is 4.2 points below the "
        "paper.",
        "CGNN is significantly ahead of GCN and GAT in 1 of 2 comparisons on the fixed splits (−0.2 to +1.5 points).",
        "Compared with discrete propagation, with the equations of the released code the continuous model is ahead "
        "(+8.0 points); with the equations as printed the continuous model is not ahead (−1.5 points).",
        "Many layers cost GCN and GAT 28.4 to 55.9 points of accuracy, while CGNN loses 0.0 to 0.6 points between its "
        "best and its worst ending time above 10.",
        "With the authors' solver an epoch of CGNN takes 21 times as long as one of GCN (paper: 56); with the exact "
        "solver it takes 0.13 times as long, so the cost is the solver's.",
    ]


def test_what_was_not_run_is_left_out():
    assert five_sentences({"claims": []}, []) == []


def test_the_published_results_give_all_five():
    claims = json.loads((PUBLISHED / "claims.json").read_text(encoding="utf-8"))
    found = five_sentences(claims, load_summary(PUBLISHED / "summary.csv"))
    assert len(found) == 5
    known = {claim["id"] for claim in claims["claims"]}
    assert {name for sentence in found for name in sentence.claims} <= known
