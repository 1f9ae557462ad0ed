"""Every number that the text of the reproduced paper uses, in one JSON file."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.account import cost, provenance, read
from cgnn.analysis.claims.base import claim_count, count_verdicts
from cgnn.analysis.rows import Protocol, choose_protocol, in_order, load_rows
from cgnn.datasets.splits import PER_CLASS, SplitSizes
from cgnn.errors import UserError
from cgnn.models import names
from cgnn.models.records import RECORDS
from cgnn.paper.fidelity import PRESETS
from cgnn.paper.reported import Reported
from cgnn.render.blocks import blocks_of
from cgnn.render.budget import preview_text, smaller
from cgnn.render.findings import render_findings
from cgnn.render.headline import headline
from cgnn.render.plots import list_words
from cgnn.render.products import load_claims, load_figures, load_tables
from cgnn.render.protocols import by_protocol, one_line
from cgnn.render.readings import readings
from cgnn.render.uncompared import accuracies, comparable, why_not_compared

#: Datasets with the fixed split of Planetoid, which the paper uses as well.
PLANETOID = ("cora", "citeseer", "pubmed")


def paper_data(results: Path, reported: Reported) -> dict[str, Any]:
    """Tables with the text before them, figures, claims, the headline, protocol, switches, cost and provenance."""
    runs_file = results / "runs.csv"
    rows = load_rows(runs_file) if runs_file.is_file() else None
    protocol = choose_protocol(rows) if rows is not None and len(rows) else None
    tables, claims = load_tables(results), load_claims(results)
    preview = None if rows is None else preview_text(rows)
    datasets = set() if rows is None else set(rows["dataset"])
    compared = rows is None or comparable(datasets)
    return {
        "paper": reported.raw["paper"],
        "preview": preview,
        "smaller": "" if rows is None else smaller(rows),
        "uncompared": "" if compared else why_not_compared(datasets),
        "accuracies": "" if compared or rows is None else accuracies(rows),
        "headline": [sentence.text for sentence in headline(results)],
        "tables": tables,
        "readings": readings(tables),
        "figures": load_figures(results),
        "claims": None if claims is None else [_claim(claim) for claim in claims["claims"]],
        "claim_count": "" if claims is None else claim_count(claims["claims"]),
        "counts": "" if claims is None else list_words(count_verdicts(claims["counts"])),
        "findings": [] if preview else _findings(results),
        "protocol": _protocol(results, rows, protocol),
        "switches": _switches(),
        "cost": [_worded(stage) for stage in cost(results)],
        "provenance": _provenance(results),
    }


def _claim(claim: dict[str, Any]) -> dict[str, str]:
    """A claim as shown in the text, with one line for the summary on the first page."""
    others = "; ".join(f"{verdict}: {', '.join(labels)}" for verdict, labels in by_protocol(claim).items())
    words = {name: str(claim[name]) for name in ("id", "text", "verdict", "test", "evidence")}
    return words | {"others": others, "line": one_line(claim)}


def _findings(results: Path) -> list[dict[str, Any]]:
    """The text of docs/findings.md for these results, as blocks; empty if the results lack one of its numbers."""
    try:
        return blocks_of(render_findings(results))
    except (UserError, OSError) as error:  # only part of the paper was run, or the template is not in this folder
        print(f"the paper has no findings: {error}", file=sys.stderr)
        return []


def _replicas(frames: list[pd.DataFrame]) -> int:
    """The number of trained models; a cell and a variant may name the same training, which then has equal rows."""
    names_only = ["preset", "hyperparameter_source", "variant", "row_digest"]
    rows = pd.concat(frames)
    return len(rows.drop_duplicates([column for column in rows.columns if column not in names_only]))


def _protocol(results: Path, rows: pd.DataFrame | None, protocol: Protocol | None) -> dict[str, Any]:
    """What was run, counted from the rows."""
    trials, sweeps = read(results / "trials.csv"), read(results / "sweeps.csv")
    frames = (rows, sweeps, read(results / "fidelity.csv"))
    counts = {
        "replicas": "0",
        "sweep_epochs": "",
        "seeds": 0,
        "splits": 0,
        "epochs": "",
        "datasets": [],
        "planetoid": False,
        "own_split": "",
        "trials": 0,
        "searches": 0,
        "finalists": 0,
        "replicas_again": 0,
    }
    if rows is not None and len(rows):
        fixed, random = rows[rows["split_kind"] == "fixed"], rows[rows["split_kind"] == "random"]
        counts |= {
            "replicas": f"{_replicas([frame for frame in frames if frame is not None]):,}",
            "seeds": int(fixed["replica"].nunique()),
            "splits": int(random["split"].nunique()),
            "epochs": _epochs(rows),
            "sweep_epochs": _epochs(sweeps),
            "datasets": [names.dataset(name) for name in in_order(set(rows["dataset"]), names.DATASETS)],
            "planetoid": bool(set(fixed["dataset"]) & set(PLANETOID)),
            "own_split": _own_split(set(fixed["dataset"])),
        }
    if trials is not None and len(trials):
        sizes = trials.groupby(["dataset", "split_kind", "model", "preset"]).size()
        counts |= {"trials": int(sizes.median()), "searches": len(sizes)}
        again = trials[trials["round"] == 2] if "round" in trials else trials.iloc[:0]
        if len(again):  # the column lists the accuracies of the further replicas
            replicas = max(len(str(accuracies).split()) for accuracies in again["replicas"])
            counts |= {"finalists": round(len(again) / len(sizes)), "replicas_again": replicas}
    return counts | {"preset": protocol.preset if protocol else "", "source": protocol.source if protocol else ""}


def _own_split(datasets: set[str]) -> str:
    """How our fixed split of NELL was drawn."""
    ours = [names.dataset(name) for name in in_order(datasets & set(PER_CLASS), names.DATASETS)]
    if not ours:
        return ""
    (per_class,) = set(PER_CLASS.values())
    return (
        f"The paper did not publish its split of NELL, so the fixed split of {list_words(ours)} is ours, drawn once: "
        f"{per_class} training node per class that has labels, {SplitSizes.validation:g} validation nodes and "
        f"{SplitSizes.test:,g} test nodes."
    )


def _epochs(rows: pd.DataFrame | None) -> str:
    """``400``, or every number of epochs that occurs."""
    if rows is None or "epochs" not in rows:
        return ""
    return ", ".join(f"{value:g}" for value in sorted(rows["epochs"].dropna().unique()))


def _provenance(results: Path) -> dict[str, Any]:
    """Versions, devices, code and data; the code names a solver only for models that solve the ODE with one."""
    found = provenance(results)
    solved = {record.label for record in RECORDS.values() if "solver" in record.switches}
    code = [entry | {"solver": entry["solver"] if entry["model"] in solved else ""} for entry in found["code"]]
    return found | {"code": [entry for i, entry in enumerate(code) if entry not in code[:i]]}


def _switches() -> list[dict[str, str]]:
    """Each switch with its value in both presets."""
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
    """A stage of the cost as shown in the table."""
    hours = stage["hours"]
    return {
        "what": stage["what"],
        "count": f"{stage['count']:,}",
        "epochs": "–" if stage["epochs"] is None else f"{stage['epochs']:,}",
        "hours": "not recorded" if hours is None else f"{hours:.2f}",
    }
