"""Train the replicas of one training, each with its own random streams, side by side if the model allows it."""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from cgnn.datasets.splits import Split
from cgnn.paper.hyperparameters import Hyperparameters
from cgnn.seeds import derive_seed
from cgnn.training.device import is_out_of_memory, synchronise
from cgnn.training.loop import Trace, train
from cgnn.training.selection import Selected, select_epoch
from cgnn.training.tensors import GraphTensors, split_tensors

#: Builds a model with these replicas from their seeds (the registry's ``build`` with the other arguments bound).
Builder = Callable[[list[int]], nn.Module]


@dataclass(frozen=True)
class Replica:
    """Replica ``index``. Its seeds are hashes of their purposes, so they do not depend on the other replicas."""

    index: int
    split: Split
    dataset: str
    model: str

    def seed(self, purpose: str) -> int:
        return derive_seed(self.dataset, self.split.name, self.model, self.index, purpose)


@dataclass(frozen=True, eq=False)
class Curves:
    """By epoch, accuracies in percent."""

    train_loss: np.ndarray
    validation_accuracy: np.ndarray
    test_accuracy: np.ndarray


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a replica ended. Only ``ok`` ones have accuracies; ``alpha`` (n,) exists for models that learn it."""

    replica: int
    status: str  # ok, diverged, out_of_memory
    seconds: float
    selected: Selected | None = None
    curves: Curves | None = None
    alpha: np.ndarray | None = None


def train_replicas(
    build: Builder,
    data: GraphTensors,
    replicas: Sequence[Replica],
    hyperparameters: Hyperparameters,
    *,
    selection: str,
    side_by_side: bool = False,
    on_epoch: Callable[[], None] = lambda: None,
) -> Iterator[Outcome]:
    """Train and yield each replica as it finishes. Divergence and lack of memory are results, not errors."""
    groups = [list(replicas)] if side_by_side else [[replica] for replica in replicas]
    for group in groups:
        outcomes = _train_group(build, data, group, hyperparameters, selection, on_epoch)
        if outcomes is None and len(group) > 1:  # together they do not fit in memory, but each one may
            gc.collect()
            yield from train_replicas(build, data, group, hyperparameters, selection=selection, on_epoch=on_epoch)
        elif outcomes is None:
            gc.collect()
            yield Outcome(group[0].index, "out_of_memory", seconds=0.0)
        else:
            yield from outcomes


def _train_group(
    build: Builder,
    data: GraphTensors,
    group: list[Replica],
    hyperparameters: Hyperparameters,
    selection: str,
    on_epoch: Callable[[], None],
) -> list[Outcome] | None:
    """The outcomes of replicas trained together, or None if memory ran out."""
    device = data.x.device
    started = time.perf_counter()
    try:
        split = split_tensors(data, [replica.split for replica in group])
        model = build([replica.seed("init") for replica in group]).to(device)
        seed_dropout(model, [replica.seed("dropout") for replica in group], device)
        trace = train(model, data, split, hyperparameters, on_epoch)
        alpha = learned_alpha(model)
        alpha = None if alpha is None else data.original_order(alpha)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return None
    synchronise(device)
    seconds = (time.perf_counter() - started) / len(group)
    return [
        _outcome(replica, column, trace, split.num_validation, split.num_test, seconds, selection, alpha)
        for column, replica in enumerate(group)
    ]


def seed_dropout(model: nn.Module, seeds: list[int], device: torch.device) -> None:
    """Seed one random stream per replica. A model with one replica uses torch's global stream, like PyG's layers."""
    if hasattr(model, "set_generators"):
        model.set_generators([torch.Generator(device).manual_seed(seed) for seed in seeds])  # type: ignore[operator]
    torch.manual_seed(seeds[0])


def learned_alpha(model: nn.Module) -> np.ndarray | None:
    """α as (R, n), for the models that learn one."""
    alpha = getattr(getattr(model, "conv", None), "alpha", None)
    if not isinstance(alpha, torch.Tensor):  # a layer may use this name for a constant
        return None
    alpha = alpha.detach().cpu()
    return (alpha.unsqueeze(1) if alpha.dim() == 1 else alpha).T.contiguous().numpy()


def _outcome(
    replica: Replica,
    column: int,
    trace: Trace,
    num_validation: int,
    num_test: int,
    seconds: float,
    selection: str,
    alpha: np.ndarray | None,
) -> Outcome:
    loss = trace.train_loss[:, column].numpy()
    if not np.isfinite(loss).all():
        return Outcome(replica.index, "diverged", seconds)
    validation = 100 * trace.validation_correct[:, column].numpy() / num_validation
    test = 100 * trace.test_correct[:, column].numpy() / num_test
    return Outcome(
        replica.index,
        "ok",
        seconds,
        selected=select_epoch(validation, test, selection),
        curves=Curves(loss, validation, test),
        alpha=None if alpha is None else alpha[column],
    )
