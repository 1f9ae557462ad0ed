"""W = U diag(M) U^T: the channel interaction of CGNN with weight, kept near the orthogonal matrices."""

from typing import Literal

import torch
from torch import Tensor, nn

#: how far inside (0, 1) the open clamp stays.
MARGIN = 1e-4


class OrthogonalWeight(nn.Module):
    r"""The matrix :math:`\mathbf{W} = \mathbf{U}\,\mathrm{diag}(\mathbf{M})\,\mathbf{U}^\top`, symmetric whatever U is.

    U starts as I and M as 1, so W starts as I. M is clamped at use, to [0, 1] (``closed``) or strictly
    inside (``open``). :meth:`after_step` draws U back to the orthogonal matrices.
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
        with torch.no_grad():
            self.U.copy_(torch.eye(self.size).expand_as(self.U))
            self.M.fill_(1.0)

    def forward(self) -> Tensor:
        margin = MARGIN if self.clamp == "open" else 0.0
        return (self.U * self.M.clamp(margin, 1 - margin).unsqueeze(-2)) @ self.U.mT

    @torch.no_grad()
    def after_step(self) -> None:
        """U ← (1 + β)U − β U U^T U"""
        U = self.U
        U.copy_((1 + self.beta) * U - self.beta * (U @ U.mT @ U))

    def extra_repr(self) -> str:
        return f"{self.size}, beta={self.beta:g}, clamp={self.clamp!r}"
