"""The datasets, the files that each needs, and the module that builds a Graph from them.

Modules are given as strings and imported on use, so that the fingerprint of one dataset does not depend
on the code of another: a rule takes ``code_fingerprint("cgnn.cli.graph", *modules_of(name))``.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from cgnn.datasets.graph import Graph
from cgnn.errors import UserError

Kind = Literal["planetoid", "nell", "synthetic", "own"]

_SUFFIXES = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")


@dataclass(frozen=True)
class FileSet:
    """Files (paths inside a cache or mirror) that together contain the graph, and the module that builds it."""

    files: tuple[str, ...]
    module: str


@dataclass(frozen=True)
class Dataset:
    """A dataset. ``file_sets`` are alternatives; any complete one is enough."""

    name: str
    kind: Kind
    file_sets: tuple[FileSet, ...] = ()

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
    """The dataset called ``name``; with ``path``, a graph of the user, whose name must not be that of a dataset."""
    if path is not None:
        if name in DATASETS:
            raise UserError(
                f"dataset {name}: {name} is a dataset of this project, so your own graph cannot have this name "
                f"(--path {path}); choose another name, such as my_{name}."
            )
        return Dataset(name, "own")
    if name not in DATASETS:
        near = difflib.get_close_matches(name, DATASETS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UserError(
            f"dataset {name!r} is unknown; expected {', '.join(DATASETS)}, or your own with --path my.npz.{hint}"
        )
    return DATASETS[name]


def modules_of(name: str, *, path: Path | str | None = None) -> tuple[str, ...]:
    """The modules that ``cgnn graph NAME`` uses, for fingerprints."""
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
    """The graph; its files are fetched first if they are not in the cache.

    ``path`` is the npz of your own graph and ``features`` its normalisation (``as_given``, ``rows``, ``binary_rows``);
    ``parameters`` are those of ``synthetic``.
    """
    dataset = lookup(name, path=path)
    if features and dataset.kind != "own":
        raise UserError(f"dataset {name}: --features is for your own graph (--path); here the preset decides.")
    if parameters and dataset.kind != "synthetic":
        raise UserError(f"dataset {name}: parameters are only for synthetic, found {', '.join(parameters)}.")
    if dataset.kind == "own":
        return import_module(dataset.modules[0]).read_own(name, path, features)
    if dataset.kind == "synthetic":
        module = import_module(dataset.modules[0])
        return module.generate(name, module.parse(dict(parameters or {})))
    # Imported by name: the sha256 of every file is pinned, so the source of the bytes cannot change a graph, and an
    # edit of the network code must not change the fingerprint of what is made from the bytes.
    fetched = import_module("cgnn.datasets.sources").fetch(name, cache=cache, mirror=mirror)
    files = {Path(file).name: found for file, found in fetched.paths.items()}
    return import_module(fetched.file_set.module).assemble(name, files)
