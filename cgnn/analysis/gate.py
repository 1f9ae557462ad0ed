"""Print the claims, and turn them into an exit code for CI."""

import json
import textwrap
from pathlib import Path
from typing import Any

from cgnn.analysis.claims.base import Verdict, count_verdicts
from cgnn.errors import UserError

#: The mark of each verdict, and its rank; a verdict is worse than another if its rank is lower.
MARK_AND_RANK = {
    Verdict.REPRODUCED: ("✓", 4),
    Verdict.PARTLY: ("~", 3),
    Verdict.DEPENDS: ("±", 3),
    Verdict.NOT_REPRODUCED: ("✗", 2),
    Verdict.TOO_FEW_RUNS: ("?", 1),
    Verdict.NOT_TESTABLE: ("·", 0),
}


def print_claims(report: dict[str, Any]) -> None:
    """One paragraph per claim, then the counts."""
    for claim in report["claims"]:
        mark, _ = MARK_AND_RANK[Verdict(claim["verdict"])]
        print(f"{mark} {claim['id']:<5}{claim['verdict'].upper()}: {claim['text']}")
        print(_indented(claim["evidence"]))
        if claim["also"]:
            print(_indented("; ".join(f"{name}: {verdict}" for name, verdict in claim["also"].items())))
        if claim["verdict_holm"] != claim["verdict"]:
            print(_indented(f"With Holm's adjustment: {claim['verdict_holm']}."))
    print(", ".join(count_verdicts(report["counts"])))


def gate(report: dict[str, Any], expected: Path | None = None) -> int:
    """Return 0 if no verdict is worse than in ``expected`` or, without it, if none is "not reproduced"; else 1."""
    verdicts = {claim["id"]: Verdict(claim["verdict"]) for claim in report["claims"]}
    if set(verdicts.values()) <= {Verdict.NOT_TESTABLE}:
        raise UserError("gate: no claim could be tested on these results; run `snakemake` first, or give other results")
    if expected is None:
        bad = [name for name, verdict in verdicts.items() if verdict is Verdict.NOT_REPRODUCED]
        reason = "not reproduced"
    else:
        before = _verdicts(expected)
        bad = [name for name, verdict in verdicts.items() if name in before and _rank(verdict) < _rank(before[name])]
        reason = f"worse than in {expected}"
    if bad:
        print(f"gate: {', '.join(bad)} {reason}")
        return 1
    print("gate: passed")
    return 0


def _rank(verdict: Verdict) -> int:
    return MARK_AND_RANK[verdict][1]


def _indented(text: str) -> str:
    return textwrap.fill(text, 110, initial_indent="       ", subsequent_indent="       ")


def _verdicts(path: Path) -> dict[str, Verdict]:
    try:
        claims = json.loads(path.read_text(encoding="utf-8"))["claims"]
        verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: cannot be read as claims.json ({error}); write one with `claims --out`") from error
    unknown = set(verdicts.values()) - set(Verdict)
    if unknown:
        raise UserError(f"{path}: verdict {sorted(unknown)[0]!r}, expected one of {', '.join(Verdict)}")
    return {name: Verdict(verdict) for name, verdict in verdicts.items()}
