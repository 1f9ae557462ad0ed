"""The claims with their verdicts."""

import json
from pathlib import Path
from typing import Any

from cgnn.analysis.claims.base import Verdict, count_verdicts, digits_of, p_text
from cgnn.render.cells import signed
from cgnn.render.table import Cell, Row, Table


def build(claims: Path) -> Table:
    """One row per claim: its text, verdict, the comparison that decides it, and the evidence."""
    report = json.loads(Path(claims).read_text(encoding="utf-8"))
    columns = ("claim", "verdict", "least favourable comparison", "evidence")
    table = []
    for claim in report["claims"]:
        cells = (Cell(claim["text"]), _verdict_cell(claim), _effect_cell(claim["effect"]), Cell(claim["evidence"]))
        table.append(Row(claim["id"], dict(zip(columns, cells, strict=True))))
    counts = ", ".join(count_verdicts(report["counts"]))
    protocol = report["protocol"]
    caption = (
        f"The paper's claims, judged on the results (main protocol: preset {protocol['preset']}, hyperparameters from "
        f"{protocol['source']}): {counts}. Estimates with 95 % intervals. All comparisons of a claim must pass, each "
        "at 5 %, so their p values need no adjustment; where Holm's adjustment would change the verdict, it is shown."
    )
    return Table("claims", "Claims and verdicts", caption, "", columns, tuple(table))


def _verdict_cell(claim: dict[str, Any]) -> Cell:
    under = []
    if claim["verdict"] == Verdict.DEPENDS:
        under += [f"{item['label']}: {item['verdict']}" for item in claim["protocols"]]
    if claim["verdict_holm"] != claim["verdict"]:
        under.append(f"with Holm: {claim['verdict_holm']}")
    return Cell(claim["verdict"], tuple(under))


def _effect_cell(effect: dict[str, Any] | None) -> Cell:
    if effect is None:
        return Cell("–", missing="not testable")
    digits = digits_of(effect["estimate"], effect["low"], effect["high"]) if effect["unit"] == "points" else 2
    text = f"{signed(effect['estimate'], digits)} {effect['unit']}" if effect["estimate"] is not None else "–"
    under = [effect["label"], effect["outcome"]]
    if effect["low"] is not None and effect["low"] != effect["high"]:
        under.append(f"[{signed(effect['low'], digits)}, {signed(effect['high'], digits)}]")
    if effect["p"] is not None:
        under.append(p_text(effect["p"]))
    numbers = {"value": effect["estimate"], "low": effect["low"], "high": effect["high"], "p": effect["p"]}
    return Cell(text, tuple(under), numbers=numbers)
