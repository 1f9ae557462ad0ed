"""All claims judged, as one report with a stable schema."""

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.claims.accuracy import c1, c2, c3, c4
from cgnn.analysis.claims.augmentation import c13
from cgnn.analysis.claims.base import VERDICTS, Claim, Comparison, Evidence
from cgnn.analysis.claims.cost import c11
from cgnn.analysis.claims.depth import c5, c6, c7, c12
from cgnn.analysis.claims.fixed_point import c10
from cgnn.analysis.claims.memory import c8, c9
from cgnn.analysis.measured import load_bench, load_profiles
from cgnn.analysis.rows import Protocol, choose_protocol, load_rows, protocols
from cgnn.analysis.statistics import LEVEL, SIGNIFICANCE
from cgnn.files import write_text
from cgnn.paper.reported import Reported

SCHEMA = 1
TESTS = {
    "C1": c1,
    "C2": c2,
    "C3": c3,
    "C4": c4,
    "C5": c5,
    "C6": c6,
    "C7": c7,
    "C8": c8,
    "C9": c9,
    "C10": c10,
    "C11": c11,
    "C12": c12,
    "C13": c13,
}
#: These look at the main tables, so they are also judged under every other protocol the runs hold.
BY_PROTOCOL = ("C1", "C2", "C3", "C4")


def load_evidence(
    inputs: dict[str, Any], reported: Reported, preset: str | None = None, source: str | None = None
) -> Evidence:
    """Read the files that are there."""

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


def judge(evidence: Evidence) -> dict[str, Any]:
    """The content of claims.json."""
    judged = [_record(TESTS[name](evidence), text, evidence) for name, text in evidence.reported.claims.items()]
    return {
        "schema": SCHEMA,
        "protocol": {"preset": evidence.protocol.preset, "source": evidence.protocol.source},
        "level": LEVEL,
        "significance": SIGNIFICANCE,
        "counts": {verdict: sum(item["verdict"] == verdict for item in judged) for verdict in VERDICTS},
        "claims": judged,
    }


def write_claims(report: dict[str, Any], path: Path | str) -> None:
    write_text(path, json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _record(claim: Claim, text: str, evidence: Evidence) -> dict[str, Any]:
    weakest = claim.weakest
    return {
        "id": claim.id,
        "text": text,
        "verdict": claim.verdict,
        "why": claim.why,
        "test": claim.test,
        "evidence": claim.evidence,
        "effect": None if weakest is None else _plain(weakest),
        "comparisons": [_plain(item) for item in claim.comparisons],
        "missing": list(claim.missing),
        "also": _also(claim.id, evidence),
    }


def _also(name: str, evidence: Evidence) -> dict[str, str]:
    """Verdicts under the other protocols in the runs."""
    if name not in BY_PROTOCOL or evidence.runs is None:
        return {}
    others: list[Protocol] = [item for item in protocols(evidence.runs) if item != evidence.protocol]
    return {str(item): TESTS[name](replace(evidence, protocol=item)).verdict for item in others}


def _plain(item: Comparison) -> dict[str, Any]:
    """JSON has no nan: what is missing is null."""
    rounded = {}
    for name, value in asdict(item).items():
        if isinstance(value, float):
            value = None if not math.isfinite(value) else float(f"{value:.6g}")
        rounded[name] = value
    return rounded
