"""Look up a model's module, settings and switches by its name; the records are in records.py."""

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
    """The model's record, or an error that suggests the closest name."""
    if model not in RECORDS:
        near = get_close_matches(model, RECORDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(RECORDS)}"
        raise UserError(f"model: found {model!r}; {hint}")
    return RECORDS[model]


def build(
    model: str, data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, seeds: Sequence[int], **options: Any
) -> "nn.Module":
    """The model for a graph (``data`` has num_nodes, num_features, num_classes), initialised from ``seeds``.

    There is one seed per replica. A model that is not ``side_by_side`` takes one seed and uses torch's global stream,
    as PyTorch Geometric's layers do; the others hold ``len(seeds)`` replicas with one stream each. ``options`` are
    passed to the model in addition to those of its record.
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
    """The settings printed in the paper, or in the paper of the baseline; None if there are none."""
    record = entry(model)
    return hyper.published(dataset, split_kind, model, record.own, record.baseline)


def load(path: Path | str, model: str) -> Hyperparameters:
    """Hyperparameters from a file such as ``best.yaml``, including those that only this model has."""
    return hyper.load(path, entry(model).own)


def complete(model: str, hyperparameters: Hyperparameters) -> Hyperparameters:
    """Check the hyperparameters that only this model has, and set missing ones to their defaults."""
    return hyper.from_mapping(hyper.to_mapping(hyperparameters), f"model {model}", entry(model).own)


def types_of(model: str) -> dict[str, type]:
    """The hyperparameters that the model uses, and their types."""
    record = entry(model)
    own = {item.name: type(item.default) for item in record.own}
    return {name: own.get(name) or hyper.TYPES[name] for name in record.hyperparameters}


def switches_of(model: str) -> tuple[str, ...]:
    """The fidelity switches that affect this model."""
    return (*entry(model).switches, *OF_THE_LOOP)


def check_settings(model: str, switches: Iterable[str], settings: Iterable[str]) -> None:
    """Refuse switches and hyperparameters that the model does not use, because they would have no effect."""
    for option, names, read in (
        ("--switch", switches, switches_of(model)),
        ("--set", settings, entry(model).hyperparameters),
    ):
        for name in names:
            if option == "--set" and name not in hyper.TYPES and name not in read:
                raise UserError(f"--set: {hyper.unknown(name, read)}")
            if name not in read:
                raise UserError(f"{option} {name}: {model} does not use it; {model} uses {', '.join(read)}")


def resolve_method(method: str, fidelity: Fidelity) -> tuple[str, Fidelity]:
    """The model and the switches of a method of the profiles, which is a model or a CGNN model with a solver."""
    model, suffix = split_method(method)
    if suffix in SOLVER_SUFFIXES:
        method, fidelity = model, replace(fidelity, solver=SOLVER_SUFFIXES[suffix])  # type: ignore[arg-type]
        if suffix.endswith("no_augmentation"):
            fidelity = replace(fidelity, augmentation="none")
    if entry(method).options.get("variant") == "discrete":
        fidelity = replace(fidelity, discrete_steps="t1")  # the profile varies the depth
    return method, fidelity


def modules_of(model: str, fidelity: Fidelity) -> tuple[str, ...]:
    """The modules of this model that are imported by name, which fingerprints cannot find by themselves."""
    chosen = entry(model)
    if chosen.family == "cgnn" and chosen.options.get("variant") != "discrete":
        from cgnn.dynamics.solvers import SOLVER_MODULES

        return (chosen.module, SOLVER_MODULES[fidelity.solver])
    return (chosen.module,)
