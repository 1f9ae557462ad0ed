"""Where the paper and its released code differ: one named switch per point, and the two presets."""

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args, get_type_hints

from cgnn.errors import UserError


@dataclass(frozen=True)
class Fidelity:
    """The switches. Â is the normalised adjacency with self-loop weight γ, A = (α/2)(I + Â).

    The defaults are those of the released code, except that the gradient flows through the source term. They are meant
    for new work, where there is no reason to cut the gradient. The preset ``released`` cuts it.
    """

    #: paper: H' = (A − I)H + E.  released: H' = (α/2)(Â − I)H + E. Both with + H(W − I) if there are weights.
    derivative: Literal["paper", "released"] = "released"
    #: tabulated: α starts at the tabulated value, kept in (0, 1).  sigmoid: α = σ(θ), θ starts at that value.
    alpha: Literal["tabulated", "sigmoid"] = "sigmoid"
    #: the gradient through the source term E of the derivative; the released code cuts it.
    source_gradient: Literal["flows", "cut"] = "flows"
    #: exact is the Chebyshev series; the others go through torchdiffeq, `_adjoint` with its adjoint method.
    solver: Literal["exact", "exact_recompute", "dopri5", "dopri5_adjoint", "rk4", "rk4_adjoint"] = "exact"
    #: the hidden state doubled with zeros during the ODE.
    augmentation: Literal["none", "zeros"] = "zeros"
    #: eigenvalues M of W: clamped to (0, 1) strictly inside, or to [0, 1] at use.
    weight_clamp: Literal["open", "closed"] = "closed"
    #: rows: each row divided by its sum.  binary_rows: converted to 0/1 first, as in the released code.
    #: as_given: unchanged, for a graph that is not one of the paper's.
    features: Literal["rows", "binary_rows", "as_given"] = "binary_rows"
    #: weight decay applies to all parameters, or to all except the parameter of α.
    alpha_decay: Literal["all", "weights_only"] = "all"
    #: the optimizer of the hyperparameters (as_tabulated), or this one instead.
    optimizer: Literal["as_tabulated", "adam", "rmsprop", "adamax"] = "as_tabulated"
    #: the epoch whose test accuracy is reported; `oracle` only shows how much selection matters.
    selection: Literal["best_validation", "last_best_validation", "final_epoch", "oracle"] = "best_validation"
    #: CGNN discrete. euler: H ← H + (the derivative at H), a unit Euler step, which under derivative=paper is the
    #: printed H ← AH + H(0).  hybrid: the printed step under either derivative.  appnp: H ← αÂH + (1 − α)H(0).
    discrete: Literal["euler", "hybrid", "appnp"] = "euler"
    #: CGNN discrete runs round(t1) steps (its hyperparameter tables) or 50 (the text).
    discrete_steps: Literal["t1", "50"] = "t1"
    #: CGNN without H(0): H' = (A − I)H(t) as the Discussion argues, or H' = (A − I)H(0) as printed.
    no_h0: Literal["discussion", "printed"] = "discussion"

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            found, allowed = getattr(self, field.name), get_args(hints[field.name])
            if found not in allowed:
                raise UserError(f"switch {field.name}: found {found!r}, expected one of {', '.join(allowed)}")


PRESETS = {
    "released": Fidelity(source_gradient="cut"),
    "paper": Fidelity(
        derivative="paper",
        alpha="tabulated",
        source_gradient="flows",
        weight_clamp="open",
        features="rows",
        discrete_steps="50",
    ),
}

#: Switches of the training loop, which apply to every model.
OF_THE_LOOP = ("features", "optimizer", "selection")


def preset(name: str, **switches: str) -> Fidelity:
    """The named preset with some switches changed: ``preset("released", alpha="tabulated")``."""
    if name not in PRESETS:
        raise UserError(f"preset: found {name!r}, expected one of {', '.join(PRESETS)}")
    known = [field.name for field in fields(Fidelity)]
    for switch in switches:
        if switch not in known:
            raise UserError(f"switch {switch!r} does not exist; expected one of {', '.join(known)}")
    return replace(PRESETS[name], **switches)  # type: ignore[arg-type]
