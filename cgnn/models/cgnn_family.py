"""The paper's own models, from hyperparameters: CGNN, with weight, discrete, without H(0)."""

from typing import Any

import torch

from cgnn.models.cgnn import CGNN
from cgnn.models.cgnn_conv import Variant
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


def build(
    data: Any,
    hyperparameters: Hyperparameters,
    fidelity: Fidelity,
    seeds: list[int],
    weight: bool = False,
    variant: Variant = "continuous",
) -> CGNN:
    """One replica per seed, side by side if there are several."""
    model = CGNN(
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
