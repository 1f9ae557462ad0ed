"""A training as it is asked for: names and numbers in, outcomes out. What ``cgnn train`` and the search both call."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from cgnn.datasets.graph import Graph
from cgnn.datasets.splits import Split
from cgnn.models import registry
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters, under


@dataclass(frozen=True)
class Experiment:
    """Everything that decides the numbers, but for the graph and the splits."""

    dataset: str
    split_kind: str
    model: str
    preset: str
    fidelity: Fidelity
    hyperparameters: Hyperparameters
    source: str = "custom"  # of the hyperparameters: search, published, custom
    variant: str = ""
    device: str = "cpu"
    threads: int = 1
    memory_limit: int | None = None  # MiB
    side_by_side: bool | None = None  # None: on CUDA, where it fills the device; a CPU gains nothing by it

    @property
    def device_name(self) -> str:
        from cgnn.training.device import choose_device

        return device_name(choose_device(self.device))

    @property
    def label(self) -> str:
        return " ".join(filter(None, (self.dataset, self.split_kind, self.model, self.preset, self.variant)))


def run_experiment(
    experiment: Experiment,
    graph: Graph,
    splits: Mapping[int, Split],
    on_epoch: Callable[[], None] = lambda: None,
) -> Iterator[Any]:
    """Train replica i on ``splits[i]``, for each i; yield each ``Outcome`` as it ends."""
    from cgnn.training.device import choose_device, make_deterministic, memory_limit
    from cgnn.training.replicas import Outcome, Replica, train_replicas
    from cgnn.training.tensors import graph_tensors

    settings = under(experiment.hyperparameters, experiment.fidelity)
    device = choose_device(experiment.device)
    make_deterministic(experiment.threads)
    together = device.type == "cuda" if experiment.side_by_side is None else experiment.side_by_side
    replicas = [Replica(i, split, experiment.dataset, experiment.model) for i, split in sorted(splits.items())]
    with memory_limit(experiment.memory_limit, device):
        try:
            data = graph_tensors(graph, experiment.fidelity.features, device)
        except (MemoryError, RuntimeError) as error:
            from cgnn.training.device import is_out_of_memory

            if not is_out_of_memory(error):
                raise
            yield from (Outcome(replica.index, "out_of_memory", seconds=0.0) for replica in replicas)
            return
        build = partial(registry.build, experiment.model, data, settings, experiment.fidelity)
        yield from train_replicas(
            build,
            data,
            replicas,
            settings,
            selection=experiment.fidelity.selection,
            side_by_side=together and registry.entry(experiment.model).side_by_side,
            on_epoch=on_epoch,
        )


def device_name(device: Any) -> str:
    """``cpu``, or the CUDA card's name: numbers of two cards are not the same to the bit."""
    if device.type == "cpu":
        return "cpu"
    import torch

    return torch.cuda.get_device_name(device)
