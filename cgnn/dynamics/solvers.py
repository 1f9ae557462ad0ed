"""The solvers by name, behind one call. Named as strings, so that a job imports only the one it uses."""

from importlib import import_module
from typing import TYPE_CHECKING

from cgnn.errors import UserError

if TYPE_CHECKING:  # planning a workflow reads SOLVER_MODULES and should not load torch for it
    from torch import Tensor

    from cgnn.dynamics.problem import LinearODE

SOLVERS = {
    "exact": "cgnn.dynamics.chebyshev:solve",
    "exact_recompute": "cgnn.dynamics.chebyshev:solve_recomputing",
    "dopri5": "cgnn.dynamics.adaptive:solve_dopri5",
    "dopri5_adjoint": "cgnn.dynamics.adaptive:solve_dopri5_adjoint",
    "rk4": "cgnn.dynamics.adaptive:solve_rk4",
    "rk4_adjoint": "cgnn.dynamics.adaptive:solve_rk4_adjoint",
}

#: the module behind each solver, for code fingerprints.
SOLVER_MODULES = {name: target.split(":")[0] for name, target in SOLVERS.items()}


def solve(solver: str, ode: "LinearODE", t1: float, **options: float) -> "Tensor":
    """H(t1) of ``ode`` by the named solver; ``options`` are its own (tolerance; rtol, atol; step)."""
    if solver not in SOLVERS:
        raise UserError(f"solver: found {solver!r}, expected one of {', '.join(SOLVERS)}")
    module, function = SOLVERS[solver].split(":")
    return getattr(import_module(module), function)(ode, t1, **options)
