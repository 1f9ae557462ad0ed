"""H(t) approaching the fixed points of Propositions 2 and 4, and the released derivative that has none."""

from pathlib import Path

import pandas as pd

from cgnn.analysis.claims.fixed_point import late_rate
from cgnn.models import names
from cgnn.render.plots import list_words, panels
from cgnn.render.style import Drawing, look

CGNN, WITH_WEIGHT = look("cgnn").color, look("cgnn_weight").color
KINDS = {"paper": ("printed ODE", CGNN, "o"), "paper_weight": ("printed ODE with weights", WITH_WEIGHT, "s")}


def draw(convergence: Path) -> Drawing:
    """On the left the distance to the limit on a logarithmic scale; on the right the size of H(t)."""
    rows = pd.read_csv(convergence)
    figure, ((above, below),) = panels(1, 2, 2.1)
    rates, growth = [], ""
    for kind, (label, color, marker) in KINDS.items():
        part = rows[(rows["kind"] == kind)].sort_values("t")
        if part.empty:
            continue
        shown = part[part["distance"] > 1e-13]
        closed = part[part["closed_form_distance"] > 1e-13]  # below it there is only rounding
        above.plot(closed["t"], closed["closed_form_distance"], color=color, label=f"{label}, closed form")
        by_solver = f"{label}, exact solver"
        above.plot(shown["t"], shown["distance"], marker, color=color, markersize=3, label=by_solver, mew=0)
        below.plot(part["t"], part["norm"], color=color, marker=marker, markersize=2.5, label=label)
        rates.append(f"{late_rate(part):.4f} (predicted {part['predicted_rate'].iloc[0]:.4f}) for the {label}")
    released = rows[rows["kind"] == "released"].sort_values("t")
    if len(released):
        below.plot(released["t"], released["norm"], "--^", color=CGNN, markersize=2.5, label="released ODE")
        fold = float(released["norm"].iloc[-1] / released["norm"].iloc[0])
        growth = f", while the released ODE keeps growing ({fold:.0f}-fold at t = {released['t'].iloc[-1]:g})"
    for axes, what, corner in (
        (above, "relative distance to limit", "lower left"),
        (below, "‖H(t)‖ / ‖E‖", "upper left"),
    ):
        axes.set_yscale("log")
        axes.set_ylabel(what)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(0, float(rows["t"].max()) * 1.15)
        axes.set_xlabel("ending time t")
        axes.legend(loc=corner)
    first = rows.iloc[0]
    caption = (
        f"The printed ODE converges to the fixed points of Propositions 2 and 4 at the predicted rates{growth}. Rates: "
        f"{list_words(rates)}. Left: relative distance to the limit by the exact solver (points) and the closed form "
        f"(lines). Right: the norm of H(t). {first['nodes']:g} nodes of {names.dataset(str(first['graph']))}, "
        f"α = {first['alpha']:g}, γ = {first['gamma']:g}, {first['hidden']:g} channels."
    )
    alt = "Two charts over time: the distance to the fixed point falls exponentially; the released ODE keeps growing."
    return Drawing(figure, "Convergence to the fixed point", caption, alt)
