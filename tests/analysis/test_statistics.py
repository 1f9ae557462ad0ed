"""Differences and intervals against scipy, statsmodels and values computed by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW, ttost_ind, ttost_paired

from cgnn.analysis.statistics import (
    Sample,
    bootstrap,
    depends_on_level,
    exact_equivalence,
    fit_line,
    holm,
    paired,
    sign_flip,
    welch,
    welch_from_summary,
)

A = [82.1, 83.0, 81.7, 82.9, 84.0, 82.2, 83.3, 81.9]
B = [80.9, 82.5, 81.1, 82.0, 81.5, 81.2, 83.0]


def test_welch_agrees_with_scipy_and_statsmodels():
    gap = welch(A, B)
    assert gap.p == pytest.approx(stats.ttest_ind(A, B, equal_var=False).pvalue)
    low, high = CompareMeans(DescrStatsW(A), DescrStatsW(B)).tconfint_diff(usevar="unequal")
    assert (gap.low, gap.high) == (pytest.approx(low), pytest.approx(high))


def test_welch_from_summary_statistics_agrees_with_scipy():
    left, right = Sample.of(A), Sample.of(B)
    expected = stats.ttest_ind_from_stats(left.mean, left.std, left.n, right.mean, right.std, right.n, equal_var=False)
    assert welch_from_summary(left, right).p == pytest.approx(expected.pvalue)


def test_paired_agrees_with_scipy():
    gap = paired(A[:7], B)
    expected = stats.ttest_rel(A[:7], B)
    interval = expected.confidence_interval(0.95)
    assert gap.p == pytest.approx(expected.pvalue)
    assert (gap.low, gap.high) == (pytest.approx(interval.low), pytest.approx(interval.high))


def test_equivalence_agrees_with_statsmodels():
    assert welch(A, B).p_equivalent(2.0) == pytest.approx(ttost_ind(A, B, -2.0, 2.0, usevar="unequal")[0])
    expected = ttost_paired(np.array(A[:7]), np.array(B), -2.0, 2.0)[0]
    assert paired(A[:7], B).p_equivalent(2.0) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(max_examples=20, deadline=None)
def test_holm_is_the_step_down_rule(p_values):
    """By definition: the k-th smallest of m is multiplied by m − k + 1, and no value is below the previous one."""
    m, ordered = len(p_values), sorted(p_values)
    raised = np.maximum.accumulate([min(1.0, (m - k) * p) for k, p in enumerate(ordered)])
    assert sorted(holm(p_values)) == pytest.approx(list(raised))


def test_a_missing_p_value_is_not_counted_and_stays_missing():
    assert holm([0.01, math.nan, 0.02])[0] == pytest.approx(0.02)
    assert math.isnan(holm([0.01, math.nan, 0.02])[1])


def test_the_interval_of_a_mean_agrees_with_the_formula():
    low, high = Sample(10.0, 2.0, 4).interval()
    assert high - 10.0 == pytest.approx(3.182446 * 2 / 2, rel=1e-6)  # t(0.975, 3) · s/√n
    assert low == pytest.approx(20.0 - high)


def test_hedges_g_agrees_with_the_formula():
    # d = 1, correction 1 − 3/(4·18 − 1)
    assert welch_from_summary(Sample(1.0, 1.0, 10), Sample(0.0, 1.0, 10)).effect == pytest.approx(1 - 3 / 71)


def test_identical_runs_have_a_difference_of_exactly_zero():
    gap = paired([80.0, 81.0, 82.0], [80.0, 81.0, 82.0])
    assert (gap.estimate, gap.low, gap.high, gap.p) == (0.0, 0.0, 0.0, 1.0)
    assert gap.p_equivalent(1.0) == 0.0


def test_a_single_run_has_a_difference_but_no_interval():
    gap = welch([80.0], [81.0, 82.0])
    assert gap.estimate == -1.5
    assert math.isnan(gap.p) and math.isnan(gap.low)


def test_the_fit_of_an_exact_line_has_no_uncertainty():
    line = fit_line([1, 2, 4, 8], [3, 5, 9, 17])
    assert (line.slope, line.r_squared) == (pytest.approx(2), pytest.approx(1))
    assert line.low == pytest.approx(2) and line.p < 1e-6


@pytest.mark.parametrize("values", [[1.0, 2.0, -0.5, 3.0, 0.2], [0.3, -0.1, 0.4], [-1.0, -2.0]])
def test_the_sign_flip_test_counts_all_assignments_of_signs(values):
    means = [np.mean(np.multiply(values, signs)) for signs in itertools.product((1, -1), repeat=len(values))]
    assert sign_flip(values) == pytest.approx(np.mean(np.array(means) >= np.mean(values) - 1e-12))


def test_the_sign_flip_test_counts_ties_that_rounding_errors_would_hide():
    """Sums of tenths that are equal on paper differ in their last bit."""
    values = [0.1, 0.2, -0.3, 0.7, -0.6, 0.1, 0.4, -0.5, 0.2, 0.3]
    tenths = [round(10 * value) for value in values]
    sums = [np.dot(tenths, signs) for signs in itertools.product((1, -1), repeat=len(values))]
    assert sign_flip(values) == pytest.approx(np.mean(np.array(sums) >= sum(tenths)))


def test_dependence_on_a_level_counts_the_orders_of_the_levels_within_each_replica():
    samples = np.array([[1.0, 2.0, 1.5, 3.0], [2.0, 2.5, 2.5, 2.9], [0.5, 1.8, 2.6, 2.0]])
    ranges = []
    for orders in itertools.product(itertools.permutations(range(3)), repeat=4):
        means = np.array([[samples[order[level], i] for i, order in enumerate(orders)] for level in range(3)]).mean(1)
        ranges.append(np.ptp(means))
    exact = np.mean(np.array(ranges) >= np.ptp(samples.mean(1)) - 1e-12)
    assert depends_on_level(samples) == pytest.approx(exact, abs=0.02)
    assert depends_on_level([[1.0, 2.0, 3.0]] * 3) == 1.0
    assert math.isnan(depends_on_level([[1.0], [2.0]]))


def test_the_basic_bootstrap_reflects_the_percentiles_about_the_estimate():
    low, high, _ = bootstrap([A], lambda sample, axis: np.mean(sample, axis=axis))
    reflected = bootstrap([A], lambda sample, axis: np.mean(sample, axis=axis), "basic")[:2]
    assert reflected == pytest.approx((2 * np.mean(A) - high, 2 * np.mean(A) - low))


def test_exact_equivalence_needs_enough_pairs_that_are_close():
    assert exact_equivalence([0.0] * 10, 1.0) == pytest.approx(2**-10)
    assert exact_equivalence([0.0] * 4, 1.0) == pytest.approx(2**-4)  # four pairs can never reach 5 %
    assert exact_equivalence([1.5] * 10, 1.0) == 1.0
    assert math.isnan(exact_equivalence([0.0], 1.0))


def test_exact_equivalence_agrees_with_the_t_test_on_many_pairs():
    gaps = np.random.default_rng(3).normal(0.7, 1.0, 16)
    exact = exact_equivalence(gaps, 1.0)
    assert exact == pytest.approx(ttost_paired(gaps, np.zeros(16), -1.0, 1.0)[0], abs=0.02)


def test_the_bootstrap_of_a_mean_is_close_to_its_t_interval_and_reproducible():
    values = np.random.default_rng(5).normal(1.0, 1.0, 200)

    def mean(sample, axis=-1):
        return np.mean(sample, axis=axis)

    low, high, p = bootstrap([values], mean)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (low, high) == (pytest.approx(expected.low, abs=0.03), pytest.approx(expected.high, abs=0.03))
    assert p < 0.001 and bootstrap([values], mean) == (low, high, p)
    assert bootstrap([values - values.mean()], mean)[2] > 0.5
