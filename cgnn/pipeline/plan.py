"""The experiments a config asks for, one record each: what the DAG makes and what `cgnn status` counts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cgnn.models.registry import MODELS, published, resolve_method
from cgnn.paper.fidelity import PRESETS
from cgnn.pipeline.config import active, active_datasets, axis_of
from cgnn.results.chunks import chunk_files

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
class Training:
    """Replicas that share everything but the seed or the random split: one cell of a table or point of a figure."""

    folder: str
    dataset: str
    split_kind: str
    model: str
    preset: str
    source: str
    replicas: int
    variant: str = ""
    epochs: int | None = None
    switches: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, float], ...] = ()  # hyperparameters set on top, e.g. layers = 8
    same_as: str = ""  # the folder of a run whose replicas these would only repeat

    @property
    def search(self) -> Search | None:
        """The search this training takes its hyperparameters from."""
        return Search(self.dataset, self.split_kind, self.model, self.preset) if self.source == "search" else None

    @property
    def stage(self) -> str:
        """runs, residual, sweeps, fidelity or curves."""
        return self.folder.split("/")[0]

    def files(self, results: str, size: int) -> list[str]:
        """The chunk files that hold its replicas, existing ones kept."""
        return chunk_files(f"{results}/{self.folder}", self.replicas, size)


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
    """`published` falls back to `search` where the paper prints no values."""
    return "search" if wanted == "published" and published(dataset, split_kind, model) is None else wanted


def runs(config: Config) -> list[Training]:
    """Tables 2 and 3, and the residual GCN by depth. Blocks that ask for the same run share it."""
    found: dict[str, Training] = {}
    for block in active(config["experiments"]).values():
        for dataset, split, model in _cells(config, block):
            source = source_of(block["hyperparameters"], dataset, split, model)
            folder = f"runs/{dataset}/{split}/{model}/{block['preset']}/{source}"
            epochs = config["protocol"]["epochs"]
            found[folder] = Training(
                folder, dataset, split, model, block["preset"], source, replicas_of(config, split), epochs=epochs
            )
    return [*found.values(), *residual(config)]


def residual(config: Config) -> Iterator[Training]:
    """The appendix's residual GCN."""
    section = config["residual"]
    for dataset in _chosen(config, section.get("datasets", active_datasets(config))):
        for split in ("fixed", "random"):
            for layers in section["layers"]:
                yield Training(
                    folder=f"residual/{dataset}/{split}/{layers}",
                    dataset=dataset,
                    split_kind=split,
                    model="gcn_residual",
                    preset="released",
                    source="published",
                    replicas=section["seeds"] if split == "fixed" else section["random_splits"],
                    variant=f"layers-{layers}",
                    epochs=section["epochs"],
                    settings=(("layers", layers),),
                )


def sweeps(config: Config) -> Iterator[Training]:
    """Figure 2: accuracy against layers or ending time."""
    section = config["sweeps"]
    for dataset in _chosen(config, section["datasets"]):
        for axis in ("layers", "t1"):
            for model in section[axis]["models"]:
                for value in section[axis]["values"]:
                    yield Training(
                        folder=f"sweeps/{dataset}/{model}/{value:g}",
                        dataset=dataset,
                        split_kind="fixed",
                        model=model,
                        preset=section["preset"],
                        source="published",
                        replicas=section["seeds"],
                        variant=f"{axis}-{value:g}",
                        epochs=section["epochs"].get(dataset, section["epochs"]["default"]),
                        settings=((_key(model), value),),
                    )


def fidelity(config: Config) -> Iterator[Training]:
    """The fidelity table: switches flipped one at a time. A preset with none flipped is a run of Table 2 again."""
    section = config["fidelity"]
    known = {run.folder for run in runs(config)}
    for dataset in _chosen(config, section["datasets"]):
        for variant, entry in active(section["variants"]).items():
            if dataset not in entry.get("datasets", section["datasets"]):
                continue
            run = f"runs/{dataset}/fixed/{entry['model']}/{entry['preset']}/published"
            yield Training(
                folder=f"fidelity/{dataset}/{variant}",
                dataset=dataset,
                split_kind="fixed",
                model=entry["model"],
                preset=entry["preset"],
                source="published",
                replicas=section["seeds"],
                variant=variant,
                epochs=config["protocol"]["epochs"],
                switches=tuple(entry.get("switches", {}).items()),
                same_as=run if run in known and not entry.get("switches") else "",
            )


def curves(config: Config) -> Iterator[Training]:
    """Runs that also keep their learning curves, and for CGNN the learned α."""
    section = config["curves"]
    for dataset in _chosen(config, section["datasets"]):
        for model in section["models"]:
            yield Training(
                folder=f"curves/{dataset}/{model}",
                dataset=dataset,
                split_kind="fixed",
                model=model,
                preset=section["preset"],
                source="published",
                replicas=section["seeds"],
                epochs=config["protocol"]["epochs"],
            )


def searches(config: Config) -> list[Search]:
    """The searches that some run needs."""
    return list(dict.fromkeys(run.search for run in runs(config) if run.search))


def profiles(config: Config) -> Iterator[Profile]:
    """Figure 3 and the running-time table."""
    section = config["profiles"]
    for dataset in _chosen(config, section["datasets"]):
        for method, entry in active(section["methods"]).items():
            model, _ = resolve_method(method, PRESETS[section["preset"]])
            for value in entry.get("values", section[axis_of(model) or "t1"]):
                yield Profile(dataset, method, value)


def _cells(config: Config, block: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for dataset in _chosen(config, block.get("datasets", active_datasets(config))):
        for split in block["splits"]:
            for model in block["models"]:
                yield dataset, split, model


def _chosen(config: Config, names: list[str]) -> list[str]:
    return [name for name in names if name in active_datasets(config)]


def _key(model: str) -> str:
    """The hyperparameter behind the axis."""
    return MODELS[model].axis or "t1"
