"""Train replicas of one model on one dataset and write one row per replica.

  python -m cgnn train --dataset cora --split fixed --model cgnn --preset released \\
      --hyperparameters published --replicas 0:10 --out runs.csv

On the fixed split, replica i uses seed i; on random splits, it uses split i. Without --graph and --splits, the data is
fetched and assembled through the cache. The same command on the same machine with the same number of threads writes a
bit-identical file. Next to it, runs.seconds.csv contains the times and runs.npz the learning curves and the learned α.
Finished replicas are kept in runs.csv.journal/ until all are finished, so an interrupted command can resume.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cgnn.errors import UserError
from cgnn.pipeline.provenance import check_fingerprint, training_fingerprint
from cgnn.pipeline.versions import versions
from cgnn.training.record import Training, add_machine_arguments, add_training_arguments

if TYPE_CHECKING:
    from cgnn.datasets.graph import Graph
    from cgnn.datasets.splits import Split


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_training_arguments(parser)
    parser.add_argument("--graph", metavar="graph.npz", help="written by `cgnn graph`; default: from the cache")
    parser.add_argument("--splits", metavar="DIR", type=Path, help="folder of fixed.json, random00.json, …")
    parser.add_argument(
        "--replicas", default="0:1", metavar="FIRST:END", help="half-open range (0:10 is ten replicas), or one number"
    )
    add_machine_arguments(parser)
    parser.add_argument(
        "--side-by-side", action=argparse.BooleanOptionalAction, help="train replicas together; default: on CUDA only"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="runs.csv")


def run(args: argparse.Namespace) -> None:
    from cgnn.results.trained import train_and_write
    from cgnn.training.experiment import Experiment
    from cgnn.training.tensors import fidelity_for

    training = Training.from_arguments(args)
    hyperparameters = training.hyperparameters(args.hyperparameters)
    fingerprint = training_fingerprint(training.model, training.fidelity)
    check_fingerprint(fingerprint, args.expect_fingerprint, f"cgnn train --model {training.model}")
    replicas = parse_replicas(args.replicas)
    graph = obtain_graph(args.dataset, args.graph)
    experiment = Experiment(
        training=training,
        fidelity=fidelity_for(graph, training.preset, **dict(training.switches)),
        hyperparameters=hyperparameters,
        device=args.device,
        threads=args.threads,
        memory_limit=args.memory_limit,
        side_by_side=args.side_by_side,
    )
    splits = {replica: obtain_split(training.split_of(replica), graph, args.splits) for replica in replicas}
    print(train_and_write(experiment, graph, splits, fingerprint, versions(), args.out), flush=True)


def obtain_graph(dataset: str, file: str | None) -> "Graph":
    """The graph in a file or, without one, the dataset of that name from the cache."""
    if file:
        from cgnn.datasets.graph import load_graph

        return load_graph(file, dataset=dataset)
    from cgnn.datasets.registry import obtain_graph

    return obtain_graph(dataset)


def obtain_split(name: str, graph: "Graph", folder: Path | None) -> "Split":
    """The split in a file or, without a folder, the one that ``cgnn split`` would write."""
    from cgnn.datasets.splits import load_split, make_split

    return load_split(folder / f"{name}.json", graph_sha256=graph.sha256) if folder else make_split(graph, name)


def parse_replicas(text: str) -> range:
    first, colon, end = text.partition(":")
    try:
        replicas = range(int(first), int(end) if colon else int(first) + 1)
    except ValueError:
        replicas = range(0)
    if not len(replicas) or replicas.start < 0:
        raise UserError(f"--replicas: found {text!r}, expected FIRST:END such as 0:10, or one number")
    return replicas
