"""This project's epoch, with the functions that `python -m cgnn train` calls."""

import torch
from torch import Tensor

from benchmarks.cost_model import products, terms_of
from benchmarks.problem import Problem
from cgnn.dynamics.operator import normalised_adjacency
from cgnn.dynamics.sparse import sparse_product
from cgnn.models.registry import build
from cgnn.models.sparse_input import SparseInput
from cgnn.paper.fidelity import preset
from cgnn.paper.hyperparameters import Hyperparameters
from cgnn.training.loop import evaluate, make_optimizer, step
from cgnn.training.replicas import seed_dropout


class OurEpoch:
    """A step, then one evaluation pass for both sets; one replica, preset `released`, the requested solver.

    Runs with torch's deterministic algorithms, as `cgnn train` does; the other contestants run without them.
    """

    def __init__(
        self, problem: Problem, model: str, settings: Hyperparameters, solver: str = "exact", **options: bool
    ) -> None:
        self.problem = problem
        self.model = build(model, problem.data, settings, preset("released", solver=solver), [0], **options)
        seed_dropout(self.model, [0], problem.data.x.device)
        self.optimizer = make_optimizer(self.model, settings)
        self.loss = float("nan")

    def __call__(self) -> tuple[float, float]:
        data, split = self.problem.data, self.problem.split
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False
        self.loss = step(self.model, data, split, self.optimizer).item()
        validation, test = evaluate(self.model, data, split)
        torch.use_deterministic_algorithms(False)
        return validation.item() / split.num_validation, test.item() / split.num_test


class Floor:
    """Only the sparse products of an epoch, with the same number and shapes: a lower bound of its time.

    The count is that of :func:`benchmarks.cost_model.products`; the encoder needs XW twice and X^T ḡ once. Buffers are
    allocated before. To save memory, ``features`` are those that a model has prepared.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Hyperparameters,
        solver: str = "exact",
        features: SparseInput | None = None,
    ) -> None:
        data, width = problem.data, settings.hidden
        adjacency = normalised_adjacency(data.edge_index, None, data.num_nodes, settings.gamma)
        features = features or SparseInput.build(data.x)
        self.propagations = products(terms_of(settings), solver)
        plan = [(adjacency, self.propagations), (features.matrix, 2), (features.transposed, 1)]
        self.products: list[tuple[Tensor, int, Tensor, Tensor]] = [
            (matrix, count, torch.randn(matrix.shape[1], width), torch.empty(matrix.shape[0], width))
            for matrix, count in plan
        ]

    def __call__(self) -> None:
        for matrix, count, dense, out in self.products:
            for _ in range(count):
                sparse_product(matrix, dense, out=out)
