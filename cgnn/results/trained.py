"""Train the replicas that are not finished yet, and write their rows, times and recordings."""

import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgnn.errors import UserError
from cgnn.files import write_csv
from cgnn.results.collect import read_rows
from cgnn.results.journal import Journal
from cgnn.results.recorded import record, recording_of, write_recorded
from cgnn.results.schema import (
    COLUMNS,
    IDENTITY,
    SECONDS_COLUMNS,
    inputs_of,
    recorded_path,
    results_of,
    seconds_path,
    with_digest,
)
from cgnn.training.experiment import Experiment, run_experiment
from cgnn.training.progress import Progress

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph
    from cgnn.datasets.splits import Split


def train_and_write(
    experiment: Experiment, graph: "Graph", splits: "Mapping[int, Split]", fingerprint: str, versions: str, out: Path
) -> str:
    """Write ``out`` with one row per replica, and the files next to it; return a one-line summary."""
    started = time.perf_counter()
    label, epochs = experiment.training.label, experiment.hyperparameters.epochs
    inputs = {
        replica: inputs_of(experiment, graph, split, replica, fingerprint, versions)
        for replica, split in splits.items()
    }
    check_target(out, list(inputs.values()))
    journal = Journal(out)
    entries = {replica: entry for replica in splits if (entry := journal.find(replica, inputs[replica])) is not None}
    if entries:
        print(f"{label}: {len(entries)} of {len(splits)} replicas were already finished", file=sys.stderr)
    missing = {replica: split for replica, split in splits.items() if replica not in entries}
    progress = Progress(label, epochs, len(missing))
    for outcome in run_experiment(experiment, graph, missing, progress.epoch) if missing else ():
        entry = {"results": results_of(outcome), "seconds": outcome.seconds, "recording": recording_of(outcome)}
        journal.add(outcome.replica, inputs[outcome.replica], entry)
        entries[outcome.replica] = entry
    progress.close()

    rows = [with_digest({**inputs[replica], **entries[replica]["results"]}) for replica in sorted(splits)]
    recordings = {replica: entries[replica]["recording"] for replica in splits if entries[replica]["recording"]}
    write_recorded(recorded_path(out), [record(experiment.training, graph, recordings)])
    times = [
        {**row, "seconds": round(seconds, 3), "seconds_per_epoch": round(seconds / epochs, 6)}
        for row in rows
        for seconds in [entries[row["replica"]]["seconds"]]
    ]
    write_csv(seconds_path(out), SECONDS_COLUMNS, times)
    write_csv(out, COLUMNS, rows)
    journal.close()
    return summary(experiment, rows, time.perf_counter() - started)


def check_target(out: Path, wanted: list[dict[str, Any]]) -> None:
    """Refuse to overwrite rows that this command does not compute."""
    if not out.is_file():
        return
    keys = {tuple(str(row[name]) for name in IDENTITY) for row in wanted}
    for row in read_rows(out)[1]:
        if tuple(row.get(name) for name in IDENTITY) not in keys:
            found = ", ".join(f"{name} {row[name]}" for name in IDENTITY if row.get(name))
            raise UserError(
                f"--out {out}: it has a row of another training ({found}), which would be lost; choose another file "
                "or delete this one"
            )


def summary(experiment: Experiment, rows: list[dict[str, Any]], seconds: float) -> str:
    """``cora fixed cgnn released, published hyperparameters: test 82.5 ± 1.0 (n=10), validation 79.6, 43 s``."""
    training = experiment.training
    well = [row for row in rows if row["status"] == "ok"]
    parts = []
    if well:
        test = [row["test_accuracy"] for row in well]
        spread = f" ± {statistics.stdev(test):.1f}" if len(test) > 1 else ""
        validation = statistics.fmean(row["validation_accuracy"] for row in well)
        parts = [f"test {statistics.fmean(test):.1f}{spread} (n={len(test)})", f"validation {validation:.1f}"]
    for status in ("diverged", "out_of_memory"):
        count = sum(row["status"] == status for row in rows)
        if count:
            parts.append(f"{count} {status.replace('_', ' ')}")
    source = {"search": "searched"}.get(training.hyperparameter_source, training.hyperparameter_source)
    return f"{training.label}, {source} hyperparameters: {', '.join(parts)}, {seconds:.0f} s"
