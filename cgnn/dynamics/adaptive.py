"""Solve the ODE by time stepping with torchdiffeq, as the authors do; also a reference for the exact solver.

``dopri5`` uses the authors' tolerances, ``rk4`` a fixed step. Both can backpropagate through the steps or use
the adjoint method, whose memory does not grow with t1.
"""

from collections.abc import Callable

import torch
import torchdiffeq
from torch import Tensor

from cgnn.dynamics.problem import LinearODE
from cgnn.errors import UserError

#: the released code's tolerances.
RTOL, ATOL = 1e-7, 1e-9
#: rk4's step; its error over t1 = 12 is then below 1e-4.
STEP = 0.25


def solve_dopri5(ode: LinearODE, t1: float, *, rtol: float = RTOL, atol: float = ATOL) -> Tensor:
    """Adaptive Runge-Kutta of order 5, differentiated through its steps."""
    return _integrate(ode, t1, "dopri5", False, rtol=rtol, atol=atol)


def solve_dopri5_adjoint(ode: LinearODE, t1: float, *, rtol: float = RTOL, atol: float = ATOL) -> Tensor:
    """The same with the adjoint method."""
    return _integrate(ode, t1, "dopri5", True, rtol=rtol, atol=atol)


def solve_rk4(ode: LinearODE, t1: float, *, step: float = STEP) -> Tensor:
    """Fixed-step Runge-Kutta of order 4, differentiated through its steps."""
    return _integrate(ode, t1, "rk4", False, options={"step_size": step})


def solve_rk4_adjoint(ode: LinearODE, t1: float, *, step: float = STEP) -> Tensor:
    """The same with the adjoint method."""
    return _integrate(ode, t1, "rk4", True, options={"step_size": step})


def _integrate(ode: LinearODE, t1: float, method: str, adjoint: bool, **settings: object) -> Tensor:
    if t1 < 0:
        raise UserError(f"t1: found {t1}, expected an ending time of at least 0")
    if t1 == 0:
        return ode.E.clone()
    channels = ode.E.shape[-1]
    # Augmentation: the columns beyond d start at zero and are discarded at the end.
    start = torch.nn.functional.pad(ode.E, (0, ode.state_width - channels))
    source = {"flows": start, "cut": start.detach(), "none": None}[ode.source]
    times = torch.tensor([0.0, t1], dtype=torch.float64, device=start.device)
    derivative = _derivative(ode, source)
    if not adjoint:
        H = torchdiffeq.odeint(derivative, start, times, method=method, **settings)[-1]
    else:
        # The adjoint method only returns gradients for the tensors listed here; without E the encoder would learn
        # through H(0) only.
        listed = (ode.alpha, ode.weight, source, ode.propagation.learned)
        parameters = tuple(p for p in listed if p is not None and p.requires_grad)
        H = torchdiffeq.odeint_adjoint(derivative, start, times, method=method, adjoint_params=parameters, **settings)[
            -1
        ]
    return H[..., :channels]


def _derivative(ode: LinearODE, source: Tensor | None) -> Callable[[Tensor, Tensor], Tensor]:
    """H ↦ MH + H(W − I) + E"""

    def derivative(t: Tensor, H: Tensor) -> Tensor:
        change = ode.propagation.apply_M(ode.alpha, H)
        if ode.weight is not None:
            mixed = H @ ode.weight if ode.weight.dim() == 2 else torch.einsum("nri,rij->nrj", H, ode.weight)
            change = change + mixed - H
        return change if source is None else change + source

    return derivative
