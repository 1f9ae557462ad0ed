"""The whole model: encoder, graph ODE, decoder."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgnn.models.cgnn_conv import CGNNConv, Variant
from cgnn.models.random_streams import Generators, dropout
from cgnn.models.sparse_input import SparseLinear
from cgnn.paper.fidelity import Fidelity


class CGNN(nn.Module):
    r"""Continuous Graph Neural Network for node classification.

    .. math::
        \mathbf{E} = \mathrm{dropout}(\mathbf{X})\mathbf{W}_e + \mathbf{b}_e, \quad
        \mathbf{H}(t_1) = \mathrm{ODE}(\mathbf{E}), \quad
        \mathbf{Y} = \mathrm{dropout}(\mathrm{ReLU}(\mathbf{H}(t_1)))\mathbf{W}_d + \mathbf{b}_d

    Args:
        in_channels, hidden, out_channels: columns of x, of the ODE, of the output (class scores before softmax).
        num_nodes: nodes of the graph, each with its own α; None for one α for all.
        t1, alpha, gamma, beta, weight, variant, fidelity, cached: see :class:`CGNNConv`.
        input_dropout, dropout: in front of the encoder and of the decoder.
        replicas: None, or R independent models side by side; the output is then (n, R, out_channels).

    Shapes:
        x (n, in_channels), dense or sparse (CSR, COO); edge_index (2, m); edge_weight (m); output (n, out_channels).
    """

    def __init__(
        self,
        in_channels: int,
        hidden: int,
        out_channels: int,
        num_nodes: int | None = None,
        *,
        t1: float,
        alpha: float = 0.95,
        gamma: float = 1.0,
        beta: float = 0.5,
        weight: bool = False,
        variant: Variant = "continuous",
        fidelity: Fidelity | None = None,
        input_dropout: float = 0.5,
        dropout: float = 0.0,
        replicas: int | None = None,
        cached: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels, self.hidden, self.out_channels = in_channels, hidden, out_channels
        self.dropout, self.replicas = dropout, replicas
        self.encoder = SparseLinear(in_channels, hidden, dropout=input_dropout, replicas=replicas)
        self.conv = CGNNConv(
            hidden,
            num_nodes,
            t1=t1,
            alpha=alpha,
            gamma=gamma,
            beta=beta,
            weight=weight,
            variant=variant,
            fidelity=fidelity,
            replicas=replicas,
            cached=cached,
        )
        self.decoder = StackedLinear(hidden, out_channels, replicas)
        self.generators: Generators | None = None

    def reset_parameters(self, generators: Generators | None = None) -> None:
        """A fresh start; replica r draws from stream r, the same numbers as if it were alone."""
        self.encoder.reset_parameters(generators)
        self.conv.reset_parameters()
        self.decoder.reset_parameters(generators)

    def set_generators(self, generators: Generators | None) -> None:
        """The random streams of dropout, one a replica; None for torch's own."""
        self.generators = self.encoder.generators = generators

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        H = functional.relu(self.conv(self.encoder(x), edge_index, edge_weight))
        return self.decoder(dropout(H, self.dropout, self.training, self.generators))

    def after_step(self) -> None:
        """To be called after each optimiser step (it updates the orthogonal U of CGNN with weight)."""
        self.conv.after_step()


class StackedLinear(SparseLinear):
    """A linear layer on (n, in), or R of them on (n, R, in)."""

    def __init__(self, in_features: int, out_features: int, replicas: int | None = None) -> None:
        super().__init__(in_features, out_features, replicas=replicas)

    def forward(self, x: Tensor) -> Tensor:
        if self.replicas is None or self.bias is None:
            return super().forward(x)
        return torch.einsum("nri,rio->nro", x, self.weight) + self.bias
