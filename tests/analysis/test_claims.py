"""Each claim on made-up results for each of its outcomes."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "render"))
import made_up
from made_up import exact_sample, rows

from cgnn.__main__ import main
from cgnn.analysis.claims.base import NOT_REPRODUCED, NOT_TESTABLE, PARTLY, REPRODUCED, Evidence
from cgnn.analysis.reported import load_reported
from cgnn.analysis.rows import Protocol
from cgnn.analysis.verdicts import TESTS, judge, write_claims
from cgnn.fidelity import preset

REPORTED = load_reported(made_up.REPORTED)
NOTHING = Evidence(REPORTED, Protocol("published", "released"))
DATASETS = ("cora", "citeseer", "pubmed")


def sampled(mean, n=10, std=0.6, seed=0):
    return exact_sample(mean, std, n, seed)


def verdict(name, **frames):
    return TESTS[name](replace(NOTHING, **frames))


@pytest.mark.parametrize("name", TESTS)
def test_without_results_nothing_is_testable_and_the_reason_is_given(name):
    claim = verdict(name)
    assert claim.verdict == NOT_TESTABLE
    assert claim.why


# ---- C1 to C4 ----


def tables(kind, **means):
    """CGNN at 82 and each other model at its mean on all three datasets, or at a mean a dataset."""
    parts = []
    for number, dataset in enumerate(DATASETS):
        for seed, (model, mean) in enumerate({"cgnn": 82.0, **means}.items()):
            value = mean[number] if isinstance(mean, tuple) else mean
            parts.append(rows(dataset, model, sampled(value, seed=seed), split_kind=kind))
    return pd.concat(parts, ignore_index=True)


def both_kinds(**means):
    return pd.concat([tables("fixed", **means), tables("random", **means)], ignore_index=True)


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
    other = tables("fixed", gcn=90.0, gat=90.0).assign(hyperparameters="search")
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


# ---- C5 to C7, C12 ----


def sweep(model, axis, means, dataset="cora", std=0.6, **options):
    return pd.concat(
        [
            rows(dataset, model, sampled(mean, 5, std, seed=i), **{axis: value}, **options)
            for i, (value, mean) in enumerate(means.items())
        ]
    )


FALLING = {2: 81.5, 3: 81.0, 8: 70.0, 16: 40.0}


@pytest.mark.parametrize(
    ("gat", "expected"),
    [(FALLING, REPRODUCED), ({2: 81.0, 3: 81.0, 8: 81.2, 16: 81.1}, PARTLY)],
)
def test_discrete_models_drop_with_depth(gat, expected):
    sweeps = pd.concat([sweep("gcn", "layers", FALLING), sweep("gat", "layers", gat)])
    assert verdict("C5", sweeps=sweeps).verdict == expected


def test_a_deep_optimum_contradicts_over_smoothing():
    rising = {2: 75.0, 3: 76.0, 8: 81.0, 16: 70.0}
    sweeps = pd.concat([sweep("gcn", "layers", rising), sweep("gat", "layers", rising)])
    assert verdict("C5", sweeps=sweeps).verdict == NOT_REPRODUCED


def test_a_fall_of_gcn_alone_leaves_half_the_claim_open():
    assert verdict("C5", sweeps=sweep("gcn", "layers", FALLING)).verdict == PARTLY


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({1.0: 75.0, 5.0: 80.0, 15.0: 82.0, 30.0: 82.2, 50.0: 81.9}, REPRODUCED),
        ({1.0: 75.0, 5.0: 84.0, 15.0: 81.0, 30.0: 81.0}, NOT_REPRODUCED),
        ({1.0: 75.0, 15.0: 82.0, 30.0: 70.0}, NOT_REPRODUCED),
    ],
)
def test_robustness_to_the_ending_time(means, expected):
    assert verdict("C6", sweeps=sweep("cgnn", "t1", means)).verdict == expected


def test_robust_on_one_dataset_only_is_partly():
    good, bad = {5.0: 80.0, 15.0: 82.0, 30.0: 82.0}, {5.0: 80.0, 15.0: 82.0, 30.0: 70.0}
    sweeps = pd.concat([sweep("cgnn", "t1", good), sweep("cgnn", "t1", bad, "pubmed")])
    assert verdict("C6", sweeps=sweeps).verdict == PARTLY


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        ({1.0: 75.0, 10.0: 76.0, 30.0: 50.0}, REPRODUCED),
        ({1.0: 78.0, 10.0: 78.1, 30.0: 78.0}, PARTLY),
        ({1.0: 81.9, 10.0: 82.0, 30.0: 82.1}, NOT_REPRODUCED),
    ],
)
def test_what_the_initial_value_is_worth(without, expected):
    with_h0 = {1.0: 81.0, 10.0: 82.0, 30.0: 82.0}
    sweeps = pd.concat([sweep("cgnn", "t1", with_h0), sweep("cgnn_no_h0", "t1", without)])
    assert verdict("C7", sweeps=sweeps).verdict == expected


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({2: 77.0, 4: 77.0, 8: 76.5, 16: 76.0}, REPRODUCED),
        ({2: 77.0, 4: 76.0, 8: 80.0, 16: 76.0}, PARTLY),
        ({2: 77.0, 4: 80.0, 8: 81.0, 16: 82.0}, NOT_REPRODUCED),
    ],
)
def test_residual_links_and_depth(means, expected):
    runs = pd.concat(
        [rows("cora", "gcn_residual", sampled(m, seed=d), layers=d, variant=f"layers-{d}") for d, m in means.items()]
    )
    assert verdict("C12", runs=runs).verdict == expected


def test_two_noisy_runs_a_depth_cannot_exclude_a_gain():
    runs = pd.concat(
        [rows("cora", "gcn_residual", [60.0 + 9 * d, 80.0], layers=d, variant=f"layers-{d}") for d in (2, 4)]
    )
    assert verdict("C12", runs=runs).verdict == NOT_TESTABLE


def test_depths_of_two_protocols_are_not_compared():
    deep = [rows("cora", "gcn_residual", sampled(77.0, seed=d), layers=d, variant=f"layers-{d}") for d in (2, 4, 8)]
    shallow = rows("cora", "gcn_residual", sampled(60.0), layers=2, source="search")
    assert verdict("C12", runs=pd.concat([shallow, *deep])).verdict == REPRODUCED


# ---- C8, C9, C11 ----


def profile(method, peaks, dataset="cora", seconds=0.01, model=None):
    axis = "layers" if not method.startswith("cgnn_") or method == "cgnn_discrete" else "t1"
    return pd.DataFrame(
        {
            "dataset": dataset,
            "method": method,
            "model": model or method,
            "axis": axis,
            "value": list(peaks),
            "status": "ok",
            "peak_bytes": [int(mib * 2**20) for mib in peaks.values()],
            "seconds_per_epoch": seconds,
            "seconds": json.dumps([seconds * factor for factor in (0.98, 1.0, 1.02, 1.01)]),
        }
    )


LINEAR = {2: 22, 4: 24, 8: 28, 16: 36}
FLAT = {2: 22, 4: 22, 8: 22, 16: 22.1}


@pytest.mark.parametrize(
    ("gat", "discrete", "expected"),
    [(LINEAR, LINEAR, REPRODUCED), (FLAT, LINEAR, PARTLY)],
)
def test_memory_and_layers(gat, discrete, expected):
    profiles = pd.concat([profile("gcn", LINEAR), profile("gat", gat), profile("cgnn_discrete", discrete)])
    assert verdict("C8", profiles=profiles).verdict == expected


def test_memory_that_does_not_grow_contradicts_linear_growth():
    bent = {2: 30, 4: 22, 8: 31, 16: 21}
    profiles = pd.concat([profile(name, bent) for name in ("gcn", "gat", "cgnn_discrete")])
    assert verdict("C8", profiles=profiles).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("adjoint", "expected"),
    [
        ({1: 20.0, 10: 20.0, 50: 20.4}, REPRODUCED),
        ({1: 20.0, 10: 25.0, 50: 30.0}, PARTLY),
        ({1: 40.0, 10: 60.0, 50: 90.0}, NOT_REPRODUCED),
    ],
)
def test_memory_and_ending_time(adjoint, expected):
    profiles = pd.concat([profile("cgnn_adjoint", adjoint), profile("gcn", LINEAR), profile("gat", LINEAR)])
    assert verdict("C9", profiles=profiles).verdict == expected


@pytest.mark.parametrize(
    ("seconds", "weight_seconds", "expected"),
    [(0.60, 0.60, REPRODUCED), (0.60, 3.0, PARTLY), (3.0, 3.0, PARTLY), (0.02, 0.02, NOT_REPRODUCED)],
)
def test_cost_of_an_epoch(seconds, weight_seconds, expected):
    profiles = pd.concat(
        [
            profile("gcn", {2: 20}, seconds=0.01),
            profile("cgnn_adjoint", {10: 20}, seconds=seconds, model="cgnn"),
            profile("cgnn_weight_dopri5", {10: 20}, seconds=weight_seconds, model="cgnn_weight"),
            profile("cgnn_exact", {10: 20}, seconds=0.009, model="cgnn"),
        ]
    )
    claim = verdict("C11", profiles=profiles)
    assert claim.verdict == expected
    assert "with the exact solver it is 0.90 times" in claim.evidence


def test_the_exact_solver_alone_says_nothing_about_the_papers_cost():
    profiles = pd.concat([profile("gcn", {2: 20}), profile("cgnn_exact", {10: 20})])
    assert verdict("C11", profiles=profiles).verdict == NOT_TESTABLE


def test_the_benchmark_is_preferred_where_it_was_run():
    claim = verdict("C11", bench=made_up.bench()["rows"])
    assert claim.comparisons[0].estimate == pytest.approx(1200 / 9)


# ---- C10, C13 ----


def converging(rate=0.05, predicted=0.05, end=400.0, kind="paper"):
    t = np.geomspace(0.5, end, 25)
    return pd.DataFrame({"kind": kind, "t": t, "distance": np.exp(-rate * t), "predicted_rate": predicted, "norm": 1.0})


@pytest.mark.parametrize(
    ("plain", "weighted", "expected"),
    [
        (converging(), converging(kind="paper_weight"), REPRODUCED),
        (converging(), converging(rate=0.02, kind="paper_weight"), PARTLY),
        (converging(end=20.0), converging(end=20.0, kind="paper_weight"), NOT_REPRODUCED),
    ],
)
def test_convergence(plain, weighted, expected):
    assert verdict("C10", convergence=pd.concat([plain, weighted])).verdict == expected


def augmented(mean_without, std_with=0.6, std_without=0.6, lost_without=0, n=10):
    without = sampled(mean_without, n, std_without, seed=1)
    without[:lost_without] = [None] * lost_without
    return pd.concat(
        [
            rows("cora", "cgnn_weight", sampled(82.0, n, std_with), variant="weight-released"),
            rows(
                "cora",
                "cgnn_weight",
                without,
                variant="augmentation-none",
                fidelity=preset("released", augmentation="none"),
            ),
        ]
    )


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (augmented(82.0, lost_without=2), REPRODUCED),
        (augmented(82.0, std_with=0.2, std_without=4.0, n=30), PARTLY),
        (augmented(82.1), PARTLY),
        (augmented(78.0), NOT_REPRODUCED),
        (augmented(82.5, std_with=2.0, std_without=2.0), NOT_TESTABLE),
    ],
)
def test_augmentation(frame, expected):
    assert verdict("C13", fidelity=frame).verdict == expected


def test_runs_that_differ_in_more_than_augmentation_are_not_compared():
    frame = augmented(82.0)
    frame.loc[frame["variant"] == "augmentation-none", "sw_alpha"] = "tabulated"
    assert verdict("C13", fidelity=frame).verdict == NOT_TESTABLE


# ---- the report, the verb, the gate ----


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
