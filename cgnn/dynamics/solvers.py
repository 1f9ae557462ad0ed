"""The solvers by name, with one interface. They are given as strings, so that a job imports only the one it uses."""

from importlib import import_module
from typing import TYPE_CHECKING

from cgnn.errors import UserError

if TYPE_CHECKING:  # planning a workflow reads SOLVER_MODULES and should not load torch
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

#: The module of each solver, for code fingerprints.
SOLVER_MODULES = {name: target.split(":")[0] for name, target in SOLVERS.items()}


def solve(solver: str, ode: "LinearODE", t1: float, **options: float) -> "Tensor":
    """H(t1) by the named solver.

    Args:
        solver (str): a key of SOLVERS.
        ode (LinearODE): the equation.
        t1 (float): ending time, at least 0.
        **options: options of the solver: ``tolerance`` (exact), ``rtol`` and ``atol`` (dopri5), ``step`` (rk4).
    """
    if solver not in SOLVERS:
        raise UserError(f"solver: found {solver!r}, expected one of {', '.join(SOLVERS)}")
    module, function = SOLVERS[solver].split(":")
    try:
        chosen = getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        if error.name != "torchdiffeq":
            raise
        raise UserError(
            f"solver: {solver!r} needs torchdiffeq, which is not installed; run `pip install torchdiffeq`, "
            "or use 'exact' or 'exact_recompute'"
        ) from None
    return chosen(ode, t1, **options)
