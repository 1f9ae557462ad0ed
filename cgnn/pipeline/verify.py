"""Recompute rows of a results tree from raw data and compare every value."""

import csv
import math
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path

from cgnn.errors import UserError
from cgnn.models import registry
from cgnn.paper import hyperparameters as hyper
from cgnn.paper.fidelity import Fidelity, preset
from cgnn.results.schema import CELL, IDENTITY, RESULTS

Row = Mapping[str, str]

FILES = ("runs.csv", "sweeps.csv", "fidelity.csv")
#: These values must agree on every machine, because they are integers and hashes of files.
EXACT = ("seed", "graph_sha256", "split_sha256")
#: Percentage points by which an accuracy may differ if the training is not bit-identical: 20 of 1,000 test nodes.
#: Another instruction set rounds sums differently, so that training diverges over hundreds of epochs from the same
#: initial weights. docs/promises.md lists the measured differences.
ACCURACY_TOLERANCE = 2.0
#: The same for the training loss, relative to the published value.
LOSS_TOLERANCE = 0.2
#: A training that amplifies rounding errors (a deep GCN) is at worst another sample from its cell, so its values may
#: differ by this many standard deviations of the cell's published replicas, if that is more.
DEVIATIONS = 3.0
#: Valid values of settings without a default; a row has none for those that its model does not read.
UNREAD = {"hidden": 1, "input_dropout": 0.0, "dropout": 0.0}


class Verdict(StrEnum):
    EQUAL = "bit-identical"
    CLOSE = "within tolerance"
    DIFFERENT = "DIFFERENT"
    FAILED = "NOT RECOMPUTED"


@dataclass(frozen=True)
class Drawn:
    """A row to recompute, with its file and line."""

    file: str
    line: int
    row: Row
    estimate: float | None  # seconds that the published training took
    deviations: Mapping[str, float] = field(default_factory=dict)  # of each value between the replicas of its cell

    @property
    def label(self) -> str:
        words = [self.row.get("split" if name == "split_kind" else name, "") for name in CELL]
        return f"{self.file}:{self.line} {' '.join(filter(None, words))} {self.row['replica']}"


@dataclass(frozen=True)
class Check:
    """The outcome for one row; ``differences`` has (value, published, recomputed) of every value that differs."""

    verdict: Verdict
    again: Row
    differences: tuple[tuple[str, str, str], ...] = ()
    note: str = ""


def read_rows(results: Path) -> list[Drawn]:
    """Every row that can be recomputed. Rows that ran out of memory cannot, because they do not record the limit."""
    if not (results / FILES[0]).is_file():
        raise UserError(f"{results}: found no {FILES[0]}; give a folder of results with --results")
    times = _times(results / "seconds.csv")
    found = []
    for file in FILES:
        rows = _read(results / file)
        spread = _deviations(rows)
        for line, row in enumerate(rows, start=2):
            if row["status"] != "out_of_memory":
                took = times.get((Path(file).stem, *(row.get(name, "") for name in IDENTITY)))
                found.append(Drawn(file, line, row, took, spread.get(_cell(row), {})))
    return found


def draw(rows: Sequence[Drawn], count: int, seed: int, most_seconds: float = math.inf) -> list[Drawn]:
    """``count`` rows at random among those whose estimated time is at most ``most_seconds``."""
    short = [drawn for drawn in rows if drawn.estimate is not None and drawn.estimate <= most_seconds]
    if math.isinf(most_seconds) or all(drawn.estimate is None for drawn in rows):
        short = list(rows)
    return random.Random(seed).sample(short, min(count, len(short)))


def settings_of(row: Row) -> hyper.Hyperparameters:
    """The hyperparameters of a row, including those that only its model has."""
    common = {name: row[name] for name in hyper.TYPES if row.get(name)}
    values = UNREAD | common | hyper.parse_own(row.get("own", ""))
    return hyper.from_mapping(values, "row", registry.entry(row["model"]).own)


def recompute(row: Row, results: Path) -> dict[str, str]:
    """Train this row again in a separate process with `cgnn train`: fetch, assemble, split, train."""
    from cgnn.datasets.registry import DATASETS

    usual = preset(row["preset"])
    with tempfile.TemporaryDirectory(prefix="cgnn-verify-") as folder:
        out, file = Path(folder, "runs.csv"), Path(folder, "hyperparameters.yaml")
        hyper.save(settings_of(row), file)
        words = ["--dataset", row["dataset"], "--split", row["split_kind"], "--model", row["model"]]
        words += ["--preset", row["preset"], "--hyperparameters", str(file), "--replicas", row["replica"]]
        for field in fields(Fidelity):
            value = row.get(f"sw_{field.name}") or getattr(usual, field.name)
            if value != getattr(usual, field.name):
                words += ["--switch", f"{field.name}={value}"]
        if row["dataset"] not in DATASETS or not DATASETS[row["dataset"]].file_sets:
            # The user's own graph, or one generated from the config's parameters: only the results tree has a copy.
            words += ["--graph", str(results / "data" / row["dataset"] / "graph.npz")]
            words += ["--splits", str(results / "splits" / row["dataset"])]
        words += ["--device", "cpu" if row["device"] == "cpu" else "auto", "--threads", row["threads"]]
        command = [sys.executable, "-m", "cgnn", "train", *words, "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise UserError((done.stderr.strip().splitlines() or ["no message"])[-1])
        return _read(out)[0]


def judge(drawn: Drawn, again: Row) -> Check:
    """Compare each value. A bit-identical training loss shows that the training was the same."""
    row = drawn.row
    wrong = [name for name in EXACT if row[name] != again[name]]
    unequal = [name for name in RESULTS if row[name] != again[name]]
    differences = tuple((name, row[name], again[name]) for name in (*wrong, *unequal))
    reasons = {"code_fingerprint": "other code", "versions": "other versions", "device": "other device"}
    note = ", ".join(reason for name, reason in reasons.items() if row[name] != again[name])
    if not differences:
        return Check(Verdict.EQUAL, again, note=note)
    same_training = bool(row["final_train_loss"]) and row["final_train_loss"] == again["final_train_loss"]
    if same_training:
        note = "the training is bit-identical, but these values are not"
    close = (
        not wrong
        and not same_training
        and all(_close(name, row[name], again[name], drawn.deviations.get(name, 0.0)) for name in unequal)
    )
    return Check(Verdict.CLOSE if close else Verdict.DIFFERENT, again, differences, note or "other CPU")


def verify(
    rows: Iterable[Drawn], results: Path, again: Callable[[Row, Path], Row] = recompute, report: Callable = print
) -> list[Check]:
    """Recompute and judge each row; ``report`` gets each outcome as lines of a table."""
    report(f"{'test accuracy: published':>24}{'recomputed':>12}  row")
    checks = []
    for drawn in rows:
        try:
            check = judge(drawn, again(drawn.row, results))
        except UserError as error:
            check = Check(Verdict.FAILED, {}, note=str(error))
        checks.append(check)
        published, recomputed = drawn.row["test_accuracy"] or drawn.row["status"], check.again.get("test_accuracy")
        note = f" ({check.note})" if check.note else ""
        report(
            f"{published:>24}{recomputed or check.again.get('status', '-'):>12}  {drawn.label}: {check.verdict}{note}"
        )
        for name, before, after in check.differences:
            report(f"{'':>38}{name}: published {before}, recomputed {after}")
    return checks


def _close(name: str, published: str, recomputed: str, deviation: float) -> bool:
    if name == "status" or not published or not recomputed:
        return False
    if name == "best_epoch":  # single nodes decide ties between epochs
        return True
    difference = abs(float(published) - float(recomputed))
    usual = LOSS_TOLERANCE * abs(float(published)) if name == "final_train_loss" else ACCURACY_TOLERANCE
    return difference <= max(usual, DEVIATIONS * deviation)


def _cell(row: Row) -> tuple[str, ...]:
    return tuple(row.get(name, "") for name in CELL)


def _deviations(rows: Sequence[Row]) -> dict[tuple[str, ...], dict[str, float]]:
    """The standard deviation of each result over the finished replicas of each cell with more than one."""
    cells: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["status"] == "ok":
            cells.setdefault(_cell(row), []).append(row)
    return {
        cell: {name: statistics.stdev(float(row[name]) for row in members) for name in RESULTS if name != "status"}
        for cell, members in cells.items()
        if len(members) > 1
    }


def _times(path: Path) -> dict[tuple[str, ...], float]:
    """Seconds of each training by stage and identity; empty if the times were not collected."""
    return {(row["stage"], *(row[name] for name in IDENTITY)): float(row["seconds"]) for row in _read(path)}


def _read(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
