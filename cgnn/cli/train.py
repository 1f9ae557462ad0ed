"""Train replicas of one model on one dataset and write one row each.

  python -m cgnn train --dataset cora --split fixed --model cgnn --preset released \\
      --hyperparameters published --replicas 0:10 --out runs.csv

On the fixed split replica i is seed i; on random splits it is split i. Without --graph and --splits the data is fetched
and assembled through the cache. The same command on the same machine with the same threads writes the same file, to the
bit; times go to runs.seconds.csv beside it. Replicas that ended are kept in runs.csv.journal/ until all have.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgnn.errors import UserError
from cgnn.models import registry
from cgnn.paper import hyperparameters as hyper
from cgnn.paper.fidelity import Fidelity, preset
from cgnn.pipeline.provenance import check_fingerprint, training_fingerprint, versions

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph
    from cgnn.datasets.splits import Split
    from cgnn.training.experiment import Experiment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True, help="its name: seeds and published settings hang on it")
    parser.add_argument("--graph", metavar="graph.npz", help="made by `cgnn graph`; default: through the cache")
    parser.add_argument(
        "--split", default="fixed", help="fixed, random (replica i on split i) or one by name: random03"
    )
    parser.add_argument("--splits", metavar="DIR", type=Path, help="folder of fixed.json, random00.json, …")
    parser.add_argument("--model", required=True, help=", ".join(registry.MODELS))
    add_setting_arguments(parser)
    parser.add_argument(
        "--hyperparameters-source", metavar="NAME", help="column `hyperparameters`: search, published, custom"
    )
    parser.add_argument("--replicas", default="0:1", metavar="FIRST:END", help="half-open: 0:10 is ten; or one number")
    parser.add_argument("--epochs", type=int, help="instead of the hyperparameters' own")
    parser.add_argument("--variant", default="", metavar="LABEL", help="column `variant`")
    add_machine_arguments(parser)
    parser.add_argument("--side-by-side", action=argparse.BooleanOptionalAction, help="default: on CUDA, where it pays")
    parser.add_argument("--curves", metavar="FILE.csv", help="also write loss and accuracies by epoch")
    parser.add_argument("--alpha", metavar="FILE.npz", help="also write each node's learned α and degree")
    parser.add_argument(
        "--reuse", nargs="*", default=[], type=Path, metavar="runs.csv", help="take equal replicas from these files"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="runs.csv")


def add_setting_arguments(parser: argparse.ArgumentParser) -> None:
    """What the profile verb has in common: preset, switches and hyperparameters."""
    parser.add_argument(
        "--preset", default="released", help="released (what the authors' code does) or paper (as printed)"
    )
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="flip one fidelity switch")
    parser.add_argument("--hyperparameters", default="published", metavar="published|FILE.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="change one hyperparameter")


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:INDEX")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory-limit", type=int, metavar="MiB", help="more than this ends as status out_of_memory")
    parser.add_argument("--expect-fingerprint", metavar="HEX", help="refuse to run if the code is not this")


def run(args: argparse.Namespace) -> None:
    from cgnn.training.experiment import Experiment

    if args.alpha and registry.entry(args.model).family != "cgnn":
        raise UserError(f"--alpha: {args.model} learns none; ask for it with a model of the cgnn family")
    fidelity = resolve_fidelity(args)
    settings = resolve_hyperparameters(args, args.split, args.model)
    experiment = Experiment(
        dataset=args.dataset,
        split_kind="random" if args.split.startswith("random") else args.split,
        model=args.model,
        preset=args.preset,
        fidelity=fidelity,
        hyperparameters=settings if args.epochs is None else hyper.override(settings, epochs=args.epochs),
        source=args.hyperparameters_source or ("published" if args.hyperparameters == "published" else "custom"),
        variant=args.variant,
        device=args.device,
        threads=args.threads,
        memory_limit=args.memory_limit,
        side_by_side=args.side_by_side,
    )
    fingerprint = training_fingerprint(args.model, fidelity)
    check_fingerprint(fingerprint, args.expect_fingerprint, f"cgnn train --model {args.model}")
    replicas = parse_replicas(args.replicas)
    graph = obtain_graph(args)
    splits = {replica: obtain_split(args, graph, replica) for replica in replicas}
    train_and_write(args, experiment, graph, splits, fingerprint)


def train_and_write(
    args: argparse.Namespace,
    experiment: "Experiment",
    graph: "Graph",
    splits: "dict[int, Split]",
    fingerprint: str,
) -> None:
    from cgnn.files import write_csv
    from cgnn.results.journal import Journal
    from cgnn.results.reuse import equal_replicas
    from cgnn.results.schema import (
        COLUMNS,
        SECONDS_COLUMNS,
        inputs_of,
        results_of,
        seconds_path,
        write_alpha,
        write_curves,
    )
    from cgnn.training.experiment import run_experiment
    from cgnn.training.progress import Progress

    started = time.perf_counter()
    inputs = {
        replica: inputs_of(experiment, graph, split, replica, fingerprint, versions())
        for replica, split in splits.items()
    }
    needs = tuple(name for name in ("curves", "alpha") if getattr(args, name))
    journal = Journal(args.out)
    found = {replica: journal.find(replica, inputs[replica], needs) for replica in splits}
    entries = {} if needs else equal_replicas(args.reuse, inputs)
    if entries:
        print(f"{experiment.label}: {len(entries)} replicas are those of {args.reuse[0].parent}", file=sys.stderr)
    finished = {replica: entry for replica, entry in found.items() if entry is not None and replica not in entries}
    entries |= finished
    if finished:
        print(f"{experiment.label}: {len(finished)} of {len(splits)} replicas were finished before", file=sys.stderr)
    missing = {replica: split for replica, split in splits.items() if replica not in entries}
    progress = Progress(experiment.label, experiment.hyperparameters.epochs, len(missing))
    for outcome in run_experiment(experiment, graph, missing, progress.epoch) if missing else ():
        entry = {"results": results_of(outcome), "seconds": outcome.seconds, **_extras(outcome, needs)}
        journal.add(outcome.replica, inputs[outcome.replica], entry)
        entries[outcome.replica] = entry
    progress.close()

    rows = [{**inputs[replica], **entries[replica]["results"]} for replica in sorted(splits)]
    well = sorted(replica for replica in splits if entries[replica]["results"]["status"] == "ok")
    if args.curves:
        write_curves(args.curves, {replica: entries[replica]["curves"] for replica in well})
    if args.alpha:
        write_alpha(args.alpha, {replica: entries[replica]["alpha"] for replica in well}, graph.edges, graph.num_nodes)
    epochs = experiment.hyperparameters.epochs
    times = [
        {**row, "seconds": round(seconds, 3), "seconds_per_epoch": round(seconds / epochs, 6)}
        for row in rows
        for seconds in [entries[row["replica"]]["seconds"]]
    ]
    write_csv(seconds_path(args.out), SECONDS_COLUMNS, times)
    write_csv(args.out, COLUMNS, rows)
    journal.close()
    print(summary(experiment.label, rows, time.perf_counter() - started), flush=True)


def summary(label: str, rows: list[dict[str, Any]], seconds: float) -> str:
    """``cora fixed cgnn released: test 82.5 ± 1.0 (n=10), validation 79.6, 43 s``."""
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
    return f"{label}: {', '.join(parts)}, {seconds:.0f} s"


def resolve_fidelity(args: argparse.Namespace) -> Fidelity:
    return preset(args.preset, **_pairs(args.switch, "--switch"))


def resolve_hyperparameters(args: argparse.Namespace, split_kind: str, model: str) -> hyper.Hyperparameters:
    registry.entry(model)
    if args.hyperparameters == "published":
        settings = registry.published(args.dataset, split_kind, model)
        if settings is None:
            raise UserError(
                f"the paper prints no hyperparameters for {model} on {args.dataset}, {split_kind} split: "
                "give --hyperparameters best.yaml of a search, or one of your own"
            )
    else:
        settings = registry.load(args.hyperparameters, model)
    changes = _pairs(args.set, "--set")
    registry.check_settings(model, _pairs(args.switch, "--switch"), changes)
    return registry.complete(model, hyper.override(settings, **changes))


def obtain_graph(args: argparse.Namespace) -> "Graph":
    if args.graph:
        from cgnn.datasets.graph import load_graph

        return load_graph(args.graph)
    from cgnn.datasets import registry as datasets

    return datasets.obtain_graph(args.dataset)


def obtain_split(args: argparse.Namespace, graph: "Graph", replica: int) -> "Split":
    """The split of one replica: from its file, or by hand the graph's own or one drawn as ``cgnn split`` would."""
    from cgnn.datasets.splits import load_split, random_split

    name = f"random{replica:02d}" if args.split == "random" else args.split
    if args.splits:
        return load_split(args.splits / f"{name}.json", graph_sha256=graph.sha256)
    if name == "fixed":
        if graph.fixed_split is None:
            raise UserError(f"--split: {args.dataset} has no fixed split; use --split random")
        return graph.fixed_split
    if not name.startswith("random"):
        raise UserError(f"--split: found {name!r}, expected fixed, random, or one by name such as random03")
    from cgnn.datasets.registry import DATASETS

    per_class = DATASETS[graph.name].per_class if graph.name in DATASETS else 20
    return random_split(graph.labels, dataset=graph.name, name=name, per_class=per_class)


def parse_replicas(text: str) -> range:
    first, colon, end = text.partition(":")
    try:
        replicas = range(int(first), int(end) if colon else int(first) + 1)
    except ValueError:
        replicas = range(0)
    if not len(replicas) or replicas.start < 0:
        raise UserError(f"--replicas: found {text!r}, expected FIRST:END such as 0:10, or one number")
    return replicas


def _extras(outcome: Any, needs: tuple[str, ...]) -> dict[str, Any]:
    """What is journalled on request: the curves and α as plain lists."""
    extras: dict[str, Any] = {}
    if "curves" in needs:
        curves = outcome.curves
        extras["curves"] = None if curves is None else {name: column.tolist() for name, column in vars(curves).items()}
    if "alpha" in needs:
        extras["alpha"] = None if outcome.alpha is None else outcome.alpha.tolist()
    return extras


def _pairs(texts: list[str], option: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"{option}: found {text!r}, expected NAME=VALUE")
        pairs[name.strip()] = value.strip()
    return pairs
