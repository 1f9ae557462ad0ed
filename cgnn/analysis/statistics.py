"""Differences with intervals and tests against a margin, exact paired tests, bootstrap and Holm."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from cgnn.paper.reported import Summary

Numbers = Sequence[float] | np.ndarray
LEVEL = 0.95  # of every interval in the project
SIGNIFICANCE = 0.05
RESAMPLES = 9999
ALL_SIGNS = 2**16  # with up to 16 pairs every assignment of signs is tried, with more this many random ones


@dataclass(frozen=True)
class Sample(Summary):
    """The summary of a group of our runs."""

    @classmethod
    def of(cls, values: Numbers) -> "Sample":
        data = np.asarray(values, dtype=float)
        std = float(data.std(ddof=1)) if data.size > 1 else math.nan
        return cls(float(data.mean()) if data.size else math.nan, std, int(data.size))

    def interval(self) -> tuple[float, float]:
        """The mean's 95 % interval, Student's t."""
        if self.n < 2:
            return math.nan, math.nan
        half = _quantile(self.n - 1) * self.std / math.sqrt(self.n)
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class Difference:
    """a − b: estimate, its standard error and degrees of freedom, interval, two-sided p, Hedges' g.

    scipy's ``ttest_ind_from_stats`` and statsmodels' ``ttost_ind`` only return p values. The interval and the tests
    against a margin, from a printed mean ± deviation, also need the standard error and its degrees of freedom.
    """

    estimate: float
    error: float
    freedom: float
    low: float
    high: float
    p: float
    effect: float
    n_a: int
    n_b: int
    method: str

    def p_above(self, bound: float) -> float:
        """One-sided p of "the true difference is at most ``bound``": small means it lies above."""
        return _upper_tail(self.estimate - bound, self.error, self.freedom)

    def p_below(self, bound: float) -> float:
        """One-sided p of "the true difference is at least ``bound``": small means it lies below."""
        return _upper_tail(bound - self.estimate, self.error, self.freedom)

    def p_equivalent(self, margin: float) -> float:
        """Two one-sided tests: small means the true difference lies within ± ``margin``."""
        return max(self.p_above(-margin), self.p_below(margin))


def paired(a: Numbers, b: Numbers) -> Difference:
    """Runs that share their split or seed: Student's t on the differences."""
    left, right = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    gap = Sample.of(left - right)
    error = gap.std / math.sqrt(gap.n) if gap.n > 1 else math.nan
    # g is scaled by the pooled deviation of the two groups, not by that of the differences,
    # so that paired and unpaired comparisons can be compared.
    effect = _hedges_g(Sample.of(left), Sample.of(right), gap.mean)
    return _difference(gap.mean, error, gap.n - 1, effect, gap.n, gap.n, "paired t")


def welch(a: Numbers, b: Numbers) -> Difference:
    """Independent groups with different variances."""
    return welch_from_summary(Sample.of(a), Sample.of(b))


def welch_from_summary(a: Summary, b: Summary) -> Difference:
    """Welch's test from mean, standard deviation and size, which is all that a paper prints."""
    estimate = a.mean - b.mean
    effect = _hedges_g(a, b, estimate)
    if a.n < 2 or b.n < 2:
        return _difference(estimate, math.nan, math.nan, effect, a.n, b.n, "Welch")
    share_a, share_b = a.std**2 / a.n, b.std**2 / b.n
    error = math.sqrt(share_a + share_b)
    # Welch–Satterthwaite
    weight = share_a**2 / (a.n - 1) + share_b**2 / (b.n - 1)
    freedom = (share_a + share_b) ** 2 / weight if weight > 0 else a.n + b.n - 2
    return _difference(estimate, error, freedom, effect, a.n, b.n, "Welch")


def holm(p_values: Numbers) -> list[float]:
    """Holm's step-down adjustment; a missing p (nan) stays missing and does not count."""
    from statsmodels.stats.multitest import multipletests  # imported here because statsmodels loads slowly

    adjusted = np.asarray(p_values, dtype=float)
    given = ~np.isnan(adjusted)
    if given.any():
        adjusted[given] = multipletests(adjusted[given], method="holm")[1]
    return adjusted.tolist()


def sign_flip(values: Numbers) -> float:
    """Exact one-sided p of "symmetric about 0 or below": small means that paired differences lie above 0."""
    # Integers, so that sums that are equal on paper are equal here.
    data = np.rint(np.asarray(values, dtype=float) * 1e9).astype(np.int64)
    if data.size < 2:
        return math.nan
    from scipy import stats

    found = stats.permutation_test(
        (data,),
        lambda sample, axis: np.sum(sample, axis=axis),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        n_resamples=ALL_SIGNS,
        rng=13,
    )
    return float(found.pvalue)


def exact_equivalence(differences: Numbers, margin: float) -> float:
    """Two one-sided sign-flip tests: small means that paired differences lie within ± ``margin``."""
    gaps = np.asarray(differences, dtype=float)
    return max(sign_flip(gaps + margin), sign_flip(margin - gaps))


def range_of_means(samples: Sequence[np.ndarray], axis: int = -1) -> np.ndarray:
    """The largest minus the smallest mean."""
    return np.ptp(np.stack([np.mean(sample, axis=axis) for sample in samples]), axis=0)


def depends_on_level(samples: Sequence[Numbers]) -> float:
    """p of "the level has no effect", for one sample per level: permutes the levels within each replica.

    The i-th value of each sample is of the same replica. Small means that the range of the means is no chance result.
    """
    data = [np.asarray(sample, dtype=float) for sample in samples]
    if len(data) < 2 or len(data[0]) < 2:
        return math.nan
    from scipy import stats

    found = stats.permutation_test(
        data,
        lambda *drawn, axis: range_of_means(drawn, axis),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=14,
    )
    return float(found.pvalue)


def bootstrap(
    samples: Sequence[Numbers],
    statistic: Callable[..., np.ndarray],
    method: Literal["percentile", "basic"] = "percentile",
) -> tuple[float, float, float]:
    """(low, high, p of "the statistic is 0") of a bootstrap that resamples each sample separately.

    ``statistic`` takes the samples and ``axis``. ``basic`` reflects the interval about the estimate, which corrects the
    bias of a statistic such as the range of means. The seed is fixed, so that verdicts are reproducible.
    """
    from scipy import stats

    drawn = stats.bootstrap(
        [np.asarray(sample, dtype=float) for sample in samples],
        statistic,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method=method,
        rng=12,
    )
    interval, draws = drawn.confidence_interval, drawn.bootstrap_distribution
    # Two-sided, and never below the resolution of the number of resamples.
    tail = max(min(np.mean(draws <= 0), np.mean(draws >= 0)), 1 / RESAMPLES)
    return float(interval.low), float(interval.high), float(min(1.0, 2 * tail))


@dataclass(frozen=True)
class Line:
    """A straight line through points: slope with interval and p, and the share of variance it explains."""

    slope: float
    intercept: float
    low: float
    high: float
    p: float
    r_squared: float
    n: int


def fit_line(x: Sequence[float], y: Sequence[float]) -> Line:
    """Least squares; with fewer than three points there is no interval."""
    from scipy import stats

    fit = stats.linregress(x, y)
    n = len(x)
    half = _quantile(n - 2) * float(fit.stderr) if n > 2 else math.nan
    slope, p = float(fit.slope), float(fit.pvalue) if n > 2 else math.nan
    return Line(slope, float(fit.intercept), slope - half, slope + half, p, float(fit.rvalue) ** 2, n)


def _difference(
    estimate: float, error: float, freedom: float, effect: float, n_a: int, n_b: int, method: str
) -> Difference:
    if math.isnan(error) or freedom < 1:
        return Difference(estimate, math.nan, math.nan, math.nan, math.nan, math.nan, effect, n_a, n_b, method)
    half = _quantile(freedom) * error
    p = min(1.0, 2 * _upper_tail(abs(estimate), error, freedom))
    return Difference(estimate, error, freedom, estimate - half, estimate + half, p, effect, n_a, n_b, method)


def _quantile(freedom: float) -> float:
    """Student's t of the 95 % interval. From scipy.special: importing scipy.stats takes a second per job."""
    return float(special.stdtrit(freedom, (1 + LEVEL) / 2))


def _upper_tail(distance: float, error: float, freedom: float) -> float:
    if math.isnan(error):
        return math.nan
    if error == 0:  # identical numbers in both groups: the distance is certain
        return 0.0 if distance > 0 else 1.0 if distance < 0 else 0.5
    return float(special.stdtr(freedom, -distance / error))


def _hedges_g(a: Summary, b: Summary, estimate: float) -> float:
    freedom = a.n + b.n - 2
    if a.n < 2 or b.n < 2:
        return math.nan
    pooled = math.sqrt(((a.n - 1) * a.std**2 + (b.n - 1) * b.std**2) / freedom)
    if pooled == 0:
        return 0.0 if estimate == 0 else math.copysign(math.inf, estimate)
    return estimate / pooled * (1 - 3 / (4 * freedom - 1))  # Hedges' correction for small samples
