"""Judge all claims and write one report with a stable, documented format (docs/claims.md)."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.claims.accuracy import c1, c2, c3, c4
from cgnn.analysis.claims.augmentation import c13a, c13b
from cgnn.analysis.claims.base import Claim, Comparison, Evidence, Outcome, Part, Verdict
from cgnn.analysis.claims.cost import c11
from cgnn.analysis.claims.depth import c5, c6, c7, c12
from cgnn.analysis.claims.fixed_point import c10
from cgnn.analysis.claims.memory import c8, c9
from cgnn.analysis.measured import load_bench, load_profiles
from cgnn.analysis.rows import choose_protocol, load_rows
from cgnn.analysis.statistics import LEVEL, SIGNIFICANCE
from cgnn.files import sha256_of, write_text
from cgnn.paper.reported import Reported

SCHEMA = 2
#: The function c13a tests the claim C13a.
TESTS = {test.__name__.capitalize(): test for test in (c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13a, c13b)}


def load_evidence(
    inputs: Mapping[str, Any], reported: Reported, preset: str | None = None, source: str | None = None
) -> Evidence:
    """Read the result files that exist."""

    def read(name: str) -> pd.DataFrame | None:
        return load_rows(inputs[name]) if name in inputs else None

    runs = read("runs")
    empty = pd.DataFrame(columns=["hyperparameter_source", "preset"])
    protocol = choose_protocol(empty if runs is None else runs, preset, source)
    return Evidence(
        reported,
        protocol,
        runs=runs,
        sweeps=read("sweeps"),
        fidelity=read("fidelity"),
        profiles=load_profiles(inputs["profiles"]) if "profiles" in inputs else None,
        convergence=pd.read_csv(inputs["convergence"]) if "convergence" in inputs else None,
        bench=load_bench(inputs.get("bench")),
    )


def judge(evidence: Evidence, inputs: Mapping[str, Path] | None = None) -> dict[str, Any]:
    """The content of claims.json; ``inputs`` are the files behind the evidence."""
    judged = [_record(TESTS[name](evidence), text) for name, text in evidence.reported.claims.items()]
    return {
        "schema": SCHEMA,
        "protocol": {"preset": evidence.protocol.preset, "source": evidence.protocol.source},
        "level": LEVEL,
        "significance": SIGNIFICANCE,
        "inputs": [
            {"name": name, "file": path.name, "sha256": sha256_of(path)}
            for name, path in sorted((inputs or {}).items())
        ],
        "counts": {verdict.value: sum(item["verdict"] == verdict for item in judged) for verdict in Verdict},
        "claims": judged,
    }


def write_claims(report: dict[str, Any], path: Path | str) -> None:
    write_text(path, json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _record(claim: Claim, text: str) -> dict[str, Any]:
    weakest = claim.weakest
    protocols = [_protocol(part) for part in claim.parts]
    return {
        "id": claim.id,
        "text": text,
        "verdict": claim.verdict.value,
        "verdict_holm": claim.verdict_holm.value,
        "why": claim.why,
        "test": claim.test,
        "evidence": claim.evidence,
        "effect": None if weakest is None else _plain(weakest),
        "comparisons": [_plain(item) for item in claim.comparisons],
        "missing": list(claim.missing),
        "protocols": protocols,
        "also": {item["label"]: item["verdict"] for item in protocols} if len(protocols) > 1 else {},
    }


def _protocol(part: Part) -> dict[str, Any]:
    outcomes = [item.outcome for item in part.comparisons]
    return {
        "label": part.scope.label,
        **asdict(part.scope),
        "main": part.main,
        "complete": part.complete,
        "verdict": part.verdict.value,
        "verdict_holm": part.verdict_holm.value,
        "outcomes": {outcome.value: outcomes.count(outcome) for outcome in Outcome},
        "missing": list(part.missing),
    }


def _plain(item: Comparison) -> dict[str, Any]:
    """A comparison as plain JSON; missing numbers are null, because JSON has no nan."""
    return {name: _value(value) for name, value in asdict(item).items()} | {
        "passed": item.passed,
        "p_adjusted": _value(item.p_holm),  # its name in schema 1
        "outcome_holm": item.outcome_holm.value,
    }


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _value(inner) for name, inner in value.items()}
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
