"""Train the replicas of one ``Training`` on a graph; used by ``cgnn train`` and by the search."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cgnn.datasets.graph import Graph
from cgnn.datasets.splits import Split
from cgnn.models import registry
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters, under
from cgnn.training.record import Training

if TYPE_CHECKING:
    from cgnn.training.replicas import Outcome


@dataclass(frozen=True)
class Experiment:
    """A training with its hyperparameters resolved, and the settings of the machine that runs it."""

    training: Training
    fidelity: Fidelity  # the training's, with the features mode of the graph (``tensors.fidelity_for``)
    hyperparameters: Hyperparameters
    device: str = "cpu"
    threads: int = 1
    memory_limit: int | None = None  # MiB
    side_by_side: bool | None = None  # None: on CUDA, where it fills the device; on a CPU it is no faster

    @property
    def device_name(self) -> str:
        from cgnn.training.device import choose_device

        return device_name(choose_device(self.device))


def run_experiment(
    experiment: Experiment,
    graph: Graph,
    splits: Mapping[int, Split],
    on_epoch: Callable[[], None] = lambda: None,
) -> Iterator["Outcome"]:
    """Train replica i on ``splits[i]``, for each i; yield each ``Outcome`` as it finishes."""
    from cgnn.training.device import choose_device, is_out_of_memory, make_deterministic, memory_limit
    from cgnn.training.replicas import Outcome, Replica, train_replicas
    from cgnn.training.tensors import graph_tensors

    training, fidelity = experiment.training, experiment.fidelity
    settings = under(experiment.hyperparameters, fidelity)
    device = choose_device(experiment.device)
    make_deterministic(experiment.threads)
    together = device.type == "cuda" if experiment.side_by_side is None else experiment.side_by_side
    replicas = [Replica(i, split, training.dataset, training.model) for i, split in sorted(splits.items())]
    with memory_limit(experiment.memory_limit, device):
        try:
            data = graph_tensors(graph, fidelity.features, device)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            yield from (Outcome(replica.index, "out_of_memory", seconds=0.0) for replica in replicas)
            return
        build = partial(registry.build, training.model, data, settings, fidelity)
        yield from train_replicas(
            build,
            data,
            replicas,
            settings,
            selection=fidelity.selection,
            side_by_side=together and registry.entry(training.model).side_by_side,
            on_epoch=on_epoch,
        )


def device_name(device: Any) -> str:
    """``cpu``, or the name of the CUDA device, because results of different devices are not bit-identical."""
    if device.type == "cpu":
        return "cpu"
    import torch

    return torch.cuda.get_device_name(device)
