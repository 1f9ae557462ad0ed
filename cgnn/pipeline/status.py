"""How far a results tree is: which cells of which table exist, are running or are missing, and what is left."""

import base64
import csv
import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cgnn.pipeline import plan
from cgnn.render.catalogue import FIGURES, TABLES
from cgnn.results.chunks import Chunk

#: Where the jobs of a stage are timed: R/benchmarks/KIND.
KINDS = {"runs": "train", "residual": "residual", "sweeps": "sweep", "fidelity": "fidelity"}


@dataclass(frozen=True)
class Cell:
    """Part of a table or figure: ``done`` of ``wanted`` replicas, trials or points exist."""

    section: str
    row: str
    column: str
    done: int
    wanted: int
    running: bool
    jobs_left: int
    kind: str  # of its jobs: one of KINDS, search or profile

    @property
    def text(self) -> str:
        if self.done >= self.wanted:
            return "done"
        return f"{self.done}/{self.wanted}" + (" running" if self.running else "")


def cells(config: Mapping[str, Any], snakemake: Path = Path(".snakemake")) -> list[Cell]:
    """Every cell the config asks for."""
    results, size = config["results"].rstrip("/"), config["jobs"]["replicas_per_job"]
    running = _running(snakemake)
    found = [_search_cell(results, search, config, running) for search in plan.searches(config)]
    for section, trainings in (
        ("runs", plan.runs(config)),
        ("sweeps", plan.sweeps(config)),
        ("fidelity", plan.fidelity(config)),
    ):
        for training in trainings:
            found.append(_training_cell(results, size, section, training, running))
    for profile in plan.profiles(config):
        path = f"{results}/{profile.file}"
        done = Path(path).is_file() and path not in running
        found.append(
            Cell("profiles", profile.method, profile.dataset, int(done), 1, path in running, int(not done), "profile")
        )
    return found


def products(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Tables and figures that are there, and those that are not (yet)."""
    results = Path(config["results"])
    names = [f"tables/{name}.csv" for name in ("datasets", *TABLES)] + [f"figures/{name}.pdf" for name in FIGURES]
    names += ["claims.json", "paper.pdf", "index.html"]
    there = [name for name in names if (results / name).is_file()]
    return {"there": there, "missing": [name for name in names if name not in there]}


def grid(found: Iterable[Cell]) -> str:
    """One block a section: rows are models, methods or variants, columns are datasets."""
    blocks = []
    sections: dict[str, list[Cell]] = {}
    for cell in found:
        sections.setdefault(cell.section, []).append(cell)
    for section, members in sections.items():
        columns = list(dict.fromkeys(cell.column for cell in members))
        rows = list(dict.fromkeys(cell.row for cell in members))
        width = max(len(row) for row in rows)
        lines = [section, " " * width + "  " + "".join(f"{column:<16}" for column in columns)]
        for row in rows:
            texts = [_sum([c for c in members if (c.row, c.column) == (row, column)]) for column in columns]
            lines.append(f"{row:<{width}}  " + "".join(f"{text:<16}" for text in texts))
        blocks.append("\n".join(line.rstrip() for line in lines))
    return "\n\n".join(blocks)


def estimate(found: Iterable[Cell], config: Mapping[str, Any], cores: int) -> str:
    """Jobs left, and their time by the jobs of the same kind and dataset that have been timed."""
    timed = _timed(Path(config["results"]) / "benchmarks")
    left, seconds, unknown = 0, 0.0, 0
    for cell in found:
        left += cell.jobs_left
        known = timed.get((cell.kind, cell.column)) or [
            s for (kind, _), many in timed.items() if kind == cell.kind for s in many
        ]
        if known:
            seconds += statistics.fmean(known) * cell.jobs_left
        else:
            unknown += cell.jobs_left
    if not left:
        return "no training, search or profile is left"
    known_part = f", about {_duration(seconds / cores)} on {cores} cores" if seconds else ""
    unknown_part = f" ({unknown} of them of a kind not timed yet)" if unknown else ""
    return f"{left} jobs left{known_part}{unknown_part}"


def _training_cell(results: str, size: int, section: str, t: plan.Training, running: set[str]) -> Cell:
    done = busy = left = 0
    for path in t.files(results, size):
        chunk = Chunk.of(path)
        assert chunk is not None
        if Path(path).is_file() and path not in running:
            done += len(chunk)
            continue
        left += 1
        busy += path in running
        done += len(list(Path(f"{path}.journal").glob("[0-9]*.json")))
    row = t.model
    if section == "runs":
        section = f"runs, {t.split_kind} split, {t.preset}, {t.source}"
        row = f"{t.model} {t.variant}".strip()
    elif section == "fidelity":
        row = t.variant
    return Cell(section, row, t.dataset, done, t.replicas, bool(busy), left, KINDS[t.stage])


def _search_cell(results: str, search: plan.Search, config: Mapping[str, Any], running: set[str]) -> Cell:
    folder, wanted = Path(results) / search.folder, config["search"]["trials"]
    best = f"{results}/{search.folder}/best.yaml"
    finished = (folder / "best.yaml").is_file() and best not in running
    done = wanted if finished else 0
    if not finished and (folder / "store" / "progress.json").is_file():
        done = min(wanted - 1, json.loads((folder / "store" / "progress.json").read_text())["finished"])
    section = f"search, {search.split_kind} split, {search.preset}"
    return Cell(section, search.model, search.dataset, done, wanted, best in running, int(not finished), "search")


def _sum(members: list[Cell]) -> str:
    if not members:
        return "-"
    total = [sum(getattr(cell, name) for cell in members) for name in ("done", "wanted", "running")]
    return Cell("", "", "", total[0], total[1], bool(total[2]), 0, "").text


def _running(snakemake: Path) -> set[str]:
    """Outputs of jobs that began and did not end, as Snakemake marks them: base64 of the path as file name."""
    if not any((snakemake / "locks").glob("*")):
        return set()
    found = set()
    for path in (snakemake / "incomplete").rglob("*"):
        if path.is_file():
            # A long name is cut into folders that begin with @.
            name = "".join(part.removeprefix("@") for part in path.relative_to(snakemake / "incomplete").parts)
            try:
                found.add(base64.b64decode(name, altchars=b"-_").decode())
            except ValueError:
                continue
    return found


def _timed(folder: Path) -> dict[tuple[str, str], list[float]]:
    times: dict[tuple[str, str], list[float]] = {}
    for path in folder.glob("*/*.tsv"):
        with path.open(encoding="utf-8") as stream:
            times.setdefault((path.parent.name, path.name.split("-")[0]), []).extend(
                float(row["s"]) for row in csv.DictReader(stream, delimiter="\t")
            )
    return times


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
