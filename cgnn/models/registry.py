"""Which models there are. Adding one is a file with a ``build`` function and a line here (docs/adding_a_model.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cgnn.errors import UserError
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters

if TYPE_CHECKING:
    from torch import nn

#: Hyperparameters that every model reads, in the order of the columns of runs.csv.
SHARED = ("lr", "weight_decay", "optimizer", "hidden", "input_dropout", "dropout", "epochs")
#: … and those that only some have a use for: the others' columns stay empty.
OF_FAMILY = {"cgnn": ("t1", "alpha", "gamma"), "discrete": ("layers",), "gode": ("t1",)}


@dataclass(frozen=True)
class ModelEntry:
    """``module`` is a name and not an import: a table of models loads no torch, and no fingerprint follows it."""

    module: str
    label: str
    family: str
    axis: str | None = None  # what a sweep of depth or ending time varies
    side_by_side: bool = False  # can one module hold several replicas?
    more_hyperparameters: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # passed on to build
    profile_options: Mapping[str, Any] = field(default_factory=dict)  # … and what a profile builds otherwise

    @property
    def hyperparameters(self) -> tuple[str, ...]:
        return (*SHARED, *OF_FAMILY[self.family], *self.more_hyperparameters)


def _cgnn(label: str, **options: Any) -> ModelEntry:
    more = ("beta",) if options.get("weight") else ()
    return ModelEntry(
        "cgnn.models.cgnn_family", label, "cgnn", "t1", side_by_side=True, more_hyperparameters=more, options=options
    )


#: The paper's memory figure is about PyG's layers as their users run them.
_AS_PYG_RUNS_IT = {"fused": False}

MODELS: dict[str, ModelEntry] = {
    "gcn": ModelEntry("cgnn.models.gcn", "GCN", "discrete", "layers", profile_options=_AS_PYG_RUNS_IT),
    "gat": ModelEntry(
        "cgnn.models.gat",
        "GAT",
        "discrete",
        "layers",
        more_hyperparameters=("heads", "output_heads"),
        profile_options=_AS_PYG_RUNS_IT,
    ),
    "gcn_residual": ModelEntry(
        "cgnn.models.gcn_residual",
        "GCN with residual links",
        "discrete",
        "layers",
        profile_options=_AS_PYG_RUNS_IT,
    ),
    "gcn_gode": ModelEntry("cgnn.models.gode", "GCN-GODE", "gode", "t1", options={"derivative": "gcn"}),
    "gat_gode": ModelEntry(
        "cgnn.models.gode", "GAT-GODE", "gode", "t1", more_hyperparameters=("heads",), options={"derivative": "gat"}
    ),
    "cgnn_discrete": _cgnn("CGNN discrete", variant="discrete"),
    "cgnn_no_h0": _cgnn("CGNN without H(0)", variant="no_h0"),
    "cgnn": _cgnn("CGNN"),
    "cgnn_weight": _cgnn("CGNN with weight", weight=True),
}


def entry(model: str) -> ModelEntry:
    """The model's entry, or an error that names the nearest right spelling."""
    if model not in MODELS:
        near = get_close_matches(model, MODELS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(MODELS)}"
        raise UserError(f"model: found {model!r}; {hint}")
    return MODELS[model]


def build(
    model: str, data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, seeds: Sequence[int], **options: Any
) -> "nn.Module":
    """The model for a graph (``data`` has num_nodes, num_features, num_classes), initialised from ``seeds``.

    One seed a replica. A model that is not ``side_by_side`` takes one seed and draws from torch's global stream, as
    PyTorch Geometric's layers do; the others hold ``len(seeds)`` replicas, each drawn from a stream of its own.
    ``options`` are the model's own, beside those of its entry.
    """
    import torch

    chosen = entry(model)
    module = import_module(chosen.module)
    options = {**chosen.options, **options}
    if chosen.side_by_side:
        return module.build(data, hyperparameters, fidelity, seeds=list(seeds), **options)
    if len(seeds) != 1:
        raise ValueError(f"{model} holds one replica at a time, {len(seeds)} asked")
    torch.manual_seed(seeds[0])
    return module.build(data, hyperparameters, fidelity, **options)


#: What may follow a CGNN model's name in a method of the profiles: ``cgnn_adjoint`` is cgnn solved by dopri5_adjoint.
SOLVER_SUFFIXES = {
    "adjoint": "dopri5_adjoint",
    "exact": "exact",
    "exact_recompute": "exact_recompute",
    "dopri5": "dopri5",
    "rk4": "rk4",
    "rk4_adjoint": "rk4_adjoint",
}


def resolve_method(method: str, fidelity: Fidelity) -> tuple[str, Fidelity]:
    """A method of the profiles is a model, or a CGNN model and its solver: the model's name and its switches."""
    if method not in MODELS:
        for suffix, solver in SOLVER_SUFFIXES.items():
            model = method.removesuffix(f"_{suffix}")
            if model != method and model in MODELS and MODELS[model].family == "cgnn":
                method, fidelity = model, replace(fidelity, solver=solver)  # type: ignore[arg-type]
                break
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


def deciding(model: str) -> dict[str, Any]:
    """What of a model's record decides its numbers, as plain values for a fingerprint."""
    chosen = entry(model)
    return {
        "module": chosen.module,
        "hyperparameters": chosen.hyperparameters,
        "options": dict(chosen.options),
        "profile_options": dict(chosen.profile_options),
    }
