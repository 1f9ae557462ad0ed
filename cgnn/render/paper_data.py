"""Every number that the rebuilt paper's text uses, in one JSON."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.account import cost, provenance, read
from cgnn.analysis.rows import Protocol, cell, choose_protocol, in_order, load_rows, sample
from cgnn.analysis.statistics import welch_from_summary
from cgnn.models import names
from cgnn.paper.fidelity import PRESETS
from cgnn.paper.reported import Reported
from cgnn.render.cells import interval_text, plus_minus
from cgnn.render.products import load_claims, load_figures, load_tables


def paper_data(results: Path, reported: Reported) -> dict[str, Any]:
    """Tables, figures, claims, the headline, protocol, switches, cost and provenance."""
    runs_file = results / "runs.csv"
    rows = load_rows(runs_file) if runs_file.is_file() else None
    protocol = choose_protocol(rows) if rows is not None and len(rows) else None
    return {
        "paper": reported.raw["paper"],
        "tables": load_tables(results),
        "figures": load_figures(results),
        "claims": load_claims(results),
        "headline": [] if rows is None or protocol is None else _headline(rows, protocol, reported),
        "protocol": _protocol(results, rows, protocol),
        "switches": _switches(),
        "common": reported.raw["common_hyperparameters"],
        "cost": [_worded(stage) for stage in cost(results)],
        "provenance": provenance(results),
    }


def _headline(rows: pd.DataFrame, protocol: Protocol, reported: Reported) -> list[dict[str, str]]:
    """CGNN under the main protocol: ours, the paper's, the difference, for each dataset and split kind."""
    chosen = protocol.of(rows)
    lines = []
    for kind in ("fixed", "random"):
        for dataset in in_order(set(chosen["dataset"]), names.DATASETS):
            ours = sample(cell(chosen, dataset=dataset, split_kind=kind, model="cgnn"))
            if ours.n == 0:
                continue
            paper = reported.accuracy(dataset, kind, "cgnn")
            lines.append(
                {
                    "dataset": names.dataset(dataset),
                    "split": kind,
                    "ours": plus_minus(ours),
                    "n": str(ours.n),
                    "paper": plus_minus(paper) if paper else "",
                    "difference": interval_text(welch_from_summary(ours, paper)) if paper else "",
                }
            )
    return lines


def _protocol(results: Path, rows: pd.DataFrame | None, protocol: Protocol | None) -> dict[str, Any]:
    """What was run, counted from the rows."""
    trials = read(results / "trials.csv")
    counts = {"trainings": 0, "seeds": 0, "splits": 0, "epochs": "", "datasets": [], "trials": 0, "searches": 0}
    if rows is not None and len(rows):
        fixed, random = rows[rows["split_kind"] == "fixed"], rows[rows["split_kind"] == "random"]
        counts |= {
            "trainings": len(rows),
            "seeds": int(fixed["replica"].nunique()),
            "splits": int(random["split"].nunique()),
            "epochs": ", ".join(f"{value:g}" for value in sorted(rows["epochs"].dropna().unique()))
            if "epochs" in rows
            else "",
            "datasets": [names.dataset(name) for name in in_order(set(rows["dataset"]), names.DATASETS)],
        }
    if trials is not None and len(trials):
        sizes = trials.groupby(["dataset", "split_kind", "model", "preset"]).size()
        counts |= {"trials": int(sizes.median()), "searches": len(sizes)}
    return counts | {
        "preset": protocol.preset if protocol else "",
        "source": protocol.source if protocol else "",
    }


def _switches() -> list[dict[str, str]]:
    """Each point of difference with its value in either preset, from the code itself."""
    paper, released = PRESETS["paper"], PRESETS["released"]
    return [
        {
            "name": field.name.replace("_", " "),
            "paper": str(getattr(paper, field.name)).replace("_", " "),
            "released": str(getattr(released, field.name)).replace("_", " "),
        }
        for field in fields(paper)
    ]


def _worded(stage: dict[str, Any]) -> dict[str, str]:
    """A stage of the cost as the table shows it."""
    hours = stage["hours"]
    return {
        "what": stage["what"],
        "count": f"{stage['count']:,}",
        "epochs": "–" if stage["epochs"] is None else f"{stage['epochs']:,}",
        "hours": "not kept" if hours is None else f"{hours:.2f}",
    }
