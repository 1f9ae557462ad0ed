"""Rules of individual claims: protocols, readings, margins, and which runs do not count."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import synthetic_results as synthetic
from judging import NOTHING, augmented, both_kinds, judged, profile, residual, sweep, tables, without_h0
from synthetic_results import rows

from cgnn.analysis.claims.base import Kind, Outcome, Verdict, directional, grade
from cgnn.analysis.rows import Protocol
from cgnn.analysis.statistics import welch
from cgnn.analysis.verdicts import TESTS
from cgnn.paper.fidelity import preset

LATE = {15.0: 82.0, 20.0: 82.0, 30.0: 82.0}
COLLAPSE = {15.0: 60.0, 20.0: 40.0, 30.0: 20.0}


def by_protocol(claim):
    return {part.scope.label: part.verdict for part in claim.parts}


def test_a_verdict_that_differs_between_settings_depends_on_the_protocol():
    searched = tables("fixed", gcn=90.0, gat=90.0).assign(hyperparameter_source="search")
    claim = judged("C1", runs=pd.concat([tables("fixed", gcn=80.0, gat=80.0), searched]))
    assert claim.verdict is Verdict.DEPENDS
    assert by_protocol(claim) == {
        "released/published, fixed": Verdict.REPRODUCED,
        "released/search, fixed": Verdict.NOT_REPRODUCED,
    }
    assert all(item.passed for item in claim.comparisons)  # those of the main protocol


def test_a_verdict_that_differs_between_split_kinds_depends_on_the_protocol():
    runs = pd.concat([tables("fixed", cgnn_discrete=80.0), tables("random", cgnn_discrete=84.0)])
    claim = judged("C3", runs=runs)
    assert claim.verdict is Verdict.DEPENDS
    assert [part.verdict for part in claim.parts] == [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]


def test_protocols_that_agree_give_one_verdict():
    searched = tables("fixed", gcn=79.0, gat=79.0).assign(hyperparameter_source="search")
    claim = judged("C1", runs=pd.concat([tables("fixed", gcn=80.0, gat=80.0), searched]))
    assert claim.verdict is Verdict.REPRODUCED and len(claim.parts) == 2


@pytest.mark.parametrize("verdict", ["too few", "mostly missing"])
def test_an_inconclusive_protocol_does_not_change_the_verdict(verdict):
    other = tables("fixed", n=3, std=4.0, gcn=82.0, gat=82.0)
    if verdict == "mostly missing":
        other = tables("fixed", gcn=84.0).query("dataset == 'cora'")
    other = other.assign(hyperparameter_source="search")
    claim = judged("C1", runs=pd.concat([tables("fixed", gcn=80.0, gat=80.0), other]))
    assert claim.verdict is Verdict.REPRODUCED


def test_runs_of_another_protocol_are_shown_but_do_not_decide():
    searched = tables("fixed", cgnn_weight=82.0).assign(hyperparameter_source="search")
    runs = pd.concat([searched, tables("fixed", gcn=80.0, gat=80.0)])
    claim = TESTS["C1"](replace(NOTHING, runs=runs, protocol=Protocol("search", "released")))
    assert claim.verdict is Verdict.NOT_TESTABLE and claim.comparisons == ()
    assert by_protocol(claim)["released/published, fixed"] is Verdict.REPRODUCED


def test_splits_drawn_by_another_rule_are_a_separate_protocol():
    pool = tables("random", gcn=84.0, gat=84.0).assign(split_kind="pool")
    claim = judged("C2", runs=pd.concat([tables("random", gcn=80.0, gat=80.0), pool]))
    assert claim.verdict is Verdict.DEPENDS
    assert by_protocol(claim)["released/published, pool"] is Verdict.NOT_REPRODUCED
    assert claim.parts[1].comparisons[0].method == "paired t"


def test_a_conjunction_needs_no_adjustment_and_holm_is_reported_too():
    claim = judged("C1", runs=tables("fixed", gcn=81.4, gat=81.4))
    p_values = [item.p for item in claim.comparisons]
    assert max(p_values) < 0.05 < 6 * min(p_values)
    assert (claim.verdict, claim.verdict_holm) == (Verdict.REPRODUCED, Verdict.TOO_FEW_RUNS)
    assert min(item.p_holm for item in claim.comparisons) == pytest.approx(6 * min(p_values))


def test_a_false_conjunction_is_called_reproduced_at_most_at_the_stated_rate():
    """One of six true differences is zero: simulated claims pass in at most 5 % of cases, without any adjustment."""
    generator, lead = np.random.default_rng(1), [0.0, 3.0, 3.0, 3.0, 3.0, 3.0]
    verdicts = []
    for _ in range(600):
        gaps = [welch(generator.normal(true, 1.0, 10), generator.normal(0.0, 1.0, 10)) for true in lead]
        verdicts.append(grade([directional(Kind.DIFFERENCE, "", gap, +1).outcome for gap in gaps]))
    assert 0.01 < np.mean([verdict is Verdict.REPRODUCED for verdict in verdicts]) < 0.05


def test_equal_models_contradict_an_advantage_once_there_are_many_runs():
    few, many = (judged("C3", runs=both_kinds(n=n, std=1.5, cgnn_discrete=82.0)).verdict for n in (4, 100))
    assert (few, many) == (Verdict.TOO_FEW_RUNS, Verdict.NOT_REPRODUCED)


@pytest.mark.parametrize(
    ("outcomes", "missing", "expected"),
    [
        ([Outcome.PASSED, Outcome.PASSED], 1, Verdict.REPRODUCED),
        ([Outcome.PASSED, Outcome.PASSED], 2, Verdict.PARTLY),
        ([Outcome.PASSED, Outcome.TOO_FEW_RUNS], 0, Verdict.PARTLY),
        ([Outcome.CONTRADICTED, Outcome.TOO_FEW_RUNS], 0, Verdict.NOT_REPRODUCED),
        ([Outcome.TOO_FEW_RUNS], 0, Verdict.TOO_FEW_RUNS),
        ([Outcome.CANNOT_FAIL], 0, Verdict.NOT_TESTABLE),
        ([Outcome.PASSED, Outcome.CANNOT_FAIL], 0, Verdict.REPRODUCED),
    ],
)
def test_outcomes_give_the_verdict_that_the_documentation_states(outcomes, missing, expected):
    assert grade(outcomes, ["one"] * missing) is expected


def test_each_reading_without_h0_has_its_own_verdict():
    sweeps = pd.concat(
        [
            sweep("cgnn", "t1", LATE),
            without_h0({15.0: 81.9, 20.0: 82.0, 30.0: 82.1}),
            without_h0(COLLAPSE, form="printed"),
            without_h0(COLLAPSE, derivative="paper"),
        ]
    )
    claim = judged("C7", sweeps=sweeps)
    assert claim.verdict is Verdict.DEPENDS
    assert by_protocol(claim) == {
        "released derivative and H' = (A − I)H(t)": Verdict.NOT_REPRODUCED,
        "released derivative and H' = (A − I)H(0)": Verdict.REPRODUCED,
        "printed derivative and H' = (A − I)H(t)": Verdict.REPRODUCED,
        "printed derivative and H' = (A − I)H(0)": Verdict.NOT_TESTABLE,
    }
    assert len({item.label for item in claim.comparisons}) == len(claim.comparisons) == 6


def test_a_reading_is_compared_with_cgnn_of_the_same_derivative_if_available():
    low = {t: mean - 30 for t, mean in LATE.items()}
    own = sweep("cgnn", "t1", low, fidelity=preset("released", derivative="paper"), preset_name="paper")
    sweeps = pd.concat([sweep("cgnn", "t1", LATE), own, without_h0({t: 52.0 for t in LATE}, derivative="paper")])
    gap = next(item for item in judged("C7", sweeps=sweeps).comparisons if item.kind is Kind.MARGIN)
    assert gap.estimate == pytest.approx(0.0) and gap.details["same_derivative"] is True
    without = pd.concat([sweep("cgnn", "t1", LATE), without_h0({t: 52.0 for t in LATE}, derivative="paper")])
    gap = next(item for item in judged("C7", sweeps=without).comparisons if item.kind is Kind.MARGIN)
    assert gap.estimate == pytest.approx(-30.0) and gap.details["same_derivative"] is False


def test_worse_by_less_than_the_margin_is_not_much_worse():
    """The test is against 2 points, not against 0."""
    sweeps = pd.concat([sweep("cgnn", "t1", LATE, n=10), without_h0({t: 80.8 for t in LATE}, n=10)])
    gap = next(item for item in judged("C7", sweeps=sweeps).comparisons if item.kind is Kind.MARGIN)
    assert gap.high < 0 and gap.outcome is Outcome.CONTRADICTED


def test_early_times_do_not_count_for_the_claim_about_h0():
    early = {1.0: 30.0, 2.0: 50.0}
    late = {15.0: 82.0, 20.0: 82.5, 30.0: 82.0}
    sweeps = pd.concat([sweep("cgnn", "t1", {**early, **late}), without_h0({**early, **COLLAPSE})])
    worse, wider = judged("C7", sweeps=sweeps).comparisons
    assert worse.estimate == pytest.approx(40.0 - 82.5)
    assert wider.estimate == pytest.approx((60.0 - 20.0) - (82.5 - 82.0))


def test_an_early_optimum_contradicts_robustness_best_for_large_t():
    claim = judged("C6", sweeps=sweep("cgnn", "t1", {1.0: 75.0, 5.0: 84.0, 15.0: 81.0, 30.0: 81.0}))
    assert claim.verdict is Verdict.NOT_REPRODUCED
    assert claim.comparisons[0].details["better_elsewhere"]


def test_the_crossover_depth_is_computed_from_the_line_with_and_without_augmentation():
    gcn = {2: 4.0, 4: 5.0, 8: 7.0, 16: 11.0}  # 3 + 0.5 · layers
    profiles = pd.concat(
        [
            profile("gcn", gcn),
            profile("gat", gcn),
            profile("cgnn_adjoint", {1: 26.0, 5: 26.0, 40: 26.0}),
            profile("cgnn_adjoint_no_augmentation", {1: 8.0, 5: 8.0, 40: 8.0}),
        ]
    )
    claim = judged("C9", profiles=profiles)
    depths = [[item.estimate for item in part.comparisons if item.kind is Kind.CROSSOVER] for part in claim.parts]
    assert depths == [pytest.approx([46.0, 46.0], rel=1e-6), pytest.approx([10.0, 10.0], rel=1e-6)]
    assert claim.parts[0].comparisons[1].details["extrapolated"] is True
    assert claim.verdict is Verdict.DEPENDS
    assert by_protocol(claim) == {"with augmentation": Verdict.PARTLY, "without augmentation": Verdict.REPRODUCED}


def test_the_fit_of_memory_has_no_effect_size():
    item = judged("C8", profiles=profile("gcn", {2: 22, 4: 24, 8: 28, 16: 36})).comparisons[0]
    assert item.details["r_squared"] == pytest.approx(1.0) and item.effect != item.effect


def test_depths_that_did_not_learn_are_excluded_from_gains():
    collapsed = pd.concat([residual({2: 77.0, 4: 77.0, 8: 77.0}), residual({16: 30.0}, final_train_loss=1.9)])
    claim = judged("C12", runs=collapsed)
    assert len(claim.comparisons) == 2
    assert claim.missing == ("Cora, fixed, 16 layers (0 of 10 runs learned)",)
    nothing = pd.concat([residual({2: 77.0}), residual({4: 30.0, 8: 30.0, 16: 30.0}, final_train_loss=1.9)])
    assert judged("C12", runs=nothing).verdict is Verdict.NOT_TESTABLE


def test_depths_of_different_protocols_or_constructions_are_not_compared():
    deep = residual({2: 77.0, 4: 77.0, 8: 77.0})
    shallow = rows("cora", "gcn_residual", [60.0, 60.5, 59.5], layers=2, source="search")
    other = residual({2: 60.0, 4: 60.0, 8: 90.0}, n=12).assign(variant=lambda frame: "earlier-" + frame["variant"])
    assert judged("C12", runs=pd.concat([shallow, deep, other])).verdict is Verdict.REPRODUCED


def test_identical_runs_are_no_evidence_about_augmentation():
    frame = augmented(82.0)
    same = frame[frame["sw_augmentation"] == "zeros"]["test_accuracy"].to_numpy()
    frame.loc[(frame["sw_augmentation"] == "none").to_numpy(), "test_accuracy"] = same
    for name in ("C13a", "C13b"):
        claim = judged(name, fidelity=frame)
        assert Outcome.CANNOT_FAIL in {item.outcome for item in claim.comparisons}
        assert not any(item.passed for item in claim.comparisons)
    assert judged("C13a", fidelity=frame).verdict is Verdict.NOT_TESTABLE


@pytest.mark.parametrize("name", ["C13a", "C13b"])
def test_runs_with_augmentation_are_found_in_the_main_tables(name):
    """The workflow does not repeat an unmodified preset in fidelity.csv."""
    frame = augmented(82.1, lost_without=8)
    with_zeros = frame["sw_augmentation"] == "zeros"
    separate = judged(name, runs=frame[with_zeros].assign(variant=""), fidelity=frame[~with_zeros])
    assert separate.comparisons
    assert separate == judged(name, fidelity=frame)


def test_a_smaller_spread_is_more_stable():
    calm = augmented(82.0, std_with=0.2, std_without=4.0, n=12)
    assert judged("C13b", fidelity=calm).verdict is Verdict.REPRODUCED
    wild = augmented(82.0, std_with=4.0, std_without=0.2, n=12)
    assert judged("C13b", fidelity=wild).verdict is Verdict.NOT_REPRODUCED


def test_runs_that_differ_in_more_than_augmentation_are_not_compared():
    frame = augmented(82.0)
    frame.loc[frame["variant"] == "augmentation-none", "sw_alpha"] = "tabulated"
    assert judged("C13a", fidelity=frame).verdict is Verdict.NOT_TESTABLE


def test_the_benchmark_is_preferred_if_it_was_run():
    claim = judged("C11", bench=synthetic.bench()["rows"])
    assert claim.comparisons[0].estimate == pytest.approx(1200 / 9)
