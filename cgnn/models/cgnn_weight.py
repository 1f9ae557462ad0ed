"""W = U diag(M) U^T: the channel interaction of CGNN with weight, kept near the orthogonal matrices."""

from typing import Literal

import torch
from torch import Tensor, nn

#: distance of the open clamp from the ends of (0, 1).
MARGIN = 1e-4
#: initial value of M. In the released code it is 1, the upper end of [0, 1], where the clamp still passes the gradient.
#: The open clamp passes no gradient outside its interval, so M starts inside.
START = {"closed": 1.0, "open": 0.99}


class OrthogonalWeight(nn.Module):
    r"""The matrix of Section 4.2 of the paper, which is symmetric for any U.

    .. math::
        \mathbf{W} = \mathbf{U}\,\mathrm{diag}(\mathbf{M})\,\mathbf{U}^\top, \qquad
        \mathbf{U} \leftarrow (1 + \beta)\mathbf{U} - \beta\,\mathbf{U}\mathbf{U}^\top\mathbf{U}

    U starts as I. M is clamped at use: to [0, 1], starting at 1 (``closed``, as in the released code), or strictly
    inside (0, 1), starting at 0.99 (``open``, as the paper writes). :meth:`after_step` moves U towards the orthogonal
    matrices.

    Args:
        size (int): rows and columns of W.
        beta (float): strength of the update of U.
        clamp (str): ``"closed"`` or ``"open"``.
        replicas (int, optional): R independent matrices instead of one.

    Shapes:
        - **output:** (size, size), with replicas (R, size, size).
    """

    def __init__(
        self, size: int, beta: float = 0.5, clamp: Literal["open", "closed"] = "closed", replicas: int | None = None
    ) -> None:
        super().__init__()
        self.size, self.beta, self.clamp, self.replicas = size, beta, clamp, replicas
        stacked = () if replicas is None else (replicas,)
        self.U = nn.Parameter(torch.empty(*stacked, size, size))
        self.M = nn.Parameter(torch.empty(*stacked, size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set U to I and M to its initial value. Nothing here is random."""
        with torch.no_grad():
            self.U.copy_(torch.eye(self.size, device=self.U.device).expand_as(self.U))
            self.M.fill_(START[self.clamp])

    def forward(self) -> Tensor:
        """W, differentiable in U and M."""
        margin = MARGIN if self.clamp == "open" else 0.0
        return (self.U * self.M.clamp(margin, 1 - margin).unsqueeze(-2)) @ self.U.mT

    @torch.no_grad()
    def after_step(self) -> None:
        """U ← (1 + β)U − β U U^T U; call it after each optimiser step."""
        U = self.U
        U.copy_((1 + self.beta) * U - self.beta * (U @ U.mT @ U))

    def extra_repr(self) -> str:
        return f"{self.size}, beta={self.beta:g}, clamp={self.clamp!r}"
