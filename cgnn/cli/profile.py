"""Measure one point: the median seconds per epoch and the peak bytes at one depth or ending time.

  python -m cgnn profile --dataset cora --method cgnn_exact --value 12 --out point.json

A method is a model, or a model of the CGNN family with a solver: cgnn_adjoint, cgnn_exact, cgnn_exact_recompute,
cgnn_weight_exact, … --value is the ending time t1 or the number of layers. Measure one point per process, with
nothing else running.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

from cgnn.cli.train import obtain_graph
from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.models import registry
from cgnn.paper import hyperparameters as hyper
from cgnn.paper.fidelity import preset
from cgnn.pipeline.provenance import check_fingerprint, profile_fingerprint
from cgnn.pipeline.versions import versions
from cgnn.training.record import (
    add_machine_arguments,
    add_setting_arguments,
    load_hyperparameters,
    pairs,
    positive,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", required=True, help="name of the dataset; published settings depend on it")
    parser.add_argument("--graph", metavar="graph.npz", help="written by `cgnn graph`; default: from the cache")
    parser.add_argument("--split-file", metavar="FILE.json", help="default: the graph's fixed split")
    parser.add_argument("--method", required=True, help=f"{', '.join(registry.MODELS)}, or cgnn_adjoint, cgnn_exact, …")
    parser.add_argument("--value", help="t1 or layers; default: the value in the hyperparameters")
    add_setting_arguments(parser)
    parser.add_argument("--epochs", type=positive, default=20, help="number of timed epochs")
    parser.add_argument("--warmup", type=int, default=3, help="number of epochs before the timed ones")
    add_machine_arguments(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="FILE.json")


def run(args: argparse.Namespace) -> None:
    switches = dict(pairs(args.switch, "--switch"))
    preset_fidelity = preset(args.preset, **switches)
    model, fidelity = registry.resolve_method(args.method, preset_fidelity)
    axis, options = registry.entry(model).axis, registry.entry(model).profile_options
    fingerprint = profile_fingerprint(args.method, preset_fidelity)
    check_fingerprint(fingerprint, args.expect_fingerprint, f"cgnn profile --method {args.method}")
    settings = load_hyperparameters(args.hyperparameters, args.dataset, "fixed", model)
    changes = dict(pairs(args.set, "--set"))
    registry.check_settings(model, switches, changes)
    settings = registry.complete(model, hyper.override(settings, **changes))
    if args.value is not None and axis is not None:
        settings = hyper.override(settings, **{axis: args.value})
    settings = hyper.under(settings, fidelity)

    from cgnn.datasets.splits import load_split
    from cgnn.training.device import choose_device, make_deterministic, memory_limit
    from cgnn.training.experiment import device_name
    from cgnn.training.profiling import measure
    from cgnn.training.tensors import fidelity_for

    graph = obtain_graph(args.dataset, args.graph)
    fidelity = replace(fidelity, features=fidelity_for(graph, args.preset, **switches).features)
    split = load_split(args.split_file, graph_sha256=graph.sha256) if args.split_file else graph.fixed_split
    if split is None:
        raise UserError(f"--split-file: {args.dataset} has no fixed split; give the file of a random one")
    device = choose_device(args.device)
    make_deterministic(args.threads)
    with memory_limit(args.memory_limit, device):
        cost = measure(
            lambda data: registry.build(model, data, settings, fidelity, seeds=[0], **options),
            graph,
            split,
            fidelity.features,
            settings,
            device,
            epochs=args.epochs,
            warmup=args.warmup,
        )
    content = {
        "dataset": args.dataset,
        "method": args.method,
        "model": model,
        "axis": axis,
        "value": settings.value(axis) if axis else None,
        "status": cost.status,
        "epochs_timed": len(cost.seconds),
        "seconds_per_epoch": cost.seconds_per_epoch,
        "seconds": cost.seconds,
        "peak_bytes": cost.peak_bytes,
        "memory_counter": cost.memory_counter,
        "device": device_name(device),
        "threads": args.threads,
        "preset": args.preset,
        "solver": fidelity.solver if registry.entry(model).family == "cgnn" else None,
        "hyperparameters": hyper.to_mapping(settings),
        "code_fingerprint": fingerprint,
        "graph_sha256": graph.sha256,
        "split_sha256": split.sha256,
        "versions": versions(),
    }
    write_text(args.out, json.dumps(content, indent=1) + "\n")
    point = f"{args.dataset} {args.method}" + (f" {axis} {content['value']}" if axis else "")
    if cost.seconds_per_epoch is None or cost.peak_bytes is None:
        print(f"{point}: {cost.status.replace('_', ' ')}")
    else:
        print(
            f"{point}: {1000 * cost.seconds_per_epoch:.2f} ms per epoch, peak memory {cost.peak_bytes / 2**20:.1f} MiB"
        )
