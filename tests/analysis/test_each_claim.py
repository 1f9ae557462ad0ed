"""Every claim on synthetic rows with a known verdict: it holds, its opposite holds, too few runs, and no runs."""

import pandas as pd
import pytest
from judging import augmented, both_kinds, converging, epochs, judged, profile, residual, sweep, tables, without_h0
from synthetic_results import rows

from cgnn.analysis.claims.base import Outcome, Verdict
from cgnn.analysis.verdicts import TESTS

HOLDS, OPPOSITE, FEW, NONE = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.TOO_FEW_RUNS, Verdict.NOT_TESTABLE

FALLING = {2: 81.5, 3: 81.0, 8: 70.0, 16: 40.0}
RISING = {2: 75.0, 3: 76.0, 8: 81.0, 16: 82.0}
LINEAR = {2: 22, 4: 24, 8: 28, 16: 36}
LATE = {15.0: 82.0, 20.0: 82.0, 30.0: 82.0}
STABLE = {5.0: 80.0, 15.0: 82.0, 30.0: 82.0}


def layers(means, **options):
    return {"sweeps": pd.concat([sweep(model, "layers", means, **options) for model in ("gcn", "gat")])}


def times(means, **options):
    return {"sweeps": sweep("cgnn", "t1", means, **options)}


def removed(means, **options):
    return {"sweeps": pd.concat([sweep("cgnn", "t1", LATE, **options), without_h0(means, **options)])}


def memory(peaks):
    return {"profiles": pd.concat([profile(method, peaks) for method in ("gcn", "gat", "cgnn_discrete")])}


def adjoint(peaks, *others):
    return {"profiles": pd.concat([profile("cgnn_adjoint", peaks), *others])}


DEEP = (profile("gcn", LINEAR), profile("gat", LINEAR))
FEW_RUNS = {"n": 3, "std": 4.0}

CASES = {
    "C1": {
        HOLDS: {"runs": tables("fixed", gcn=80.0, gat=80.5)},
        OPPOSITE: {"runs": tables("fixed", gcn=83.0, gat=83.0)},
        FEW: {"runs": tables("fixed", gcn=81.5, gat=81.5, **FEW_RUNS)},
        NONE: {"runs": tables("fixed", cgnn_weight=80.0)},
    },
    "C2": {
        HOLDS: {"runs": tables("random", gcn=80.0, gat=80.5)},
        OPPOSITE: {"runs": tables("random", gcn=83.0, gat=83.0)},
        FEW: {"runs": tables("random", gcn=81.5, gat=81.5, **FEW_RUNS)},
        NONE: {"runs": tables("fixed", gcn=80.0, gat=80.5)},
    },
    "C3": {
        HOLDS: {"runs": both_kinds(cgnn_discrete=80.0)},
        OPPOSITE: {"runs": both_kinds(cgnn_discrete=83.0)},
        FEW: {"runs": both_kinds(cgnn_discrete=81.5, **FEW_RUNS)},
        NONE: {"runs": both_kinds(gcn=80.0)},
    },
    "C4": {
        HOLDS: {"runs": both_kinds(cgnn_weight=82.1)},
        OPPOSITE: {"runs": both_kinds(cgnn_weight=85.0)},
        FEW: {"runs": both_kinds(cgnn_weight=82.1, **FEW_RUNS)},
        NONE: {"runs": both_kinds(gcn=80.0)},
    },
    "C5": {
        HOLDS: layers(FALLING),
        OPPOSITE: layers(RISING),
        FEW: layers({2: 81.5, 3: 81.0, 16: 80.0}, **FEW_RUNS),
        NONE: layers({2: 81.5, 3: 81.0}),
    },
    "C6": {
        HOLDS: times({1.0: 75.0, 5.0: 80.0, 15.0: 82.0, 30.0: 82.2, 50.0: 81.9}),
        OPPOSITE: times({1.0: 75.0, 15.0: 82.0, 30.0: 70.0}),
        FEW: times({5.0: 80.0, 15.0: 82.0, 30.0: 81.0}, **FEW_RUNS),
        NONE: times({1.0: 75.0, 5.0: 80.0}),
    },
    "C7": {
        HOLDS: removed({15.0: 76.0, 20.0: 70.0, 30.0: 50.0}),
        OPPOSITE: removed({15.0: 81.9, 20.0: 82.0, 30.0: 82.1}),
        FEW: removed({15.0: 80.0, 20.0: 79.0, 30.0: 78.0}, n=2, std=5.0),
        NONE: {"sweeps": pd.concat([sweep("cgnn", "t1", LATE), without_h0({1.0: 60.0, 5.0: 40.0, 10.0: 20.0})])},
    },
    "C8": {
        HOLDS: memory(LINEAR),
        OPPOSITE: memory({2: 30, 4: 22, 8: 31, 16: 21}),
        FEW: memory({2: 22.0, 4: 24.6, 8: 28.0}),
        NONE: memory({2: 22, 4: 24}),
    },
    "C9": {
        HOLDS: adjoint({1: 20.0, 10: 20.0, 50: 20.4}, *DEEP),
        OPPOSITE: adjoint({1: 40.0, 10: 60.0, 50: 90.0}, *DEEP),
        FEW: adjoint({1: 20.0, 10: 20.0}),
        NONE: adjoint({1: 20.0}, *DEEP),
    },
    "C10": {
        HOLDS: {"convergence": converging()},
        OPPOSITE: {"convergence": converging(rate=0.02)},
        FEW: {"convergence": converging(end=20.0)},
        NONE: {"convergence": converging()[:0]},
    },
    "C11": {
        HOLDS: {"profiles": epochs(0.60, 0.60)},
        OPPOSITE: {"profiles": epochs(0.02, 0.02)},
        FEW: {"profiles": epochs(0.60, 0.60, timings=2)},
        NONE: {"profiles": pd.concat([profile("gcn", {2: 20}), profile("cgnn_exact", {10: 20})])},
    },
    "C12": {
        HOLDS: {"runs": residual({2: 77.0, 4: 77.0, 8: 76.5, 16: 76.0})},
        OPPOSITE: {"runs": residual({2: 77.0, 4: 80.0, 8: 81.0, 16: 82.0})},
        FEW: {"runs": residual({2: 77.0, 4: 77.0, 8: 77.5}, **FEW_RUNS)},
        NONE: {"runs": residual({2: 77.0})},
    },
    "C13a": {
        HOLDS: {"fidelity": augmented(82.1)},
        OPPOSITE: {"fidelity": augmented(78.0)},
        FEW: {"fidelity": augmented(82.5, std_with=2.0, std_without=2.0)},
        NONE: {"fidelity": augmented(82.0).query("sw_augmentation == 'zeros'")},
    },
    "C13b": {
        HOLDS: {"fidelity": augmented(82.0, lost_without=8)},
        OPPOSITE: {"fidelity": augmented(82.0, lost_with=8)},
        FEW: {"fidelity": augmented(82.0, lost_without=2)},
        NONE: {"fidelity": augmented(82.0).query("sw_augmentation == 'zeros'")},
    },
}


@pytest.mark.parametrize(
    ("name", "truth"),
    [(name, truth) for name, cases in CASES.items() for truth in cases],
    ids=lambda value: value.replace(" ", "-"),
)
def test_a_claim_gets_the_verdict_that_is_known_to_be_right(name, truth):
    claim = judged(name, **CASES[name][truth])
    assert claim.verdict is truth
    assert bool(claim.why) == (truth in (FEW, NONE))


def test_every_claim_has_all_four_cases():
    assert set(CASES) == set(TESTS)
    assert all(set(cases) == {HOLDS, OPPOSITE, FEW, NONE} for cases in CASES.values())


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("C1", {"runs": tables("fixed", gcn=(80.0, 82.0, 83.0), gat=80.0)}),
        ("C3", {"runs": both_kinds(cgnn_discrete=(80.0, 82.0, 82.0))}),
        ("C4", {"runs": both_kinds(cgnn_weight=(82.0, 82.0, 85.0))}),
        ("C5", {"sweeps": pd.concat([sweep("gcn", "layers", FALLING), sweep("gat", "layers", RISING)])}),
        (
            "C6",
            {"sweeps": pd.concat([sweep("cgnn", "t1", STABLE), sweep("cgnn", "t1", STABLE | {30.0: 70.0}, "pubmed")])},
        ),
        ("C7", removed({15.0: 76.0, 20.0: 76.1, 30.0: 76.0})),
        ("C9", adjoint({1: 20.0, 10: 25.0, 50: 30.0}, *DEEP)),
        ("C11", {"profiles": epochs(0.60, 3.0)}),
        ("C12", {"runs": residual({2: 77.0, 4: 76.0, 8: 80.0, 16: 76.0})}),
    ],
)
def test_a_claim_is_partly_reproduced_if_only_some_comparisons_pass(name, frames):
    claim = judged(name, **frames)
    assert claim.verdict is Verdict.PARTLY
    assert {item.passed for item in claim.comparisons} == {True, False}


def test_a_range_that_noise_explains_does_not_show_that_accuracy_depends_on_the_time():
    """Three means of ten runs with a deviation of 8 points span four points even if the ending time has no effect."""
    noisy = without_h0({15.0: 27.3, 20.0: 22.3, 30.0: 23.0}, n=10, std=8.0)
    claim = judged("C7", sweeps=pd.concat([sweep("cgnn", "t1", LATE, n=10), noisy]))
    worse, wider = claim.comparisons
    assert (worse.outcome, wider.outcome) == (Outcome.PASSED, Outcome.TOO_FEW_RUNS)
    assert wider.estimate == pytest.approx(5.0, abs=0.1) and wider.p > 0.05


def test_the_least_favourable_of_undecided_leads_is_the_one_farthest_from_the_claim():
    runs = both_kinds(cgnn_discrete=(82.1, 82.5, 82.0), std=1.5)
    claim = judged("C3", runs=runs[runs["split_kind"] == "fixed"])
    assert claim.weakest.label == "Citeseer, fixed: CGNN − CGNN discrete"


def test_a_cost_of_another_order_of_magnitude_is_not_partly_reproduced():
    """A claim is partly reproduced if some comparison passes; a slowdown of another order does not pass."""
    claim = judged("C11", profiles=epochs(3.0, 3.0))
    assert claim.verdict is Verdict.NOT_REPRODUCED
    assert "with the exact solver 0.90 times (CGNN)" in claim.evidence


def test_the_cost_is_also_given_beside_faster_implementations_of_gcn():
    times = {("cgnn", "released"): 1000.0, ("gcn", "pyg"): 20.0, ("gcn", "pyg_sparse"): 10.0, ("gcn", "fused"): 4.0}
    bench = [
        {"dataset": "cora", "model": model, "recipe": recipe, "ms_per_epoch": ms, "ms": [ms] * 5}
        for (model, recipe), ms in times.items()
    ]
    claim = judged("C11", bench=bench)
    assert claim.comparisons[0].estimate == pytest.approx(50.0)
    assert "takes 100 (GCN, PyG, sparse features), 250 (GCN, ours)." in claim.evidence


def test_a_claim_that_was_only_half_tested_is_at_most_partly_reproduced():
    one_dataset = tables("random", gcn=80.0, gat=80.0).query("dataset == 'cora'")
    claim = judged("C2", runs=one_dataset)
    assert all(item.passed for item in claim.comparisons)
    assert (len(claim.comparisons), len(claim.missing), claim.verdict) == (2, 3, Verdict.PARTLY)
    assert judged("C5", sweeps=sweep("gcn", "layers", FALLING)).verdict is Verdict.PARTLY


def test_out_of_memory_is_reported_as_missing_and_does_not_affect_the_verdict():
    nell = [rows("nell", "cgnn", [65.0, 65.5, 64.5]), rows("nell", "gcn", [57.0, 57.5, 56.5])]
    lost = rows("nell", "gat", [None] * 10, status="out_of_memory")
    claim = judged("C1", runs=pd.concat([tables("fixed", gcn=80.0, gat=80.0), *nell, lost]))
    assert claim.verdict is Verdict.REPRODUCED
    assert claim.missing == ("NELL (GAT: out of memory)",)


def test_a_users_own_graph_does_not_affect_a_claim_of_the_paper():
    added = tables("fixed", gcn=90.0, gat=90.0).assign(dataset="mine")
    assert judged("C1", runs=added).verdict is Verdict.NOT_TESTABLE
    assert judged("C1", runs=pd.concat([added, tables("fixed", gcn=80.0, gat=80.0)])).verdict is Verdict.REPRODUCED


@pytest.mark.parametrize("name", ["C1", "C3", "C4"])
def test_variants_of_a_model_do_not_affect_a_claim(name):
    """A variant has the same model, preset and source of hyperparameters as the cell of Tables 2 and 3 beside it."""
    runs = both_kinds(gcn=80.0, gat=80.0, cgnn_discrete=80.0, cgnn_weight=82.1)
    variant = both_kinds(cgnn_discrete=90.0, cgnn_weight=90.0).assign(variant="source_gradient-flows")
    assert judged(name, runs=pd.concat([runs, variant])) == judged(name, runs=runs)


def test_models_beyond_the_paper_do_not_affect_a_claim():
    runs = tables("fixed", gcn=80.0, gat=80.0, appnp=85.0, sgc=85.0)
    assert judged("C1", runs=runs).verdict is Verdict.REPRODUCED
