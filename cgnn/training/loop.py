"""The training loop of all models: full-batch steps, and one evaluation pass per epoch for validation and test."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgnn.paper.hyperparameters import Hyperparameters
from cgnn.training.optimisers import OPTIMISERS, Optimiser
from cgnn.training.tensors import GraphTensors, SplitTensors

#: Epochs between checks of the loss. A check waits for the device, and a diverged run may continue for a while.
LOOK_EVERY = 25


@dataclass(frozen=True)
class Trace:
    """Training loss before the step and correct predictions after it, by epoch and replica (E, R)."""

    train_loss: Tensor
    validation_correct: Tensor
    test_correct: Tensor


def train(
    model: nn.Module,
    data: GraphTensors,
    split: SplitTensors,
    hyperparameters: Hyperparameters,
    on_epoch: Callable[[], None] = lambda: None,
) -> Trace:
    """Train for all epochs (no early stopping, as in the released code), or until every replica has diverged."""
    optimizer = make_optimizer(model, hyperparameters)
    epochs, replicas = hyperparameters.epochs, split.replicas
    losses = torch.full((epochs, replicas), torch.nan, device=data.x.device)
    correct = torch.zeros((2, epochs, replicas), dtype=torch.long, device=data.x.device)
    for epoch in range(epochs):
        losses[epoch] = step(model, data, split, optimizer)
        correct[0, epoch], correct[1, epoch] = evaluate(model, data, split)
        on_epoch()
        if (epoch + 1) % LOOK_EVERY == 0 and not losses[epoch].isfinite().any():
            break
    return Trace(losses.cpu(), correct[0].cpu(), correct[1].cpu())


def make_optimizer(model: nn.Module, hyperparameters: Hyperparameters) -> Optimiser:
    """The optimiser with torch's defaults; weight decay applies to every parameter unless the model defines groups."""
    decay = hyperparameters.weight_decay
    if hasattr(model, "parameter_groups"):
        groups = model.parameter_groups(decay)  # type: ignore[operator]
    else:
        groups = [{"params": list(model.parameters()), "weight_decay": decay}]
    return OPTIMISERS[hyperparameters.optimizer](groups, hyperparameters.lr)


def step(model: nn.Module, data: GraphTensors, split: SplitTensors, optimizer: Optimiser) -> Tensor:
    """One optimiser step on the whole training set; the loss (R,) before it."""
    model.train()
    optimizer.zero_grad()
    scores = select(model(data.x, data.edge_index), split.train)
    entropy = functional.cross_entropy(scores.flatten(0, 1), split.train_labels.flatten(), reduction="none")
    loss = entropy.view(split.train.shape).mean(dim=1)
    # Replicas share no parameters, so the gradient of the sum gives each replica its gradient.
    loss.sum().backward()
    optimizer.step()
    if hasattr(model, "after_step"):
        model.after_step()  # type: ignore[operator]
    return loss.detach()


@torch.no_grad()
def evaluate(model: nn.Module, data: GraphTensors, split: SplitTensors) -> tuple[Tensor, Tensor]:
    """Correct predictions on validation and test nodes, (R,) each, from one forward pass."""
    model.eval()
    scores = select(model(data.x, data.edge_index), split.evaluated)
    hits = scores.argmax(dim=-1) == split.evaluated_labels
    return hits[:, : split.num_validation].sum(dim=1), hits[:, split.num_validation :].sum(dim=1)


def select(scores: Tensor, nodes: Tensor) -> Tensor:
    """The rows of each replica's nodes, (R, a, C), from scores (n, C) or (n, R, C) and nodes (R, a)."""
    if scores.dim() == 2:
        return scores.index_select(0, nodes[0]).unsqueeze(0)
    replica = torch.arange(nodes.size(0), device=nodes.device).unsqueeze(1)
    return scores[nodes, replica]
