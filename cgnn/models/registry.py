"""From the name of a model to its module, its settings and the switches it reads; the records are in records.py."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cgnn.errors import UserError
from cgnn.models.records import RECORDS, SOLVER_SUFFIXES, ModelRecord, split_method
from cgnn.paper import hyperparameters as hyper
from cgnn.paper.fidelity import OF_THE_LOOP, Fidelity
from cgnn.paper.hyperparameters import Hyperparameters

if TYPE_CHECKING:
    from torch import nn

MODELS = RECORDS


def entry(model: str) -> ModelRecord:
    """The model's record, or an error that names the nearest right spelling."""
    if model not in RECORDS:
        near = get_close_matches(model, RECORDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(RECORDS)}"
        raise UserError(f"model: found {model!r}; {hint}")
    return RECORDS[model]


def build(
    model: str, data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, seeds: Sequence[int], **options: Any
) -> "nn.Module":
    """The model for a graph (``data`` has num_nodes, num_features, num_classes), initialised from ``seeds``.

    There is one seed per replica. A model that is not ``side_by_side`` takes one seed and draws from torch's global
    stream, as PyTorch Geometric's layers do; the others hold ``len(seeds)`` replicas, each drawn from its own stream.
    ``options`` are the model's own, beside those of its record.
    """
    import torch

    chosen = entry(model)
    hyperparameters = complete(model, hyperparameters)
    module = import_module(chosen.module)
    options = {**chosen.options, **options}
    if chosen.side_by_side:
        return module.build(data, hyperparameters, fidelity, seeds=list(seeds), **options)
    if len(seeds) != 1:
        raise ValueError(f"{model} holds one replica at a time, {len(seeds)} requested")
    torch.manual_seed(seeds[0])
    return module.build(data, hyperparameters, fidelity, **options)


def published(dataset: str, split_kind: str, model: str) -> Hyperparameters | None:
    """The settings that the paper prints, or that the baseline's own paper does; None where there are none."""
    record = entry(model)
    return hyper.published(dataset, split_kind, model, record.own, record.baseline)


def load(path: Path | str, model: str) -> Hyperparameters:
    """Hyperparameters from a file such as ``best.yaml``, with the model's own ones."""
    return hyper.load(path, entry(model).own)


def complete(model: str, hyperparameters: Hyperparameters) -> Hyperparameters:
    """The same with the model's own hyperparameters checked, and set to their defaults where they are missing."""
    return hyper.from_mapping(hyper.to_mapping(hyperparameters), f"model {model}", entry(model).own)


def types_of(model: str) -> dict[str, type]:
    """The hyperparameters that the model reads and their types."""
    record = entry(model)
    own = {item.name: type(item.default) for item in record.own}
    return {name: own.get(name) or hyper.TYPES[name] for name in record.hyperparameters}


def switches_of(model: str) -> tuple[str, ...]:
    """The fidelity switches that change something for this model."""
    return (*entry(model).switches, *OF_THE_LOOP)


def check_settings(model: str, switches: Iterable[str], settings: Iterable[str]) -> None:
    """Refuse switches and hyperparameters, by name, that the model does not read: they would change nothing."""
    for option, names, read in (
        ("--switch", switches, switches_of(model)),
        ("--set", settings, entry(model).hyperparameters),
    ):
        for name in names:
            if option == "--set" and name not in hyper.TYPES and name not in read:
                raise UserError(f"--set: {hyper.unknown(name, read)}")
            if name not in read:
                raise UserError(f"{option} {name}: {model} does not read it; {model} reads {', '.join(read)}")


def resolve_method(method: str, fidelity: Fidelity) -> tuple[str, Fidelity]:
    """A method of the profiles is a model, or a CGNN model and its solver: the model's name and its switches."""
    model, suffix = split_method(method)
    if suffix in SOLVER_SUFFIXES:
        method, fidelity = model, replace(fidelity, solver=SOLVER_SUFFIXES[suffix])  # type: ignore[arg-type]
        if suffix.endswith("no_augmentation"):
            fidelity = replace(fidelity, augmentation="none")
    if entry(method).options.get("variant") == "discrete":
        fidelity = replace(fidelity, discrete_steps="t1")  # its depth is what is varied
    return method, fidelity


def modules_of(model: str, fidelity: Fidelity) -> tuple[str, ...]:
    """The modules, named in tables and so not followed by fingerprints, that this model runs."""
    chosen = entry(model)
    if chosen.family == "cgnn" and chosen.options.get("variant") != "discrete":
        from cgnn.dynamics.solvers import SOLVER_MODULES

        return (chosen.module, SOLVER_MODULES[fidelity.solver])
    return (chosen.module,)
