"""A claim judged on made-up rows, and the rows of Tables 2 and 3 that several tests start from."""

from dataclasses import replace

import made_up
import pandas as pd
from made_up import exact_sample, rows

from cgnn.analysis.claims.base import Evidence
from cgnn.analysis.rows import Protocol
from cgnn.analysis.verdicts import TESTS
from cgnn.paper.reported import load_reported

REPORTED = load_reported(made_up.REPORTED)
NOTHING = Evidence(REPORTED, Protocol("published", "released"))
DATASETS = ("cora", "citeseer", "pubmed")


def sampled(mean, n=10, std=0.6, seed=0):
    return exact_sample(mean, std, n, seed)


def verdict(name, **frames):
    return TESTS[name](replace(NOTHING, **frames))


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
