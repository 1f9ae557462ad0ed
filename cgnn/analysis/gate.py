"""Claims for a terminal, and as an exit code that can gate a CI."""

import json
import textwrap
from pathlib import Path
from typing import Any

from cgnn.analysis.claims.base import NOT_REPRODUCED, NOT_TESTABLE, PARTLY, REPRODUCED
from cgnn.errors import UserError

MARKS = {REPRODUCED: "✓", PARTLY: "~", NOT_REPRODUCED: "✗", NOT_TESTABLE: "·"}
RANK = {REPRODUCED: 3, PARTLY: 2, NOT_REPRODUCED: 1, NOT_TESTABLE: 0}


def print_claims(report: dict[str, Any]) -> None:
    """One paragraph a claim, then the counts."""
    for claim in report["claims"]:
        print(f"{MARKS[claim['verdict']]} {claim['id']:<4}{claim['verdict'].upper()}: {claim['text']}")
        print(textwrap.fill(claim["evidence"], 110, initial_indent="      ", subsequent_indent="      "))
    print(", ".join(f"{count} {verdict}" for verdict, count in report["counts"].items()))


def gate(report: dict[str, Any], expected: Path | None = None) -> int:
    """0 if the verdicts pass: none worse than in ``expected``, or, without it, none "not reproduced"."""
    if expected is None:
        bad = [claim["id"] for claim in report["claims"] if claim["verdict"] == NOT_REPRODUCED]
        reason = "not reproduced"
    else:
        before = _verdicts(expected)
        bad = [
            claim["id"]
            for claim in report["claims"]
            if RANK[claim["verdict"]] < RANK[before.get(claim["id"], NOT_TESTABLE)]
        ]
        reason = f"worse than in {expected}"
    if bad:
        print(f"gate: {', '.join(bad)} {reason}")
        return 1
    print("gate: passed")
    return 0


def _verdicts(path: Path) -> dict[str, str]:
    try:
        claims = json.loads(path.read_text(encoding="utf-8"))["claims"]
        verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: cannot be read as claims.json ({error}); write one with `claims --out`") from error
    unknown = set(verdicts.values()) - set(RANK)
    if unknown:
        raise UserError(f"{path}: verdict {sorted(unknown)[0]!r}, expected one of {', '.join(RANK)}")
    return verdicts
