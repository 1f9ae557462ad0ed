"""The experiments of a config, one record per experiment; the workflow runs them and `cgnn status` counts them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import Any

from cgnn.errors import UserError
from cgnn.models.registry import MODELS, published, resolve_method
from cgnn.paper.fidelity import PRESETS
from cgnn.paper.hyperparameters import TYPES, to_mapping
from cgnn.pipeline.config import active, active_datasets, axis_of
from cgnn.pipeline.data import has_fixed_split
from cgnn.results.chunks import chunk_files
from cgnn.training.record import Training, as_pairs

Config = Mapping[str, Any]


@dataclass(frozen=True)
class Search:
    """One hyperparameter search."""

    dataset: str
    split_kind: str
    model: str
    preset: str

    @property
    def folder(self) -> str:
        return f"search/{self.dataset}/{self.split_kind}/{self.model}/{self.preset}"


@dataclass(frozen=True)
class Planned:
    """A training, the stage it belongs to (the folder and aggregate of its rows), and how many replicas it needs."""

    stage: str
    training: Training
    replicas: int

    @property
    def folder(self) -> str:
        return f"{self.stage}/{self.training.folder}"

    @property
    def search(self) -> Search | None:
        """The search that provides the hyperparameters of this training."""
        t = self.training
        if t.hyperparameter_source != "search":
            return None
        # All rules for drawing random splits use the hyperparameters of the random protocol.
        return Search(t.dataset, "fixed" if t.split == "fixed" else "random", t.model, t.preset)

    def files(self, config: Config) -> list[str]:
        """The chunk files of its replicas; existing chunks are kept."""
        folder = f"{config['results'].rstrip('/')}/{self.folder}"
        return chunk_files(folder, self.replicas, config["jobs"]["replicas_per_job"])

    def inputs(self, results: str, first: int, last: int) -> dict[str, str | list[str]]:
        """Its inputs: the graph, the splits of these replicas, and the result of its search, if any."""
        dataset = self.training.dataset
        return {
            "graph": f"{results}/data/{dataset}/graph.npz",
            "splits": [f"{results}/splits/{dataset}/{split}.json" for split in self.splits(first, last)],
            "best": [f"{results}/{self.search.folder}/best.yaml"] if self.search else [],
        }

    @property
    def published_settings(self) -> str:
        """The published values, so that a correction in paper/reported.yaml reruns the trainings that use it."""
        settings = None if self.search else published(*attrgetter("dataset", "split_kind", "model")(self.training))
        return json.dumps(to_mapping(settings)) if settings else "search"

    def splits(self, first: int, last: int) -> list[str]:
        """The splits that replicas ``first`` to ``last`` are trained on."""
        return list(dict.fromkeys(self.training.split_of(replica) for replica in range(first, last + 1)))


@dataclass(frozen=True)
class Profile:
    """One point of the memory and time figure."""

    dataset: str
    method: str
    value: float

    @property
    def file(self) -> str:
        return f"profiles/{self.dataset}/{self.method}/{self.value:g}.json"


def replicas_of(config: Config, split_kind: str) -> int:
    protocol = config["protocol"]
    return protocol["seeds"] if split_kind == "fixed" else protocol["random_splits"]


def source_of(wanted: str, dataset: str, split_kind: str, model: str) -> str:
    """`published` falls back to `search` if the paper prints no values."""
    return "search" if wanted == "published" and published(dataset, split_kind, model) is None else wanted


def trainings(config: Config) -> list[Planned]:
    """Every training of the config."""
    every = [*runs(config), *sweeps(config), *fidelity(config), *recorded(config)]
    return list({planned.folder: planned for planned in every}.values())


def runs(config: Config) -> list[Planned]:
    """Tables 2 and 3, and the residual GCN by depth. Blocks that request the same run share it."""
    found: dict[str, Planned] = {}
    epochs = config["protocol"]["epochs"]
    for block in active(config["experiments"]).values():
        for dataset in _chosen(config, block.get("datasets", active_datasets(config))):
            splits = [split for split in block["splits"] if split != "fixed" or has_fixed_split(config, dataset)]
            for split, model in product(splits, block["models"]):
                training = _of_block(block, dataset, split, model, epochs)
                found.setdefault(training.folder, Planned("runs", training, replicas_of(config, split)))
    return [*found.values(), *residual(config)]


def _of_block(block: Config, dataset: str, split: str, model: str, epochs: int) -> Training:
    """A training of a block; its variant names the model whose hyperparameters it borrows, and its switches."""
    source = source_of(block["hyperparameters"], dataset, split, model)
    switches = as_pairs(block.get("switches", {}))
    words = [f"{name}-{value}" for name, value in switches]
    settings = {}
    if block.get("settings_of", model) != model:
        words.insert(0, f"settings_of-{block['settings_of']}")
        settings = borrowed(dataset, split, model, block["settings_of"])
    return Training(
        dataset, split, model, block["preset"], source, "-".join(words), switches, as_pairs(settings), epochs
    )


def borrowed(dataset: str, split_kind: str, model: str, lender: str) -> dict[str, Any]:
    """The published hyperparameters of ``lender`` that ``model`` uses too and that differ from its own."""
    mine, theirs = (published(dataset, split_kind, name) for name in (model, lender))
    if mine is None or theirs is None:
        raise UserError(
            f"settings_of: the paper prints no hyperparameters for {model if mine is None else lender} on {dataset}, "
            f"{split_kind} split; leave this dataset or split out"
        )
    shared = set(MODELS[model].hyperparameters) & set(MODELS[lender].hyperparameters)
    return {name: theirs.value(name) for name in TYPES if name in shared and theirs.value(name) != mine.value(name)}


def residual(config: Config) -> Iterator[Planned]:
    """The appendix's residual GCN."""
    section = config["residual"]
    for dataset in _chosen(config, section.get("datasets", active_datasets(config))):
        splits = ("fixed", "random") if has_fixed_split(config, dataset) else ("random",)
        models = [m for m, entry in active(section["models"]).items() if dataset in entry.get("datasets", [dataset])]
        for split, model, layers in product(splits, models, section["layers"]):
            training = Training(
                dataset,
                split,
                model,
                variant=f"layers-{layers}",
                settings=as_pairs({"layers": layers}),
                epochs=section["epochs"],
            )
            yield Planned("runs", training, section["seeds"] if split == "fixed" else section["random_splits"])


def sweeps(config: Config) -> Iterator[Planned]:
    """Figure 2: accuracy against layers or ending time, and the other readings of CGNN without H(0) (claim C7)."""
    section = config["sweeps"]
    for dataset in _chosen(config, section["datasets"]):
        main = {"preset": section["preset"], "switches": {}}
        blocks = [(axis, "", {**main, **section[axis]}) for axis in ("layers", "t1")]
        blocks += [
            ("t1", f"-{name}", {**section["t1"], **entry}) for name, entry in active(section["readings"]).items()
        ]
        for axis, reading, block in blocks:
            for model, value in product(block["models"], block["values"]):
                training = Training(
                    dataset,
                    "fixed",
                    model,
                    block["preset"],
                    variant=f"{axis}-{value:g}{reading}",
                    switches=as_pairs(block.get("switches", {})),
                    settings=as_pairs({MODELS[model].axis or "t1": float(value)}),
                    epochs=section["epochs"].get(dataset, section["epochs"]["default"]),
                )
                yield Planned("sweeps", training, section["seeds"])


def fidelity(config: Config) -> Iterator[Planned]:
    """The fidelity table: changed switches.

    A variant that changes no switch is a run of Table 2, if that exists, and the table reads it from there.
    """
    section = config["fidelity"]
    known = {planned.folder for planned in runs(config)}
    for dataset in _chosen(config, section["datasets"]):
        for variant, entry in active(section["variants"]).items():
            if dataset not in entry.get("datasets", section["datasets"]):
                continue
            run = _published_run(config, dataset, entry["model"], entry["preset"])
            if entry.get("switches") or run.folder not in known:
                training = Training(
                    dataset,
                    "fixed",
                    entry["model"],
                    entry["preset"],
                    variant=variant,
                    switches=as_pairs(entry.get("switches", {})),
                    epochs=config["protocol"]["epochs"],
                )
                yield Planned("fidelity", training, section["seeds"])


def recorded(config: Config) -> Iterator[Planned]:
    """The trainings whose learning curves and learned α are drawn: runs of Table 2 if they exist."""
    section = config["curves"]
    known = {planned.folder: planned for planned in runs(config)}
    for dataset in _chosen(config, section["datasets"]):
        for model in section["models"]:
            run = _published_run(config, dataset, model, section["preset"])
            yield known.get(run.folder, Planned("curves", run.training, section["seeds"]))


def searches(config: Config) -> list[Search]:
    """The searches that some training needs."""
    return list(dict.fromkeys(planned.search for planned in trainings(config) if planned.search))


def evaluations(config: Config) -> int:
    """The number of replicas that one search trains: one per trial, and further ones of the finalists."""
    section = config["search"]
    return section["trials"] + min(section["finalists"], section["trials"]) * section["replicas"]


def profiles(config: Config) -> Iterator[Profile]:
    """Figure 3 and the running-time table."""
    section = config["profiles"]
    for dataset in _chosen(config, section["datasets"]):
        for method, entry in active(section["methods"]).items():
            model, _ = resolve_method(method, PRESETS[section["preset"]])
            for value in entry.get("values", section[axis_of(model) or "t1"]):
                yield Profile(dataset, method, value)


def _published_run(config: Config, dataset: str, model: str, preset: str) -> Planned:
    """The run of Table 2 with published hyperparameters."""
    return Planned("runs", Training(dataset, "fixed", model, preset, epochs=config["protocol"]["epochs"]), 0)


def _chosen(config: Config, names: list[str]) -> list[str]:
    return [name for name in names if name in active_datasets(config)]
