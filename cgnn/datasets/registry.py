"""Which datasets there are, which files each needs, and which module makes a Graph of them.

Modules are named as strings and imported on use, so that the fingerprint of one dataset does not depend
on the code of another: a rule takes ``code_fingerprint("cgnn.cli.graph", *modules_of(name))``.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from cgnn.datasets.graph import Graph
from cgnn.datasets.splits import PER_CLASS, SplitSizes
from cgnn.errors import UserError

Kind = Literal["planetoid", "nell", "synthetic", "own"]

_SUFFIXES = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")


@dataclass(frozen=True)
class FileSet:
    """Files (paths inside a cache or mirror) that together make the graph, and the module that does it."""

    files: tuple[str, ...]
    module: str


@dataclass(frozen=True)
class Dataset:
    """``file_sets`` are alternatives; any complete one is enough."""

    name: str
    kind: Kind
    file_sets: tuple[FileSet, ...] = ()

    @property
    def per_class(self) -> int:
        return PER_CLASS.get(self.name, int(SplitSizes.per_class))

    @property
    def modules(self) -> tuple[str, ...]:
        """Every module of the package that assembling this dataset may run."""
        own = {"synthetic": ("cgnn.datasets.synthetic",), "own": ("cgnn.datasets.own",)}
        return own.get(self.kind, tuple(file_set.module for file_set in self.file_sets))


def _planetoid(name: str) -> FileSet:
    return FileSet(tuple(f"planetoid/ind.{name}.{suffix}" for suffix in _SUFFIXES), "cgnn.datasets.planetoid")


_CORA_ORIGINAL = FileSet(("cora/cora.content", "cora/cora.cites"), "cgnn.datasets.cora_original")
_NELL = tuple(f"nell/ind.nell.0.001.{suffix}" for suffix in _SUFFIXES)
_NELL_PARTIAL = (
    *(file for file in _NELL if not file.endswith(".ally")),
    "nell/recovered_ally_labels.0.001.tsv",
)

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset("cora", "planetoid", (_planetoid("cora"), _CORA_ORIGINAL)),
        Dataset("citeseer", "planetoid", (_planetoid("citeseer"),)),
        Dataset("pubmed", "planetoid", (_planetoid("pubmed"),)),
        Dataset("nell", "nell", (FileSet(_NELL, "cgnn.datasets.nell"),)),
        Dataset("nell_partial", "nell", (FileSet(_NELL_PARTIAL, "cgnn.datasets.nell"),)),
        Dataset("synthetic", "synthetic"),
    )
}


def lookup(name: str, *, path: Path | str | None = None) -> Dataset:
    """The dataset called ``name``; with ``path`` it is the user's own, under any name that no dataset has."""
    if path is not None:
        if name in DATASETS:
            raise UserError(
                f"dataset {name}: {name} is a dataset of this project, so a graph of your own cannot have its name "
                f"(--path {path}); call it something else, such as my_{name}."
            )
        return Dataset(name, "own")
    if name not in DATASETS:
        near = difflib.get_close_matches(name, DATASETS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UserError(
            f"dataset {name!r} is unknown; there are {', '.join(DATASETS)}, and your own with --path my.npz.{hint}"
        )
    return DATASETS[name]


def modules_of(name: str, *, path: Path | str | None = None) -> tuple[str, ...]:
    """For fingerprints: the modules behind ``cgnn graph NAME``."""
    return lookup(name, path=path).modules


def obtain_graph(
    name: str,
    *,
    path: Path | str | None = None,
    features: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    cache: Path | str | None = None,
    mirror: Path | str | None = None,
) -> Graph:
    """The graph, fetched first if the cache lacks its files.

    ``path``: the npz of your own graph, with ``features`` as its owner wants them given to models (``as_given``,
    ``rows``, ``binary_rows``); ``parameters``: of ``synthetic``.
    """
    dataset = lookup(name, path=path)
    if features and dataset.kind != "own":
        raise UserError(f"dataset {name}: --features is for a graph of your own (--path); here the preset decides.")
    if parameters and dataset.kind != "synthetic":
        raise UserError(f"dataset {name}: parameters are for synthetic alone, found {', '.join(parameters)}.")
    if dataset.kind == "own":
        return import_module(dataset.modules[0]).read_own(name, path, features)
    if dataset.kind == "synthetic":
        module = import_module(dataset.modules[0])
        return module.generate(name, module.parse(dict(parameters or {})))
    # By name, not by import: where bytes come from cannot change a graph, since every file's sha256 is pinned,
    # so an edit in the network code must not change the fingerprint of what is made from the bytes.
    fetched = import_module("cgnn.datasets.sources").fetch(name, cache=cache, mirror=mirror)
    files = {Path(file).name: found for file, found in fetched.paths.items()}
    return import_module(fetched.file_set.module).assemble(name, files)
