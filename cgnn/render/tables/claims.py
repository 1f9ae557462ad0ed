"""The claims with their verdicts."""

import json
from pathlib import Path
from typing import Any

from cgnn.render.cells import signed
from cgnn.render.table import Cell, Row, Table


def build(claims: Path) -> Table:
    """A row a claim: its text, verdict, the comparison it stands or falls with, and the evidence."""
    report = json.loads(Path(claims).read_text(encoding="utf-8"))
    table = []
    for claim in report["claims"]:
        effect = claim["effect"]
        cells = {
            "claim": Cell(claim["text"]),
            "verdict": Cell(claim["verdict"]),
            "weakest comparison": _effect_cell(effect),
            "evidence": Cell(claim["evidence"]),
        }
        table.append(Row(claim["id"], cells))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report["counts"].items() if count)
    protocol = report["protocol"]
    caption = (
        f"The paper's claims, judged on the results (preset {protocol['preset']}, hyperparameters from "
        f"{protocol['source']}): "
        f"{counts}. Estimates with 95 % intervals, p adjusted by Holm over the comparisons of the claim."
    )
    columns = ("claim", "verdict", "weakest comparison", "evidence")
    return Table("claims", "Claims and verdicts", caption, "", columns, tuple(table))


def _effect_cell(effect: dict[str, Any] | None) -> Cell:
    if effect is None:
        return Cell("–", missing="not testable")
    digits = 1 if effect["unit"] == "points" else 2
    text = f"{signed(effect['estimate'], digits)} {effect['unit']}" if effect["estimate"] is not None else "–"
    under = [effect["label"]]
    if effect["low"] is not None and effect["low"] != effect["high"]:
        under.append(f"[{signed(effect['low'], digits)}, {signed(effect['high'], digits)}]")
    p = effect["p_adjusted"]
    if p is not None:
        under.append("adjusted p < 0.001" if p < 0.001 else f"adjusted p = {p:.3f}")
    numbers = {"value": effect["estimate"], "low": effect["low"], "high": effect["high"], "p": p}
    return Cell(text, tuple(under), numbers=numbers)
