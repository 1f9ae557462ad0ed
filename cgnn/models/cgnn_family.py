"""Build the paper's models from hyperparameters: CGNN, with weight, discrete, without H(0)."""

from dataclasses import replace
from typing import Any, Literal

import torch

from cgnn.models.cgnn import CGNN
from cgnn.models.cgnn_conv import Variant
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


class TrainedCGNN(CGNN):
    """CGNN with the methods that the training loop needs."""

    def parameter_groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """Weight decay applies to all parameters, as in the released code, or to all but α's (switch alpha_decay)."""
        if self.conv.fidelity.alpha_decay == "all":
            return [{"params": list(self.parameters()), "weight_decay": weight_decay}]
        weights = [parameter for parameter in self.parameters() if parameter is not self.conv.theta]
        return [
            {"params": weights, "weight_decay": weight_decay},
            {"params": [self.conv.theta], "weight_decay": 0.0},
        ]


def build(
    data: Any,
    hyperparameters: Hyperparameters,
    fidelity: Fidelity,
    seeds: list[int],
    weight: bool = False,
    variant: Variant = "continuous",
    steps: Literal["euler", "hybrid", "appnp"] | None = None,
) -> TrainedCGNN:
    """One replica per seed, side by side if there are several; ``steps`` overrides the switch ``discrete``."""
    if steps is not None:
        fidelity = replace(fidelity, discrete=steps)
    model = TrainedCGNN(
        data.num_features,
        hyperparameters.hidden,
        data.num_classes,
        data.num_nodes,
        t1=hyperparameters.t1,
        alpha=hyperparameters.alpha,
        gamma=hyperparameters.gamma,
        beta=hyperparameters.beta,
        weight=weight,
        variant=variant,
        fidelity=fidelity,
        input_dropout=hyperparameters.input_dropout,
        dropout=hyperparameters.dropout,
        replicas=len(seeds) if len(seeds) > 1 else None,
    )
    model.reset_parameters([torch.Generator().manual_seed(seed) for seed in seeds])
    return model
