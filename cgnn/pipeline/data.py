"""The settings of a dataset in the config, for the rules in workflow/rules/data.smk."""

import json
import zipfile
from collections.abc import Mapping
from functools import cache
from typing import Any

from cgnn.datasets.registry import modules_of
from cgnn.datasets.splits import PARTS
from cgnn.errors import UserError
from cgnn.files import sha256_of

Config = Mapping[str, Any]


def options_of(config: Config, dataset: str) -> Mapping[str, Any]:
    """The dataset's mapping in the config: ``path`` and ``features`` of your graph, or parameters of ``synthetic``."""
    options = config["datasets"][dataset]
    return options if isinstance(options, Mapping) else {}


def own_path(config: Config, dataset: str) -> str | None:
    """The npz of your own graph, or None for the datasets of this project."""
    return options_of(config, dataset).get("path")


def raw_input(config: Config, dataset: str) -> str | list[str]:
    """The input of a graph: your own file, the manifest of the fetched files, or nothing if it is synthetic."""
    own = own_path(config, dataset)
    if own is not None:
        # Snakemake reads braces as wildcards and cannot escape them; the params contain the file's sha256 in any case.
        return [] if set("{}") & set(own) else own
    return [] if dataset == "synthetic" else f"{config['results']}/data/{dataset}/raw.json"


def graph_modules(config: Config, dataset: str) -> tuple[str, ...]:
    """The modules that ``cgnn graph DATASET`` imports by name."""
    return ("cgnn.datasets.registry", *modules_of(dataset, path=own_path(config, dataset)))


def graph_arguments(config: Config, dataset: str) -> list[str]:
    """The arguments of ``cgnn graph DATASET``."""
    options = options_of(config, dataset)
    if "path" in options:
        features = ["--features", options["features"]] if "features" in options else []
        return ["--path", options["path"], *features]
    return ["--parameters", json.dumps(options)] if options else []


def split_arguments(config: Config, dataset: str, split: str) -> list[str]:
    """The size arguments of ``cgnn split``; fixed and reshuffled splits need none."""
    if split == "fixed" or split.startswith("pool"):
        return []
    section = config["protocol"]["split_sizes"]
    sizes = {**section["default"], **section.get(dataset, {})}
    return [word for key, size in sizes.items() for word in (f"--{key.replace('_', '-')}", str(size))]


def has_fixed_split(config: Config, dataset: str) -> bool:
    """Whether the dataset has a fixed split. Your own graph has one if its npz holds the three arrays."""
    path = own_path(config, dataset)
    if path is None:
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return {f"{part}.npy" for part in PARTS} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False  # `cgnn graph` reports what is wrong with the file


@cache
def own_graph_digest(path: str | None) -> str:
    """The sha256 of your own graph's npz, so that a replaced file is noticed whatever its date; "" without a path."""
    if path is None:
        return ""
    try:
        return sha256_of(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); it is the `path` of a dataset.") from error
