"""How complete a results tree is: which cells of each table exist or are missing, judged by the files alone."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cgnn.pipeline import plan
from cgnn.pipeline.outputs import outputs_of
from cgnn.results.chunks import Chunk


@dataclass(frozen=True)
class Cell:
    """Part of a table or figure: ``done`` of ``wanted`` replicas or points exist."""

    section: str
    row: str
    column: str
    done: int
    wanted: int

    @property
    def text(self) -> str:
        if not self.wanted:
            return "-"
        return "done" if self.done >= self.wanted else f"{self.done}/{self.wanted}"


def cells(config: Mapping[str, Any]) -> list[Cell]:
    """Every cell of the config."""
    results, evaluations = Path(config["results"]), plan.evaluations(config)
    found = [_search_cell(results, search, evaluations) for search in plan.searches(config)]
    found += [_training_cell(planned, config) for planned in plan.trainings(config)]
    for profile in plan.profiles(config):
        done = int((results / profile.file).is_file())
        found.append(Cell("profiles", profile.method, profile.dataset, done, 1))
    return found


def products(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Tables, figures and documents that exist, and those that are missing."""
    wanted = outputs_of(config)
    names = [*(f"tables/{name}.csv" for name in wanted.tables), *(f"figures/{name}.pdf" for name in wanted.figures)]
    names += [*(["claims.json"] if "claims" in wanted.products else []), "paper.pdf", "index.html"]
    there = [name for name in names if (Path(wanted.results) / name).is_file()]
    return {"there": there, "missing": [name for name in names if name not in there]}


def grid(found: Iterable[Cell]) -> str:
    """One block per section: rows are models, methods or variants, columns are datasets; finished rows in one line."""
    sections: dict[str, list[Cell]] = {}
    for cell in found:
        sections.setdefault(cell.section, []).append(cell)
    lines = []
    for section, members in sections.items():
        total = _sum(members)
        unit = "points" if section == "profiles" else "replicas"
        lines.append(f"{section}: {total.text}" + ("" if total.text == "done" else f" {unit}"))
        columns = list(dict.fromkeys(cell.column for cell in members))
        unfinished = [
            row
            for row in dict.fromkeys(cell.row for cell in members)
            if any(cell.row == row and cell.text != "done" for cell in members)
        ]
        if unfinished:
            width = max(map(len, unfinished))
            lines.append(" " * (width + 4) + "".join(f"{column:<14}" for column in columns))
        for row in unfinished:
            texts = [_sum([c for c in members if (c.row, c.column) == (row, column)]).text for column in columns]
            lines.append(f"  {row:<{width}}  " + "".join(f"{text:<14}" for text in texts))
    return "\n".join(line.rstrip() for line in lines)


def _training_cell(planned: plan.Planned, config: Mapping[str, Any]) -> Cell:
    done = 0
    for file in planned.files(config):
        if Path(file).is_file():
            done += len(Chunk.of(file) or ())
        else:  # replicas that an interrupted job finished
            done += len(list(Path(f"{file}.journal").glob("[0-9]*.json")))
    t = planned.training
    section = f"{planned.stage}, {t.split} split, {t.preset}, {t.hyperparameter_source}"
    return Cell(section, f"{t.model} {t.variant}".strip(), t.dataset, done, planned.replicas)


def _search_cell(results: Path, search: plan.Search, evaluations: int) -> Cell:
    folder = results / search.folder
    progress = folder / "store" / "progress.json"
    done = evaluations if (folder / "best.yaml").is_file() else 0
    if not done and progress.is_file():
        done = min(evaluations - 1, json.loads(progress.read_text(encoding="utf-8"))["finished"])
    return Cell(f"search, {search.split_kind} split, {search.preset}", search.model, search.dataset, done, evaluations)


def _sum(members: list[Cell]) -> Cell:
    return Cell("", "", "", sum(cell.done for cell in members), sum(cell.wanted for cell in members))
