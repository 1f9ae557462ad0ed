"""The models: one record per model, in the order of the paper's tables. Data only; registry.py builds the models.

To add a model, write a module with a ``build`` function and add a record here (docs/adding_a_model.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cgnn.paper.hyperparameters import OwnHyperparameter

Dashes = str | tuple[int, tuple[float, ...]]

# The palette of Okabe and Ito, which colour-blind readers can distinguish.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PINK = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#767676"

#: Hyperparameters that every model uses unless its record says otherwise, in the order of the columns of runs.csv.
SHARED = ("lr", "weight_decay", "optimizer", "hidden", "input_dropout", "dropout", "epochs")
#: Further hyperparameters that the models of a family use.
OF_FAMILY = {"cgnn": ("t1", "alpha", "gamma"), "discrete": ("layers",), "gode": ("t1",)}


@dataclass(frozen=True)
class ModelRecord:
    """Everything that the project knows about a model, except its code.

    Args:
        module: dotted name of the module with its ``build``; a string, so that reading the records does not load torch.
        label: name in tables and figures.
        family: cgnn, discrete or gode; determines the hyperparameters that it uses besides the shared ones.
        color, marker: line style in figures.
        axis: the hyperparameter that a sweep of depth or ending time varies.
        side_by_side: whether one module can hold several replicas.
        more: further common hyperparameters that it uses.
        unread: shared hyperparameters that it does not use.
        own: hyperparameters that no other model has.
        switches: fidelity switches that it uses besides those of the training loop.
        options: passed to ``build``.
        profile_options: passed to ``build`` by a profile.
        baseline: published settings in the format of paper/baselines.yaml, which takes precedence.
    """

    module: str
    label: str
    family: str
    color: str = GREY
    marker: str = "h"
    axis: str | None = None
    side_by_side: bool = False
    more: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    own: tuple[OwnHyperparameter, ...] = ()
    switches: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    profile_options: Mapping[str, Any] = field(default_factory=dict)
    baseline: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def hyperparameters(self) -> tuple[str, ...]:
        """Names of all hyperparameters that the model uses."""
        common = (*SHARED, *OF_FAMILY[self.family], *self.more)
        return (*(name for name in common if name not in self.unread), *(item.name for item in self.own))

    def deciding(self) -> dict[str, Any]:
        """The fields that affect results, as plain JSON values; not the label, line style or order."""
        return {
            "module": self.module,
            "family": self.family,
            "side_by_side": self.side_by_side,
            "options": dict(self.options),
            "profile_options": dict(self.profile_options),
            "own": {item.name: item.default for item in self.own},
            "baseline": {dataset: dict(values) for dataset, values in self.baseline.items()},
        }


def _cgnn(label: str, color: str, marker: str, switches: tuple[str, ...] = (), **options: Any) -> ModelRecord:
    return ModelRecord(
        "cgnn.models.cgnn_family",
        label,
        "cgnn",
        color,
        marker,
        axis="t1",
        side_by_side=True,
        more=("beta",) if options.get("weight") else (),
        switches=("alpha", "alpha_decay", *switches),
        options=options,
    )


#: The paper's memory figure measures PyG's original layers.
_AS_PYG_RUNS_IT = {"fused": False}

#: Switches of models that solve the ODE.
_ODE = ("derivative", "source_gradient", "solver", "augmentation")

_GODE = (
    OwnHyperparameter("activation", "relu", choices=("relu", "softplus", "elu", "tanh")),
    OwnHyperparameter("derivative_dropout", 0.0, low=0, high=1),
    OwnHyperparameter("solver_steps", 2, low=1),
)

RECORDS: dict[str, ModelRecord] = {
    "gat_gode": ModelRecord(
        "cgnn.models.gode",
        "GAT-GODE",
        "gode",
        GREY,
        ">",
        axis="t1",
        more=("heads",),
        own=_GODE,
        options={"derivative": "gat"},
    ),
    "gcn_gode": ModelRecord(
        "cgnn.models.gode", "GCN-GODE", "gode", GREY, "<", axis="t1", own=_GODE, options={"derivative": "gcn"}
    ),
    "gcn": ModelRecord("cgnn.models.gcn", "GCN", "discrete", BLUE, "s", axis="layers", profile_options=_AS_PYG_RUNS_IT),
    "gat": ModelRecord(
        "cgnn.models.gat",
        "GAT",
        "discrete",
        GREEN,
        "^",
        axis="layers",
        more=("heads", "output_heads"),
        profile_options=_AS_PYG_RUNS_IT,
    ),
    "gcn_residual": ModelRecord(
        "cgnn.models.gcn_residual", "GCN residual", "discrete", SKY, "D", axis="layers", profile_options=_AS_PYG_RUNS_IT
    ),
    "gcn_residual_plain": ModelRecord(
        "cgnn.models.gcn",
        "GCN residual, hidden layers only",
        "discrete",
        SKY,
        "d",
        axis="layers",
        options={"residual": True},
        profile_options=_AS_PYG_RUNS_IT,
    ),
    "cgnn_discrete": _cgnn(
        "CGNN discrete",
        ORANGE,
        "v",
        switches=("derivative", "source_gradient", "discrete", "discrete_steps"),
        variant="discrete",
    ),
    "cgnn_no_h0": _cgnn("CGNN w/o H(0)", BLACK, "X", switches=(*_ODE, "no_h0"), variant="no_h0"),
    "cgnn": _cgnn("CGNN", RED, "o", switches=_ODE),
    "cgnn_weight": _cgnn("CGNN with weight", PINK, "P", switches=(*_ODE, "weight_clamp"), weight=True),
    "cgnn_appnp": _cgnn(
        "CGNN with APPNP's steps",
        ORANGE,
        "*",
        switches=("discrete_steps",),
        variant="discrete",
        steps="appnp",
    ),
    "appnp": ModelRecord(
        "cgnn.models.appnp",
        "APPNP",
        "discrete",
        BLACK,
        "p",
        axis="layers",
        own=(OwnHyperparameter("teleport", 0.1, low=0, high=1), OwnHyperparameter("edge_dropout", 0.5, low=0, high=1)),
    ),
    "sgc": ModelRecord("cgnn.models.sgc", "SGC", "discrete", BLACK, "8", axis="layers", unread=("hidden", "dropout")),
}

#: Suffixes of a CGNN model's name in a method of the profiles: ``cgnn_adjoint`` is cgnn solved by dopri5_adjoint.
SOLVER_SUFFIXES = {
    "exact": "exact",
    "exact_recompute": "exact_recompute",
    "dopri5": "dopri5",
    "adjoint": "dopri5_adjoint",
    "adjoint_no_augmentation": "dopri5_adjoint",  # with the switch augmentation=none
    "rk4": "rk4",
    "rk4_adjoint": "rk4_adjoint",
}
#: Names of the solvers in tables and figures, and their lines: the model sets the colour, the solver marker and dashes.
#: ``released`` is the authors' code, which only the benchmarks run.
SOLVER_LABELS = {
    "exact": "exact",
    "exact_recompute": "exact, recomputing",
    "dopri5": "dopri5",
    "adjoint": "adjoint",
    "adjoint_no_augmentation": "adjoint, no augmentation",
    "rk4": "rk4",
    "rk4_adjoint": "rk4, adjoint",
    "released": "released recipe",
}
SOLVER_DASHES: dict[str, tuple[Dashes, str]] = {
    "exact": ("-", "P"),
    "exact_recompute": ((0, (8, 2)), "X"),
    "dopri5": ("--", "*"),
    "adjoint": ("-.", "o"),
    "adjoint_no_augmentation": ((0, (3, 1, 1, 1, 1, 1)), "s"),
    "rk4": (":", "d"),
    "rk4_adjoint": ((0, (3, 1, 1, 1)), "D"),
    "released": ((0, (1, 1)), "h"),
}


def split_method(method: str) -> tuple[str, str]:
    """Split a method into a CGNN model and its solver (or ""): ``cgnn_weight_rk4`` is ``("cgnn_weight", "rk4")``."""
    for suffix in sorted(SOLVER_LABELS, key=len, reverse=True):
        model = method.removesuffix(f"_{suffix}")
        if method not in RECORDS and model != method and model in RECORDS and RECORDS[model].family == "cgnn":
            return model, suffix
    return method, ""
