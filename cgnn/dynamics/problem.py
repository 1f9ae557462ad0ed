"""The input of a solver: one linear ODE, H' = MH + H(W − I) + E with H(0) = E."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from cgnn.dynamics.operator import Propagation


@dataclass(frozen=True)
class LinearODE:
    """E is (n, d), or (n, R, d) for R replicas side by side; α is (n,) or (n, R)."""

    propagation: Propagation
    E: Tensor
    alpha: Tensor
    #: W, (w, w) or (R, w, w), symmetric, w ≥ d. Columns beyond d (augmentation) start at zero and are not returned.
    weight: Tensor | None = None
    #: flows: E's gradient also flows through the source term.  cut: only through H(0).  none: H' = MH, without source.
    source: Literal["flows", "cut", "none"] = "flows"
    #: number of columns of the state; if it is larger than d, zeros are appended (a no-op without W).
    width: int | None = None

    @property
    def state_width(self) -> int:
        return self.width or (self.E.shape[-1] if self.weight is None else self.weight.shape[-1])
