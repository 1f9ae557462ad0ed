"""Search hyperparameters with Orion on validation accuracy; an interrupted search resumes where it stopped.

  python -m cgnn search --dataset cora --split fixed --model cgnn --preset released --trials 50 --seed 1 \\
      --finalists 10 --replicas 3 --prior 'lr~loguniform(1e-3, 1e-2)' 't1~uniform(5, 25)' --epochs 200 \\
      --graph graph.npz --split-files fixed.json --store store --trials-out trials.csv --best-out best.yaml \\
      --plots plots

Hyperparameters without a prior keep their published values. Each replica is trained on one thread.

Round one trains one replica of every random trial. Round two trains --replicas further replicas of each of the
--finalists best trials, and the finalist with the best mean over these further replicas wins; in a tie, the earliest
trial. With --split fixed, the replicas differ in their seeds; with --split random, they differ in their splits, too:
--split-files takes search00.json for round one and search01.json, … for the replicas of round two. No table uses
these seeds and splits.

trials.csv has one row per trial: trial, round (the last in which it took part), status, objective (validation accuracy
of round one), mean (of round two), replicas (the values of round two, separated by spaces), and its hyperparameters. A
replica that diverges or runs out of memory gives the trial that status; such a trial counts, but cannot win.

A resumed or extended search writes the same bytes to trials.csv and best.yaml as one that ran without interruption.
The time of each replica, which differs between runs, is in trials.seconds.csv beside trials.csv.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cgnn.errors import UserError

if TYPE_CHECKING:
    from cgnn.search.orion import Job, Result, Trial
    from cgnn.search.priors import Prior

PRIOR_HELP = "uniform(a, b), loguniform(a, b), normal(mean, deviation) or choices([...]); one per hyperparameter"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", required=True, choices=["fixed", "random"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--preset", default="released")
    parser.add_argument("--prior", action="extend", nargs="+", required=True, metavar="NAME~PRIOR", help=PRIOR_HELP)
    parser.add_argument("--trials", type=int, required=True, help="trials in round one")
    parser.add_argument("--finalists", type=int, default=10, help="best trials that round two evaluates again")
    parser.add_argument("--replicas", type=int, default=3, help="replicas of each finalist in round two")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, help="per replica; default: the published number")
    parser.add_argument("--graph", required=True, metavar="graph.npz")
    parser.add_argument(
        "--split-files",
        required=True,
        nargs="+",
        metavar="FILE.json",
        help="fixed.json, or search00.json for round one and one more per replica of round two",
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="replicas trained at the same time; the result does not depend on it"
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--memory-limit", type=int, metavar="MiB")
    parser.add_argument("--expect-fingerprint", metavar="HEX")
    parser.add_argument(
        "--store", required=True, type=Path, metavar="DIR", help="results so far, from which a search resumes"
    )
    parser.add_argument("--trials-out", required=True, type=Path, metavar="trials.csv")
    parser.add_argument("--best-out", required=True, type=Path, metavar="best.yaml")
    parser.add_argument("--plots", type=Path, metavar="DIR")
    parser.add_argument(
        "--plotlyjs",
        type=Path,
        metavar="FILE",
        help="plotly.js file shared by all plots; default: one copy in each page",
    )


def run(args: argparse.Namespace) -> None:
    from functools import partial

    from cgnn.datasets.graph import load_graph
    from cgnn.paper import hyperparameters as hyper
    from cgnn.paper.fidelity import preset
    from cgnn.pipeline.provenance import check_fingerprint, model_fingerprint
    from cgnn.pipeline.versions import versions
    from cgnn.search.orion import Rounds, best_of, search
    from cgnn.search.plots import write_plots
    from cgnn.search.trials import Task, evaluate, load_search_split, starting_values
    from cgnn.training.tensors import fidelity_for

    _check(args)
    fingerprint = model_fingerprint("search", args.model, preset(args.preset))
    check_fingerprint(fingerprint, args.expect_fingerprint, f"cgnn search --model {args.model}")
    values = starting_values(args.dataset, args.split, args.model)
    base = values if args.epochs is None else hyper.override(values, epochs=args.epochs)
    space = _space(args.model, args.prior)
    graph = load_graph(args.graph, dataset=args.dataset)
    fidelity = fidelity_for(graph, args.preset)
    splits = [load_search_split(path, graph).sha256 for path in args.split_files]
    identity = {
        **{name: getattr(args, name) for name in ("dataset", "split", "model", "preset", "memory_limit")},
        "hyperparameters": {key: value for key, value in hyper.to_mapping(base).items() if key not in space},
        "features": fidelity.features,
        "code_fingerprint": fingerprint,
        "graph_sha256": graph.sha256,
        "versions": versions(),
    }
    rounds = Rounds(args.trials, args.finalists, tuple(splits if len(splits) > 1 else splits * (args.replicas + 1)))
    task = Task(
        dataset=args.dataset,
        split_kind=args.split,
        model=args.model,
        preset=args.preset,
        fidelity=fidelity,
        base=base,
        graph=args.graph,
        splits=tuple(args.split_files),
        device=args.device,
        memory_limit=args.memory_limit,
    )
    started, new = time.perf_counter(), []

    def report(job: "Job", result: "Result") -> None:
        new.append(job)
        what = f"round 2, trial {job.trial}, replica {job.replica}" if job.replica else f"round 1, trial {job.trial}"
        outcome = result.status if result.accuracy is None else f"validation {result.accuracy:.1f}"
        print(f"{what}: {outcome}, {job.params}", file=sys.stderr, flush=True)

    trials, client = search(
        args.store, identity, space, args.seed, rounds, partial(evaluate, task, args.workers), report
    )
    best = best_of(trials)
    _write_trials(args.trials_out, trials, list(space))
    if args.plots:
        completed = sum(trial.result.accuracy is not None for trial in trials)
        subject = f"{args.model} on {args.dataset}, {args.split} split, preset {args.preset}"
        write_plots(client, args.plots, completed, args.seed, args.plotlyjs, subject)
    failed = sum(trial.status != "completed" for trial in trials)
    notes = {
        "trials": len(trials),
        "completed": len(trials) - failed,
        "finalists": sum(trial.round == 2 for trial in trials),
        "replicas": args.replicas,
        "code_fingerprint": fingerprint,
    }
    if best is None:
        # This is a result, not an error: the trainings that follow will have the same status in their rows.
        hyper.save(values, args.best_out, note="no finalist completed; these are the published values", **notes)
    else:
        found = {"trial": best.index, "mean_validation_accuracy": best.mean}
        chosen = hyper.override(base, **best.params, epochs=values.epochs)  # of a training, not of a trial
        hyper.save(chosen, args.best_out, **found, **notes)
    outcome = "no finalist completed" if best is None else f"best mean validation {best.mean:.1f}"
    print(
        f"{args.dataset} {args.split} {args.model} {args.preset} search: {outcome}, {len(trials)} trials "
        f"({len(new)} new replicas, {failed} trials failed), {time.perf_counter() - started:.0f} s",
        flush=True,
    )


def _check(args: argparse.Namespace) -> None:
    for name in ("trials", "finalists", "replicas", "workers"):
        if getattr(args, name) < 1:
            raise UserError(f"--{name}: found {getattr(args, name)}, expected at least 1")
    wanted = 1 if args.split == "fixed" else args.replicas + 1
    if len(args.split_files) != wanted:
        names = "fixed.json" if wanted == 1 else f"search00.json to search{args.replicas:02d}.json"
        raise UserError(f"--split-files: found {len(args.split_files)}, expected {wanted} ({names})")


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
            "round": trial.round,
            "status": trial.status,
            "objective": trial.result.accuracy,
            "mean": trial.mean,
            "replicas": " ".join(str(r.status if r.accuracy is None else r.accuracy) for r in trial.further),
        }
        for trial in trials
    ]
    write_csv(path, ["trial", "round", "status", "objective", "mean", "replicas", *names], rows)
    seconds = [
        {"trial": trial.index, "replica": replica, "seconds": result.seconds}
        for trial in trials
        for replica, result in enumerate((trial.result, *trial.further))
    ]
    write_csv(path.with_suffix(".seconds.csv"), ["trial", "replica", "seconds"], seconds)
