"""The whole model: encoder, graph ODE, decoder."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgnn.models.cgnn_conv import CGNNConv, Variant, check_probability, check_size
from cgnn.models.random_streams import Generators, dropout
from cgnn.models.sparse_input import LazySparseLinear, SparseLinear
from cgnn.paper.fidelity import Fidelity


class CGNN(nn.Module):
    r"""Continuous Graph Neural Network for node classification.

    .. math::
        \mathbf{E} = \mathrm{dropout}(\mathbf{X})\mathbf{W}_e + \mathbf{b}_e, \quad
        \mathbf{H}(t_1) = \mathrm{ODE}(\mathbf{E}), \quad
        \mathbf{Y} = \mathrm{dropout}(\mathrm{ReLU}(\mathbf{H}(t_1)))\mathbf{W}_d + \mathbf{b}_d

    The model of the experiments: a linear encoder, the graph ODE of :class:`CGNNConv`, a linear decoder.

    Args:
        in_channels (int): columns of x, or -1 to take them from the first input.
        hidden (int): columns of the ODE's state.
        out_channels (int): columns of the output, one per class.
        num_nodes (int, optional): number of nodes, each with its learned α, as in the paper. By default one α is shared
            by all nodes, and the model works on any graph.
        t1 (float): ending time, at least 0.
        alpha (float): initial value of α, as in the paper's tables.
        gamma (float): weight of each node's self-loop, at least 0.
        beta (float): strength of the orthogonality update of W, in [0, 0.5].
        weight (bool): whether channels interact through W.
        variant (str): ``"continuous"``, ``"discrete"`` or ``"no_h0"``; see :class:`CGNNConv`.
        fidelity (Fidelity or str, optional): the switches, or the name of a preset; see :class:`CGNNConv`.
        input_dropout (float): probability of dropping an entry of x, in [0, 1).
        dropout (float): probability of dropping an entry of the decoder's input, in [0, 1).
        replicas (int, optional): hold R independent models side by side; the output is then (n, R, out_channels).
        cached (bool): keep the normalised graph while ``edge_index`` and ``edge_weight`` are the same, unmodified
            tensors.

    Shapes:
        - **input:** x (n, in_channels), dense or sparse (CSR, COO, CSC); edge_index (2, m) or a sparse adjacency matrix
          (n, n); edge_weight (m), optional
        - **output:** (n, out_channels), with replicas (n, R, out_channels)

    Example:
        >>> model = CGNN(dataset.num_features, 16, dataset.num_classes, data.num_nodes, t1=12.0)
        >>> scores = model(data.x, data.edge_index)
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
        fidelity: Fidelity | str | None = None,
        input_dropout: float = 0.5,
        dropout: float = 0.0,
        replicas: int | None = None,
        cached: bool = True,
    ) -> None:
        super().__init__()
        check_size("in_channels", in_channels, lazy=True)
        check_size("hidden", hidden)
        check_size("out_channels", out_channels)
        check_size("replicas", replicas, optional=True)
        check_probability("input_dropout", input_dropout)
        check_probability("dropout", dropout)
        self.in_channels, self.hidden, self.out_channels = in_channels, hidden, out_channels
        self.dropout, self.replicas = dropout, replicas
        linear = LazySparseLinear if in_channels == -1 else SparseLinear
        self.encoder = linear(in_channels, hidden, dropout=input_dropout, replicas=replicas)
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
        """Reinitialise all parameters.

        Args:
            generators (sequence of torch.Generator, optional): one random stream per replica, so that the initial
                values of a replica do not depend on the other replicas. By default torch's global stream.
        """
        self.encoder.reset_parameters(generators)
        self.conv.reset_parameters()
        self.decoder.reset_parameters(generators)

    def set_generators(self, generators: Generators | None) -> None:
        """Use these random streams for dropout, one per replica; None for torch's global stream."""
        self.generators = self.encoder.generators = generators

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """The class scores, before softmax.

        Args:
            x (Tensor): (n, in_channels), dense or sparse (CSR, COO, CSC). Sparse features stay sparse, and dropout acts
                on their nonzero entries.
            edge_index (Tensor): (2, m), or a sparse adjacency matrix (n, n).
            edge_weight (Tensor, optional): (m), one weight per column of ``edge_index``.

        Returns:
            Tensor: (n, out_channels), with replicas (n, R, out_channels).
        """
        H = functional.relu(self.conv(self.encoder(x), edge_index, edge_weight))
        return self.decoder(dropout(H, self.dropout, self.training, self.generators))

    def after_step(self) -> None:
        """Update the orthogonal U of CGNN with weight; call it after each optimiser step."""
        self.conv.after_step()


class StackedLinear(SparseLinear):
    """A linear layer on (n, in), or R independent ones on (n, R, in)."""

    def __init__(self, in_features: int, out_features: int, replicas: int | None = None) -> None:
        super().__init__(in_features, out_features, replicas=replicas)

    def forward(self, x: Tensor) -> Tensor:
        if self.replicas is None or self.bias is None:
            return super().forward(x)
        return torch.einsum("nri,rio->nro", x, self.weight) + self.bias
