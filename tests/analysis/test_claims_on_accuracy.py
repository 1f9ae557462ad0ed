"""C1 to C4, who beats whom, on made-up results for each outcome."""

from dataclasses import replace

import pandas as pd
import pytest
from judging import NOTHING, both_kinds, sampled, tables, verdict
from made_up import rows

from cgnn.analysis.claims.base import NOT_REPRODUCED, NOT_TESTABLE, PARTLY, REPRODUCED
from cgnn.analysis.verdicts import judge


@pytest.mark.parametrize(("name", "kind"), [("C1", "fixed"), ("C2", "random")])
@pytest.mark.parametrize(
    ("gcn", "gat", "expected"),
    [
        (80.0, 80.5, REPRODUCED),
        ((80.0, 82.0, 83.0), 80.0, PARTLY),
        (82.1, 83.0, NOT_REPRODUCED),
    ],
)
def test_beating_gcn_and_gat(name, kind, gcn, gat, expected):
    assert verdict(name, runs=tables(kind, gcn=gcn, gat=gat)).verdict == expected


def test_a_lead_within_noise_is_not_a_win():
    noisy = pd.concat(
        [
            rows("cora", m, sampled(v, std=3.0, seed=i))
            for i, (m, v) in enumerate({"cgnn": 82.5, "gcn": 82.0, "gat": 82.0}.items())
        ]
    )
    assert verdict("C1", runs=noisy).verdict == NOT_REPRODUCED


def test_out_of_memory_is_named_and_does_not_decide():
    runs = pd.concat(
        [
            tables("fixed", gcn=80.0, gat=80.0),
            rows("nell", "cgnn", sampled(65.0)),
            rows("nell", "gcn", sampled(57.0, seed=3)),
            rows("nell", "gat", [None] * 10, status="out_of_memory"),
        ]
    )
    claim = verdict("C1", runs=runs)
    assert claim.verdict == REPRODUCED
    assert claim.missing == ("NELL (GAT: out of memory)",)


def test_a_claim_of_which_half_was_never_tested_is_at_most_partly():
    one_dataset = tables("random", gcn=80.0, gat=80.0).query("dataset == 'cora'")
    claim = verdict("C2", runs=one_dataset)
    assert all(item.passed for item in claim.comparisons)
    assert (len(claim.comparisons), len(claim.missing), claim.verdict) == (2, 3, PARTLY)


def test_a_graph_that_someone_added_decides_no_claim_of_the_paper():
    added = tables("fixed", gcn=90.0, gat=90.0).assign(dataset="mine")
    assert verdict("C1", runs=added).verdict == NOT_TESTABLE
    assert verdict("C1", runs=pd.concat([added, tables("fixed", gcn=80.0, gat=80.0)])).verdict == REPRODUCED


def test_other_protocols_do_not_mix_in():
    other = tables("fixed", gcn=90.0, gat=90.0).assign(hyperparameter_source="search")
    runs = pd.concat([tables("fixed", gcn=80.0, gat=80.0), other])
    assert verdict("C1", runs=runs).verdict == REPRODUCED
    report = judge(replace(NOTHING, runs=runs))
    assert report["claims"][0]["also"] == {"released/search": NOT_REPRODUCED}


@pytest.mark.parametrize(
    ("discrete", "expected"), [(80.0, REPRODUCED), ((80.0, 82.0, 82.0), PARTLY), (83.0, NOT_REPRODUCED)]
)
def test_continuous_against_discrete(discrete, expected):
    assert verdict("C3", runs=both_kinds(cgnn_discrete=discrete)).verdict == expected


@pytest.mark.parametrize(
    ("weight", "expected"), [(82.1, REPRODUCED), ((82.0, 82.0, 85.0), PARTLY), (85.0, NOT_REPRODUCED)]
)
def test_close_with_and_without_weight(weight, expected):
    assert verdict("C4", runs=both_kinds(cgnn_weight=weight)).verdict == expected


def test_too_few_runs_to_tell_are_neither_for_nor_against():
    runs = pd.concat(
        [rows("cora", "cgnn", sampled(82, 3, 1.5)), rows("cora", "cgnn_weight", sampled(82, 3, 1.5, seed=1))]
    )
    claim = verdict("C4", runs=runs)
    assert claim.verdict == NOT_TESTABLE and "too few runs" in claim.why
