"""Search hyperparameters with Orion on validation accuracy; an interrupted search resumes where it stopped.

  python -m cgnn search --dataset cora --split fixed --model cgnn --preset released --trials 50 --seed 1 \\
      --prior 'lr~loguniform(1e-3, 1e-2)' --prior 't1~uniform(5, 25)' --epochs 200 --graph graph.npz \\
      --split-file fixed.json --store store --trials-out trials.csv --best-out best.yaml --plots plots

Hyperparameters without a prior keep their published values. A trial is replica 0, trained on one thread. A trial that
diverges or runs out of memory is a row with that status and no objective, and counts as one of the trials.

A resumed or extended search writes the same bytes to trials.csv and best.yaml as one that ran without interruption.
The time of each trial, which differs between runs, is in trials.seconds.csv beside trials.csv.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cgnn.errors import UserError

if TYPE_CHECKING:
    from cgnn.paper.hyperparameters import Hyperparameters
    from cgnn.search.orion import Trial
    from cgnn.search.priors import Prior

PRIOR_HELP = "uniform(a, b), loguniform(a, b), normal(mean, deviation) or choices([...]); once per hyperparameter"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", required=True, choices=["fixed", "random"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--preset", default="released")
    parser.add_argument("--prior", action="append", required=True, metavar="NAME~PRIOR", help=PRIOR_HELP)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, help="per trial; default: the published number")
    parser.add_argument("--graph", required=True, metavar="graph.npz")
    parser.add_argument("--split-file", required=True, metavar="FILE.json")
    parser.add_argument(
        "--workers", type=int, default=1, help="trials that run at the same time; the result does not depend on it"
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--memory-limit", type=int, metavar="MiB")
    parser.add_argument("--expect-fingerprint", metavar="HEX")
    parser.add_argument(
        "--store", required=True, type=Path, metavar="DIR", help="Orion's store, from which a search resumes"
    )
    parser.add_argument("--trials-out", required=True, type=Path, metavar="trials.csv")
    parser.add_argument("--best-out", required=True, type=Path, metavar="best.yaml")
    parser.add_argument("--plots", type=Path, metavar="DIR")
    parser.add_argument(
        "--plotlyjs", type=Path, metavar="FILE", help="shared by all plots; default: one copy in each page"
    )


def run(args: argparse.Namespace) -> None:
    from functools import partial

    from cgnn.datasets.graph import load_graph
    from cgnn.datasets.splits import load_split
    from cgnn.paper import hyperparameters as hyper
    from cgnn.paper.fidelity import preset
    from cgnn.pipeline.provenance import check_fingerprint, training_fingerprint, versions
    from cgnn.search.orion import best_of, search
    from cgnn.search.plots import write_plots
    from cgnn.search.trials import Task, evaluate

    fidelity = preset(args.preset)
    fingerprint = training_fingerprint(args.model, fidelity)
    check_fingerprint(fingerprint, args.expect_fingerprint, f"cgnn search --model {args.model}")
    base = _base(args, args.epochs)
    space = _space(args.model, args.prior)
    graph = load_graph(args.graph)
    split = load_split(args.split_file, graph_sha256=graph.sha256)
    identity = {
        **{name: getattr(args, name) for name in ("dataset", "split", "model", "preset", "memory_limit")},
        "hyperparameters": {key: value for key, value in hyper.to_mapping(base).items() if key not in space},
        "code_fingerprint": fingerprint,
        "graph_sha256": graph.sha256,
        "split_sha256": split.sha256,
        "versions": versions(),
    }
    task = Task(
        dataset=args.dataset,
        split_kind=args.split,
        model=args.model,
        preset=args.preset,
        fidelity=fidelity,
        base=base,
        graph=args.graph,
        split=args.split_file,
        device=args.device,
        memory_limit=args.memory_limit,
    )
    started, before = time.perf_counter(), []

    def report(trial: "Trial", done: int) -> None:
        before.append(trial)
        outcome = trial.result.status if trial.result.accuracy is None else f"validation {trial.result.accuracy:.1f}"
        print(f"trial {trial.index + 1} of {args.trials}: {outcome}, {trial.params}", file=sys.stderr, flush=True)

    trials, client = search(
        args.store, identity, space, args.seed, args.trials, partial(evaluate, task, args.workers), report
    )
    best = best_of(trials)
    _write_trials(args.trials_out, trials, list(space))
    completed = sum(trial.result.accuracy is not None for trial in trials)
    if args.plots:
        write_plots(client, args.plots, completed, args.seed, args.plotlyjs)
    notes = {"trials": len(trials), "completed": completed, "code_fingerprint": fingerprint}
    if best is None:
        # This is an outcome, not an error: the trainings that follow will show the same status in their rows.
        hyper.save(_base(args, None), args.best_out, note="no trial completed; these are the published values", **notes)
    else:
        found = {"trial": best.index, "validation_accuracy": best.result.accuracy}
        chosen = hyper.override(base, **best.params, epochs=_base(args, None).epochs)  # of a training, not of a trial
        hyper.save(chosen, args.best_out, **found, **notes)
    accuracy = "no trial completed" if best is None else f"best validation {best.result.accuracy:.1f}"
    print(
        f"{args.dataset} {args.split} {args.model} {args.preset} search: {accuracy}, {len(trials)} trials "
        f"({len(before)} new, {len(trials) - completed} failed), {time.perf_counter() - started:.0f} s",
        flush=True,
    )


def _base(args: argparse.Namespace, epochs: int | None) -> "Hyperparameters":
    """The values of hyperparameters without a prior: the published ones, if necessary of the other split kind."""
    from cgnn.models.registry import published
    from cgnn.paper import hyperparameters as hyper

    other = {"fixed": "random", "random": "fixed"}[args.split]
    base = published(args.dataset, args.split, args.model) or published(args.dataset, other, args.model)
    if base is None:
        raise UserError(f"{args.model}: no published settings to start from; add the model to paper/baselines.yaml")
    return base if epochs is None else hyper.override(base, epochs=epochs)


def _space(model: str, priors: list[str]) -> "dict[str, Prior]":
    from cgnn.models.registry import types_of
    from cgnn.search.priors import parse_prior

    types = types_of(model)
    space: dict[str, Prior] = {}
    for text in priors:
        name, tilde, prior = text.partition("~")
        if not tilde or name not in types:
            raise UserError(f"--prior: found {text!r}, expected NAME~PRIOR with NAME one of {', '.join(types)}")
        if name in space:
            raise UserError(f"--prior: {name} is given twice; give one prior per hyperparameter")
        space[name] = parse_prior(name, prior, f"--prior {name}", types)
    return space


def _write_trials(path: Path, trials: "list[Trial]", names: list[str]) -> None:
    from cgnn.files import write_csv

    rows = [
        {
            **trial.params,
            "trial": trial.index,
            "status": trial.result.status,
            "objective": trial.result.accuracy,
            "seconds": trial.result.seconds,
        }
        for trial in trials
    ]
    write_csv(path, ["trial", "status", "objective", *names], rows)
    write_csv(path.with_suffix(".seconds.csv"), ["trial", "seconds"], rows)
