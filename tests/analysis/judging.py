"""Functions that judge a claim on synthetic rows, and that build the rows several tests start from."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import synthetic_results as synthetic
from synthetic_results import exact_sample, rows

from cgnn.analysis.claims.base import Evidence
from cgnn.analysis.rows import Protocol
from cgnn.analysis.verdicts import TESTS
from cgnn.paper.fidelity import preset
from cgnn.paper.reported import load_reported

REPORTED = load_reported(synthetic.REPORTED)
NOTHING = Evidence(REPORTED, Protocol("published", "released"))
DATASETS = ("cora", "citeseer", "pubmed")


def sampled(mean, n=10, std=0.6, seed=0):
    return exact_sample(mean, std, n, seed)


def judged(name, **frames):
    return TESTS[name](replace(NOTHING, **frames))


def tables(kind, n=10, std=0.6, **means):
    """CGNN at 82 and each other model at its mean on all three datasets, or at one mean per dataset."""
    parts = []
    for number, dataset in enumerate(DATASETS):
        for seed, (model, mean) in enumerate({"cgnn": 82.0, **means}.items()):
            value = mean[number] if isinstance(mean, tuple) else mean
            parts.append(rows(dataset, model, sampled(value, n, std, seed=seed), split_kind=kind))
    return pd.concat(parts, ignore_index=True)


def both_kinds(**options):
    return pd.concat([tables("fixed", **options), tables("random", **options)], ignore_index=True)


def sweep(model, axis, means, dataset="cora", n=5, std=0.6, **options):
    """One group of runs per value of the axis."""
    return pd.concat(
        [
            rows(dataset, model, sampled(mean, n, std, seed=i), **{axis: value}, **options)
            for i, (value, mean) in enumerate(means.items())
        ]
    )


def without_h0(means, dataset="cora", derivative="released", form="discussion", **options):
    switches = preset("released", derivative=derivative, no_h0=form)
    return sweep("cgnn_no_h0", "t1", means, dataset, fidelity=switches, **options)


def residual(means, split_kind="fixed", n=10, std=0.6, **options):
    """One group of runs per depth."""
    parts = []
    for depth, mean in means.items():
        options |= {"split_kind": split_kind, "layers": depth, "variant": f"layers-{depth}"}
        parts.append(rows("cora", "gcn_residual", sampled(mean, n, std, seed=depth), **options))
    return pd.concat(parts)


def profile(method, peaks, dataset="cora", seconds=0.01, timings=4):
    axis = "layers" if method in ("gcn", "gat", "cgnn_discrete") else "t1"
    return pd.DataFrame(
        {
            "dataset": dataset,
            "method": method,
            "axis": axis,
            "value": list(peaks),
            "status": "ok",
            "peak_bytes": [int(mib * 2**20) for mib in peaks.values()],
            "seconds_per_epoch": seconds,
            "seconds": json.dumps([seconds * factor for factor in (0.98, 1.0, 1.02, 1.01)][:timings]),
        }
    )


def epochs(cgnn, weight, timings=4):
    """Timed epochs on Cora; GCN takes 10 ms."""
    seconds = {"cgnn_adjoint": cgnn, "cgnn_weight_dopri5": weight, "cgnn_exact": 0.009}
    parts = [profile(method, {10: 20}, seconds=value, timings=timings) for method, value in seconds.items()]
    return pd.concat([profile("gcn", {2: 20}, timings=timings), *parts])


def converging(rate=0.05, predicted=0.05, end=400.0):
    """Distances to both limits that decrease at ``rate``."""
    t = np.geomspace(0.5, end, 25)
    one = pd.DataFrame({"t": t, "distance": np.exp(-rate * t), "predicted_rate": predicted, "norm": 1.0})
    return pd.concat([one.assign(kind=kind) for kind in ("paper", "paper_weight")])


def augmented(mean_without, std_with=0.6, std_without=0.6, lost_with=0, lost_without=0, n=10):
    """CGNN with weight, with augmentation (mean 82) and without it; the first runs of each may be diverged."""
    values = sampled(82.0, n, std_with), sampled(mean_without, n, std_without, seed=1)
    values[0][:lost_with], values[1][:lost_without] = [None] * lost_with, [None] * lost_without
    plain = preset("released", augmentation="none")
    return pd.concat(
        [
            rows("cora", "cgnn_weight", values[0], variant="weight-released"),
            rows("cora", "cgnn_weight", values[1], variant="augmentation-none", fidelity=plain),
        ]
    )
