"""The findings in five sentences, for the README and the page: composed from claims.json and summary.csv."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cgnn.models import names

#: The presets in words; a preset is one choice for every point on which the paper and its code differ.
EQUATIONS = {"released": "the equations of the released code", "paper": "the equations as printed"}

LEAD = 1.0  # points: a smaller difference is no lead worth reporting


@dataclass(frozen=True)
class Sentence:
    """A finding, and the claims or, where the paper claims nothing about it, the tables that it rests on."""

    text: str
    claims: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


def five_sentences(claims: Mapping[str, Any], summary: Iterable[Mapping[str, Any]]) -> list[Sentence]:
    """Accuracy, lead over the baselines, continuous against discrete, depth and time, cost.

    ``claims`` is the content of claims.json, ``summary`` the rows of summary.csv. A finding whose runs are missing is
    left out.
    """
    by_id = {claim["id"]: claim for claim in claims["claims"]}
    cells = {
        (row["preset"], row["dataset"], row["model"]): row
        for row in sorted(summary, key=lambda row: _place(row["dataset"]))
        if row["split_kind"] == "fixed"
        and row["hyperparameter_source"] == "published"
        and not _text(row["variant"])
        and _number(row["mean"]) is not None
    }
    found = (_accuracy(cells), _baselines(by_id), _discrete(cells, by_id), _depth(by_id), _cost(by_id))
    return [sentence for sentence in found if sentence]


def load_summary(path: Path) -> list[dict[str, str]]:
    """The rows of summary.csv; none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _accuracy(cells: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> Sentence | None:
    """How far CGNN is from the paper's accuracy, by preset, on the fixed splits with the published hyperparameters."""
    gaps: dict[str, dict[str, float]] = {}
    for (preset, dataset, model), row in cells.items():
        gap = _number(row["difference"])
        if model == "cgnn" and gap is not None and preset in EQUATIONS:
            gaps.setdefault(preset, {})[dataset] = gap
    if "released" not in gaps:
        return None
    reached = _list([f"{float(cells['released', name, 'cgnn']['mean']):.1f}" for name in gaps["released"]])
    where = _list([names.dataset(name) for name in gaps["released"]])
    text = (
        f"With {EQUATIONS['released']} and the published hyperparameters, CGNN reaches {reached} % on {where}, "
        f"{_against_paper(list(gaps['released'].values()))}"
    )
    if "paper" in gaps:
        text += f"; with {EQUATIONS['paper']} it is {_against_paper(list(gaps['paper'].values()))}"
    return Sentence(text + ".", tables=("fixed_splits",))


def _against_paper(gaps: Sequence[float]) -> str:
    if max(gaps) <= 0:
        return f"{_range([-gap for gap in gaps])} points below the paper"
    if min(gaps) >= 0:
        return f"{_range(gaps)} points above the paper"
    return f"{_range(gaps, signed=True)} points from the paper"


def _baselines(claims: Mapping[str, Mapping[str, Any]]) -> Sentence | None:
    parts, used = [], []
    for name, splits in (("C1", "the fixed splits"), ("C2", "random splits")):
        comparisons = claims.get(name, {}).get("comparisons") or []
        if comparisons:
            passed = sum(bool(item["passed"]) for item in comparisons)
            leads = _range([item["estimate"] for item in comparisons], signed=True)
            parts.append(f"in {passed} of {len(comparisons)} comparisons on {splits} ({leads} points)")
            used.append(name)
    return Sentence(f"CGNN is significantly ahead of GCN and GAT {_list(parts)}.", tuple(used)) if parts else None


def _discrete(
    cells: Mapping[tuple[str, str, str], Mapping[str, Any]], claims: Mapping[str, Mapping[str, Any]]
) -> Sentence | None:
    parts = []
    for preset, equations in EQUATIONS.items():
        leads = [
            float(row["mean"]) - float(cells[preset, dataset, "cgnn_discrete"]["mean"])
            for (name, dataset, model), row in cells.items()
            if name == preset and model == "cgnn" and (preset, dataset, "cgnn_discrete") in cells
        ]
        if leads:
            word = "ahead" if min(leads) > LEAD else "not ahead" if max(leads) < LEAD else "ahead on some datasets only"
            parts.append(f"with {equations} the continuous model is {word} ({_range(leads, signed=True)} points)")
    if not parts:
        return None
    return Sentence(f"Compared with discrete propagation, {'; '.join(parts)}.", ("C3",) if "C3" in claims else ())


def _depth(claims: Mapping[str, Mapping[str, Any]]) -> Sentence | None:
    drops = [item["estimate"] for item in claims.get("C5", {}).get("comparisons") or []]
    losses = [item["estimate"] for item in claims.get("C6", {}).get("comparisons") or []]
    if not drops or not losses:
        return None
    return Sentence(
        f"Many layers cost GCN and GAT {_range([-drop for drop in drops])} points of accuracy, while CGNN loses "
        f"{_range([max(0.0, -loss) for loss in losses])} points between its best and its worst ending time above 10.",
        ("C5", "C6"),
    )


def _cost(claims: Mapping[str, Mapping[str, Any]]) -> Sentence | None:
    comparisons = claims.get("C11", {}).get("comparisons") or []
    if not comparisons:
        return None
    first = comparisons[0]
    details = first.get("details") or {}
    text = f"With the authors' solver an epoch of CGNN takes {_short(first['estimate'])} times as long as one of GCN"
    if details.get("paper"):
        text += f" (paper: {_short(details['paper'])})"
    if details.get("exact"):
        text += (
            f"; with the exact solver it takes {_short(details['exact'])} times as long, so the cost is the solver's"
        )
    return Sentence(text + ".", ("C11",))


def _range(values: Sequence[float], signed: bool = False) -> str:
    low, high = (f"{value:{'+' if signed else ''}.1f}".replace("-", "−") for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _place(dataset: str) -> int:
    """Datasets in the order of the paper, others behind them."""
    order = list(names.DATASETS)
    return order.index(dataset) if dataset in order else len(order)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if number != number else number


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
