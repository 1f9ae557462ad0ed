"""What every contestant gets: one graph, one split and one set of hyperparameters, as plain tensors."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Problem:
    """A node classification task in the forms that the contestants want it in."""

    dataset: str
    features: Tensor
    """n × F, sparse CSR, rows binarised and divided by their sum as the released code does."""
    edge_index: Tensor
    """2 × 2m, both directions of every undirected edge, no self-loops."""
    labels: Tensor
    train: Tensor
    validation: Tensor
    test: Tensor

    @property
    def num_nodes(self) -> int:
        return self.features.shape[0]

    @property
    def num_features(self) -> int:
        return self.features.shape[1]

    @property
    def num_classes(self) -> int:
        return int(self.labels.max()) + 1


@dataclass(frozen=True)
class Settings:
    """The hyperparameters an epoch's cost depends on, and those that a step needs."""

    lr: float
    t1: float
    alpha: float
    gamma: float
    optimizer: str = "rmsprop"
    weight_decay: float = 5e-4
    hidden: int = 16
    input_dropout: float = 0.5
    dropout: float = 0.0
    beta: float = 0.5

    def with_(self, **changes: Any) -> "Settings":
        return replace(self, **changes)


def make_optimizer(parameters: Any, settings: Settings) -> torch.optim.Optimizer:
    kind = {"rmsprop": torch.optim.RMSprop, "adam": torch.optim.Adam}[settings.optimizer]
    return kind(parameters, lr=settings.lr, weight_decay=settings.weight_decay)


def accuracy(logits: Tensor, labels: Tensor, nodes: Tensor) -> float:
    return (logits[nodes].argmax(dim=1) == labels[nodes]).double().mean().item()
