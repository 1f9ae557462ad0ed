"""A synthetic, seeded results tree with the schema of real results, for tests of tables, figures and claims.

The accuracies are the paper's means with noise, so that every cell can be compared; profiles, trials and curves only
have a plausible shape. None of these values is ever shown as a result.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from cgnn.paper.fidelity import PRESETS, Fidelity, preset
from cgnn.results.recorded import Recorded, write_recorded

ROOT = Path(__file__).parents[2]
REPORTED = ROOT / "paper" / "reported.yaml"
DATASETS = ("cora", "citeseer", "pubmed")
HYPERPARAMETERS = {
    "lr": 5e-3,
    "weight_decay": 5e-4,
    "optimizer": "rmsprop",
    "hidden": 16,
    "input_dropout": 0.5,
    "dropout": 0.0,
    "epochs": 400,
    "t1": 12.0,
    "alpha": 0.95,
    "gamma": 0.6,
    "beta": 0.5,
    "layers": 2,
    "heads": 8,
    "output_heads": 1,
}


def rows(
    dataset: str,
    model: str,
    values: Sequence[float | None],
    *,
    split_kind: str = "fixed",
    preset_name: str = "released",
    source: str = "published",
    variant: str = "",
    fidelity: Fidelity | None = None,
    status: str = "diverged",
    **hyperparameters: object,
) -> pd.DataFrame:
    """One row per value; ``None`` means a run that ended with ``status``."""
    switches = fidelity or PRESETS[preset_name]
    records = []
    for replica, value in enumerate(values):
        split = "fixed" if split_kind == "fixed" else f"random{replica:02d}"
        good = value is not None
        records.append(
            {
                "dataset": dataset,
                "split_kind": split_kind,
                "split": split,
                "model": model,
                "preset": preset_name,
                "hyperparameter_source": source,
                "variant": variant,
                "replica": replica,
                "status": "ok" if good else status,
                "validation_accuracy": value - 0.5 if good else None,
                "test_accuracy": value,
                "best_epoch": 120 + replica if good else None,
                "test_last_best_validation": value + 0.1 if good else None,
                "test_final_epoch": value - 0.3 if good else None,
                "test_oracle": value + 0.8 if good else None,
                "final_train_loss": 0.4 if good else None,
                **HYPERPARAMETERS,
                **hyperparameters,
                **{f"sw_{field.name}": getattr(switches, field.name) for field in fields(Fidelity)},
                "seed": replica,
                "code_fingerprint": f"{abs(hash_of(model)):016x}"[:16],
                "graph_sha256": dataset * 4,
                "split_sha256": f"{dataset}-{split}",
                "versions": "python=3.11;torch=2.13.0;numpy=2.4.6",
                "device": "cpu",
                "threads": 1,
            }
        )
    return pd.DataFrame(records)


def hash_of(text: str) -> int:
    """The same on every machine, unlike hash()."""
    return int.from_bytes(text.encode()[-8:].rjust(8, b"."), "big")


def exact_sample(mean: float, std: float, n: int, seed: int = 0) -> list[float]:
    """n numbers with exactly this mean and deviation."""
    noise = np.random.default_rng(seed).standard_normal(n)
    noise = (noise - noise.mean()) / (noise.std(ddof=1) if n > 1 else 1.0)
    return [float(value) for value in mean + std * noise]


def runs(datasets: Sequence[str] = DATASETS, seed: int = 0, seeds: int = 10, splits: int = 15) -> pd.DataFrame:
    """The main tables: both split kinds, two sources of hyperparameters, GAT out of memory on NELL."""
    reported = yaml.safe_load(REPORTED.read_text())
    generator = np.random.default_rng(seed)
    parts = []
    for kind, count in (("fixed", seeds), ("random", splits)):
        for model, by_dataset in reported[f"{kind}_split_accuracy"].items():
            for dataset in datasets:
                pair = by_dataset.get("nell" if dataset.startswith("nell") else dataset)
                for preset_name, source, shift in (
                    ("released", "search", -0.6),
                    ("released", "published", -1.0),
                    ("paper", "published", -3.0 if model.startswith("cgnn") else -1.0),
                ):
                    if preset_name == "paper" and not model.startswith("cgnn"):
                        continue
                    options = {"split_kind": kind, "preset_name": preset_name, "source": source}
                    if pair is None:
                        parts.append(rows(dataset, model, [None] * count, status="out_of_memory", **options))
                        continue
                    values = generator.normal(pair[0] + shift, pair[1], size=count).round(1).tolist()
                    lr = float(10 ** generator.uniform(-3, -2))
                    parts.append(rows(dataset, model, values, lr=lr, t1=float(generator.uniform(5, 25)), **options))
        for layers, by_dataset in reported["gcn_residual_accuracy"].items():
            for dataset in datasets:
                if dataset in by_dataset:
                    mean, std = by_dataset[dataset][kind]
                    values = generator.normal(mean, std, size=count).round(1).tolist()
                    options = {"split_kind": kind, "layers": layers, "variant": f"layers-{layers}"}
                    parts.append(rows(dataset, "gcn_residual", values, **options))
    return pd.concat(parts, ignore_index=True)


def sweeps(datasets: Sequence[str] = ("cora", "pubmed"), seed: int = 1, seeds: int = 5) -> pd.DataFrame:
    """Accuracy against layers or ending time, in the shape of the paper's Figure 2."""
    generator = np.random.default_rng(seed)
    parts = []
    for dataset in datasets:
        for model, drop in (("gcn", 1.9), ("gat", 2.6), ("gcn_residual", 0.1), ("cgnn_discrete", 0.05)):
            for layers in (1, 2, 3, 4, 6, 8, 12, 16):
                mean = 81 - drop * max(0, layers - 3) ** 1.1 - 6 * (layers == 1)
                axis = {"t1": float(layers)} if model == "cgnn_discrete" else {"layers": layers}
                parts.append(rows(dataset, model, generator.normal(mean, 0.8, seeds).round(1).tolist(), **axis))
        for model in ("cgnn", "cgnn_weight", "cgnn_no_h0"):
            for t in (1.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0):
                mean = 82.5 - 12 * np.exp(-t / 3)
                if model == "cgnn_no_h0":
                    mean = 78 - 0.15 * (t - 5) ** 2 / 10 - 6 * np.exp(-t)
                parts.append(rows(dataset, model, generator.normal(mean, 0.7, seeds).round(1).tolist(), t1=t))
    return pd.concat(parts, ignore_index=True)


def fidelity(datasets: Sequence[str] = DATASETS, seed: int = 2, seeds: int = 10) -> pd.DataFrame:
    """Each switch flipped alone from ``released`` towards ``paper``, and the two presets."""
    generator = np.random.default_rng(seed)
    flips = {
        "derivative-paper": {"derivative": "paper"},
        "alpha-tabulated": {"alpha": "tabulated"},
        "source_gradient-flows": {"source_gradient": "flows"},
        "features-rows": {"features": "rows"},
        "augmentation-none": {"augmentation": "none"},
        "solver-dopri5": {"solver": "dopri5"},
    }
    shift = {"derivative-paper": -2.0, "alpha-tabulated": 0.8, "source_gradient-flows": -0.4, "features-rows": -0.2}
    parts = []
    for dataset in datasets:
        base = {"cora": 82.5, "citeseer": 72.2, "pubmed": 80.5}.get(dataset, 70.0)
        noise = generator.normal(0, 0.9, seeds)
        for variant, switches in {"released": {}, **flips}.items():
            values = base + shift.get(variant, 0.0) + noise
            if variant not in ("released", "augmentation-none"):
                values = values + generator.normal(0, 0.3, seeds)
            chosen = preset("released", **switches)
            parts.append(rows(dataset, "cgnn", values.round(1).tolist(), variant=variant, fidelity=chosen))
        values = (base - 2.4 + generator.normal(0, 0.8, seeds)).round(1).tolist()
        parts.append(rows(dataset, "cgnn", values, variant="paper", preset_name="paper"))
        for variant, spread in (("augmentation-zeros", 0.8), ("augmentation-none", 0.9)):
            chosen = preset("released", augmentation=variant.split("-")[1])
            values = (base + generator.normal(0, spread, seeds)).round(1).tolist()
            parts.append(rows(dataset, "cgnn_weight", values, variant=f"cgnn_weight-{variant}", fidelity=chosen))
    return pd.concat(parts, ignore_index=True)


def profiles(datasets: Sequence[str] = ("cora", "pubmed"), seed: int = 3) -> pd.DataFrame:
    """Peak memory and seconds per epoch."""
    generator = np.random.default_rng(seed)
    records = []
    shapes = {  # method: model, axis, base MiB, MiB per unit, seconds, seconds per unit
        "gcn": ("gcn", "layers", 20, 2.0, 0.008, 0.002),
        "gat": ("gat", "layers", 30, 9.0, 0.03, 0.012),
        "gcn_residual": ("gcn_residual", "layers", 20, 2.5, 0.008, 0.002),
        "cgnn_discrete": ("cgnn_discrete", "layers", 18, 1.1, 0.006, 0.0007),
        "cgnn_adjoint": ("cgnn", "t1", 24, 0.0, 0.5, 0.05),
        "cgnn_exact": ("cgnn", "t1", 19, 0.25, 0.006, 0.0002),
        "cgnn_exact_recompute": ("cgnn", "t1", 19, 0.0, 0.007, 0.0003),
    }
    for dataset in datasets:
        scale = 1 if dataset == "cora" else 6
        for method, (model, axis, base, unit, seconds, slope) in shapes.items():
            for value in (1, 2, 4, 8, 16, 32) if axis == "layers" else (1, 2, 5, 12, 25, 50, 100):
                out = dataset == "pubmed" and method == "gat" and value == 32
                times = (seconds + slope * value) * scale * generator.normal(1, 0.03, 7)
                records.append(
                    {
                        "dataset": dataset,
                        "method": method,
                        "model": model,
                        "axis": axis,
                        "value": value,
                        "status": "out_of_memory" if out else "ok",
                        "epochs_timed": 7,
                        "seconds_per_epoch": None if out else float(np.median(times)),
                        "seconds": "" if out else json.dumps([round(float(time), 6) for time in times]),
                        "peak_bytes": None if out else int((base + unit * value) * scale * 2**20),
                        "memory_counter": "torch cpu allocator",
                        "device": "cpu",
                        "threads": 1,
                        "code_fingerprint": "0123456789abcdef",
                        "versions": "python=3.11;torch=2.13.0",
                    }
                )
    return pd.DataFrame(records)


def trials(datasets: Sequence[str] = DATASETS, seed: int = 4, count: int = 50) -> pd.DataFrame:
    """Random searches, some diverged."""
    generator = np.random.default_rng(seed)
    parts = []
    for dataset in datasets:
        for kind in ("fixed", "random"):
            for model in ("gcn", "gat", "cgnn_discrete", "cgnn", "cgnn_weight"):
                lr, t1 = 10 ** generator.uniform(-3.3, -1.7, count), generator.uniform(1, 25, count)
                gamma, alpha = generator.uniform(0.3, 1, count), generator.uniform(0.8, 0.98, count)
                objective = 81 - 9 * (np.log10(lr) + 2.3) ** 2 - 8 * np.exp(-t1 / 4) + generator.normal(0, 0.6, count)
                diverged = generator.random(count) < 0.06
                part = pd.DataFrame(
                    {
                        "dataset": dataset,
                        "split_kind": kind,
                        "model": model,
                        "preset": "released",
                        "trial": range(count),
                        "status": np.where(diverged, "diverged", "completed"),
                        "objective": np.where(diverged, np.nan, objective.round(2)),
                        "mean": np.where(np.argsort(np.argsort(-objective)) < 10, objective.round(2) - 0.7, np.nan),
                        "lr": lr,
                        "seconds": generator.uniform(5, 9, count),
                    }
                )
                if model.startswith("cgnn"):
                    part = part.assign(t1=t1, alpha=alpha, gamma=gamma)
                else:
                    part = part.assign(
                        weight_decay=10 ** generator.uniform(-5, -3, count), hidden=generator.choice([8, 16, 32], count)
                    )
                parts.append(part)
    return pd.concat(parts, ignore_index=True)


def convergence() -> pd.DataFrame:
    """The distances that the theory gives for rates 0.05 and 0.30."""
    t = np.concatenate([[0.0], np.geomspace(0.5, 400, 30)])
    parts = []
    for kind, rate in (("paper", 0.05), ("paper_weight", 0.30)):
        distance = np.maximum(0.9 * np.exp(-rate * t), 1e-13)
        columns = {"t": t, "distance": distance, "closed_form_distance": distance, "norm": 1 - distance}
        parts.append(pd.DataFrame({"kind": kind, **columns, "solver_error": 1e-12, "predicted_rate": rate}))
    parts.append(pd.DataFrame({"kind": "released", "t": t, "norm": 1 + 0.4 * t, "solver_error": 1e-12}))
    return pd.concat(parts).assign(graph="cora", nodes=400, edges=900, alpha=0.95, gamma=0.6, hidden=16)


def bench() -> dict[str, object]:
    """Rows as ``make bench`` writes them."""
    found = []
    for dataset, scale in (("cora", 1.0), ("citeseer", 1.2), ("pubmed", 6.0)):
        for model, recipe, milliseconds in (
            ("gcn", "pyg", 9.0),
            ("gcn", "ours", 5.0),
            ("gat", "pyg", 40.0),
            ("cgnn", "released", 1200.0),
            ("cgnn", "dopri5_adjoint", 900.0),
            ("cgnn", "rk4", 80.0),
            ("cgnn", "exact", 8.0),
            ("cgnn", "floor", 3.0),
            ("cgnn_weight", "released", 1900.0),
            ("cgnn_weight", "exact", 15.0),
        ):
            row = {"model": model, "dataset": dataset, "recipe": recipe, "threads": 2}
            times = [milliseconds * scale * factor for factor in (0.97, 1.0, 1.02)]
            found.append({**row, "ms_per_epoch": times[1], "ms": times})
    return {"rows": found, "device": "cpu", "threads": 1}


def write_results(root: Path, datasets: Sequence[str] = DATASETS, seeds: int = 10, splits: int = 15) -> Path:
    """Write the whole tree below ``root``, including bench.json."""
    root.mkdir(parents=True, exist_ok=True)
    frames: Mapping[str, pd.DataFrame] = {
        "runs": runs(datasets, seeds=seeds, splits=splits),
        "sweeps": sweeps(),
        "fidelity": fidelity(datasets, seeds=seeds),
        "profiles": profiles(),
        "trials": trials(datasets),
        "convergence": convergence(),
    }
    for name, frame in frames.items():
        frame.to_csv(root / f"{name}.csv", index=False)
    (root / "bench.json").write_text(json.dumps(bench()))
    write_recorded(root / "recorded.npz", recorded())
    return root


def recorded(models: Sequence[str] = ("cgnn", "gcn"), datasets: Sequence[str] = ("cora", "citeseer")) -> list[Recorded]:
    """Learning curves of five seeds, and an α that grows with the degree."""
    generator = np.random.default_rng(5)
    epoch, found = np.arange(1, 201), []
    for dataset in datasets:
        nodes, top = {"cora": (2708, 82), "citeseer": (3327, 71)}[dataset]
        degree = np.minimum(1 + generator.zipf(2.1, nodes), 160)
        for model in models:
            alpha = 1 / (1 + np.exp(-(1.0 + 0.25 * np.log(degree) + generator.normal(0, 0.15, (5, nodes)))))
            rise = top * (1 - np.exp(-epoch / 25)) + np.cumsum(generator.normal(0, 0.08, (5, 200)), axis=1)
            item = Recorded(
                dataset,
                model,
                replica=np.arange(5),
                train_loss=np.tile(2 * np.exp(-epoch / 60) + 0.3, (5, 1)),
                validation_accuracy=(rise - 1 + generator.normal(0, 0.3, (5, 200))).round(1),
                test_accuracy=rise.round(1),
                alpha=alpha if model == "cgnn" else np.empty((5, 0)),
                degree=degree,
            )
            found.append(item)
    return found
