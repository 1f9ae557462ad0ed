"""Check every model on a device against a reference, in about a minute.

On CUDA the reference is the CPU; on a CPU it is float64, and one thread against two. A difference is relative to the
largest entry of the tensor that is compared.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from cgnn.datasets.synthetic import Parameters, generate
from cgnn.models import registry
from cgnn.paper.fidelity import preset
from cgnn.paper.hyperparameters import Hyperparameters, override, published
from cgnn.training.device import MIB, PeakMemory, synchronise
from cgnn.training.loop import make_optimizer, select, step, train
from cgnn.training.replicas import seed_dropout
from cgnn.training.tensors import SplitTensors, graph_tensors, split_tensors

#: Largest difference allowed, relative to the largest entry. Measured on a CPU (float32 against float64): scores below
#: 1e-6, gradients below 1e-5; a wrong kernel or a tensor on the wrong device shows as 1e-1 or NaN.
TOLERANCES = {"scores": 1e-4, "gradients": 1e-3, "side_by_side": 1e-4, "repeated": 1e-4}


def tolerances(device: torch.device) -> dict[str, float]:
    """On a CPU the same command must give the same bits; CUDA lacks deterministic kernels for some sums."""
    return TOLERANCES if device.type != "cpu" else {**TOLERANCES, "repeated": 0.0}


STEPS = 5
TIMED_EPOCHS = 5
COUNTED_MIB = 8

WHAT_TO_DO = {
    "scores": "a kernel is wrong; on CUDA compare torch.version.cuda with nvidia-smi, then reinstall torch",
    "gradients": "a backward kernel is wrong; proceed as for scores",
    "side_by_side": "train with --no-side-by-side on this device, and report this table",
    "repeated": "results of this device are not repeatable; compare means over seeds, not single runs",
    "error": "run `python -m cgnn train` with this model for the whole message; `--device cpu` avoids the device",
    "memory": "do not use the memory figures of this device",
}


@dataclass(frozen=True)
class ModelCheck:
    """The result for one model: relative differences (None if a check does not apply), and median time per epoch."""

    model: str
    scores: float | None = None
    gradients: float | None = None
    side_by_side: float | None = None
    repeated: float | None = None
    seconds_per_epoch: float | None = None
    error: str | None = None
    tolerances: Mapping[str, float] = field(default_factory=lambda: TOLERANCES)

    @property
    def failures(self) -> list[str]:
        """The checks that failed: names of TOLERANCES, or ``error``."""
        if self.error is not None:
            return ["error"]
        found = {name: getattr(self, name) for name in self.tolerances}
        # not (a <= b) rather than a > b: NaN is a failure.
        return [name for name, value in found.items() if value is not None and not value <= self.tolerances[name]]


@dataclass(frozen=True)
class MemoryCheck:
    """The result of the memory counter for a tensor of known size."""

    expected: int
    counted: int

    @property
    def good(self) -> bool:
        return self.expected <= self.counted <= 1.05 * self.expected


class _Bench:
    """A synthetic graph on one device and in one precision, and a model on it."""

    def __init__(self, device: torch.device, dtype: torch.dtype = torch.float32) -> None:
        graph = generate("check", Parameters(nodes=600, classes=4, features=80, words=8.0))
        assert graph.fixed_split is not None
        data = graph_tensors(graph, "rows", torch.device("cpu"))
        x, edges, labels = data.x.to(dtype).to(device), data.edge_index.to(device), data.labels.to(device)
        self.data = replace(data, x=x, edge_index=edges, labels=labels)
        self.split = graph.fixed_split
        self.device, self.dtype = device, dtype

    def splits(self, replicas: int) -> SplitTensors:
        return split_tensors(self.data, [self.split] * replicas)

    def build(self, model: str, settings: Hyperparameters, seeds: list[int]) -> nn.Module:
        """Build the model with the same initial parameters on every device, by drawing them on the CPU."""
        net = registry.build(model, self.data, settings, preset("released"), seeds).to(self.device, self.dtype)
        seed_dropout(net, seeds, self.device)
        return net

    def scores_and_gradients(self, model: str, settings: Hyperparameters) -> tuple[Tensor, list[Tensor]]:
        """Scores and gradients without dropout, whose random numbers differ between devices."""
        net = self.build(model, settings, [1]).eval()
        scores = net(self.data.x, self.data.edge_index)
        split = self.splits(1)
        functional.cross_entropy(select(scores, split.train)[0], split.train_labels[0]).backward()
        return scores.detach(), [parameter.grad for parameter in net.parameters() if parameter.grad is not None]

    def losses(self, model: str, settings: Hyperparameters, seeds: list[int]) -> Tensor:
        """The training loss of STEPS epochs with dropout, (STEPS, replicas)."""
        settings = override(settings, epochs=STEPS)
        return train(self.build(model, settings, seeds), self.data, self.splits(len(seeds)), settings).train_loss


def check_models(device: torch.device, on_model: Callable[[ModelCheck], None] = lambda _: None) -> list[ModelCheck]:
    """Check every model of the registry; ``on_model`` is called after each."""
    bench = _Bench(device)
    reference = _Bench(torch.device("cpu"), torch.float64 if device.type == "cpu" else torch.float32)
    results = []
    for model in registry.MODELS:
        try:
            result = _check_model(model, bench, reference)
        except Exception as error:  # a model that crashes is a row of the table, and the others are still checked
            result = ModelCheck(model, error=f"{type(error).__name__}: {error}".splitlines()[0])
        on_model(result)
        results.append(result)
    return results


def check_memory(device: torch.device) -> MemoryCheck:
    """Count a tensor of COUNTED_MIB."""
    with PeakMemory(device) as peak:
        held = torch.empty(COUNTED_MIB * MIB, dtype=torch.uint8, device=device)
        del held
    return MemoryCheck(COUNTED_MIB * MIB, peak.bytes)


def _check_model(model: str, bench: _Bench, reference: _Bench) -> ModelCheck:
    settings = _settings(model)
    scores, gradients = bench.scores_and_gradients(model, settings)
    expected_scores, expected_gradients = reference.scores_and_gradients(model, settings)
    pairs = [(scores, expected_scores)]
    gradient_pairs = list(zip(gradients, expected_gradients, strict=True))
    if bench.device.type == "cpu":
        with _threads(1 if torch.get_num_threads() > 1 else 2):
            threaded_scores, threaded_gradients = bench.scores_and_gradients(model, settings)
        pairs.append((threaded_scores, scores))
        gradient_pairs += zip(threaded_gradients, gradients, strict=True)
    # A gradient that is zero in exact arithmetic (softmax does not depend on the target's term) is only rounding error.
    floor = 1e-3 * max(float(expected.abs().max()) for expected in expected_gradients)
    once, again = (bench.losses(model, settings, [1]) for _ in range(2))
    result = ModelCheck(
        model,
        scores=max(_difference(*pair) for pair in pairs),
        gradients=max(_difference(*pair, floor) for pair in gradient_pairs),
        repeated=_difference(again, once),
        seconds_per_epoch=_epoch_time(model, bench, settings),
        tolerances=tolerances(bench.device),
    )
    if not registry.entry(model).side_by_side:
        return result
    together = bench.losses(model, settings, [1, 2, 3])
    alone = torch.cat([bench.losses(model, settings, [seed]) for seed in (1, 2, 3)], dim=1)
    return replace(result, side_by_side=_difference(together, alone))


def _settings(model: str) -> Hyperparameters:
    """The published settings for Cora, or default ones for a model that is not in the paper."""
    ordinary = Hyperparameters(
        lr=0.01, weight_decay=5e-4, optimizer="adam", hidden=16, input_dropout=0.5, dropout=0.5, epochs=STEPS
    )
    return published("cora", "fixed", model) or ordinary


def _epoch_time(model: str, bench: _Bench, settings: Hyperparameters) -> float:
    net, split = bench.build(model, settings, [1]), bench.splits(1)
    optimizer = make_optimizer(net, settings)
    seconds = []
    for _ in range(TIMED_EPOCHS + 1):
        synchronise(bench.device)
        started = time.perf_counter()
        step(net, bench.data, split, optimizer)
        synchronise(bench.device)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])  # the first epoch builds the caches


def _difference(found: Tensor, expected: Tensor, floor: float = 1e-12) -> float:
    """Largest difference, relative to the largest entry or, if that is more, ``floor``; NaN if either contains NaN."""
    found, expected = found.detach().cpu().double(), expected.detach().cpu().double()
    scale = max(float(expected.abs().max()), floor)
    return float((found - expected).abs().max()) / scale


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
