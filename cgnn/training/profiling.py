"""The cost of an epoch: its median time and torch's peak memory."""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from cgnn.datasets.graph import Graph
from cgnn.datasets.splits import Split
from cgnn.paper.hyperparameters import Hyperparameters
from cgnn.training.device import PeakMemory, is_out_of_memory, synchronise
from cgnn.training.loop import evaluate, make_optimizer, step
from cgnn.training.tensors import GraphTensors, graph_tensors, split_tensors


@dataclass(frozen=True)
class Cost:
    """The cost of one epoch: a training step and the evaluation pass. Empty if memory ran out."""

    status: str
    seconds: tuple[float, ...]
    peak_bytes: int | None
    memory_counter: str

    @property
    def seconds_per_epoch(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


def measure(
    build: Callable[[GraphTensors], nn.Module],
    graph: Graph,
    split: Split,
    features: str,
    hyperparameters: Hyperparameters,
    device: torch.device,
    epochs: int = 20,
    warmup: int = 3,
) -> Cost:
    """Time ``epochs`` epochs after ``warmup`` epochs; then repeat a few epochs with the memory counter."""
    peak = PeakMemory(device)

    def prepare() -> Callable[[], float]:
        data = graph_tensors(graph, features, device)
        index = split_tensors(data, [split])
        model = build(data).to(device)
        optimizer = make_optimizer(model, hyperparameters)

        def epoch() -> float:
            started = time.perf_counter()
            loss = step(model, data, index, optimizer)
            evaluate(model, data, index)
            synchronise(device)
            seconds = time.perf_counter() - started
            if not math.isfinite(loss.item()):
                raise FloatingPointError
            return seconds

        return epoch

    try:
        epoch = prepare()
        for _ in range(warmup):
            epoch()
        seconds = tuple(epoch() for _ in range(epochs))
        del epoch  # otherwise its tensors would still be in memory during the count
        with peak:
            epoch = prepare()
            epoch()  # sorts the sparse input, normalises the graph, creates the optimiser's state: once per training
            peak.restart()
            epoch()
    except FloatingPointError:
        return Cost("diverged", (), None, peak.counter)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return Cost("out_of_memory", (), None, peak.counter)
    return Cost("ok", seconds, peak.bytes, peak.counter)
