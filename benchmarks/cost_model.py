"""A model of the cost of a CGNN epoch for a graph of given size: sparse products, bytes moved and bytes held.

The coefficients follow from the code: one test counts the products of a real epoch, another compares the bytes.
`docs/scaling.md` compares the model with the measured sizes and applies it to larger ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from cgnn.dynamics.coefficients import coefficients, default_tolerance, spectral_bound
from cgnn.paper.hyperparameters import Hyperparameters

FLOAT, INDEX = 4, 4  # bytes

#: Bytes per stored value of Â: 4R and the matrix of the backward pass share 32-bit columns (4) and have their own
#: values (4 + 4); the 64-bit columns of the gather that scales the second by α (8).
PER_STORED = 20
#: Bytes per nonzero feature: X and its transpose (8 + 8), the permutation between them (8), the values that dropout
#: left (4).
PER_WORD = 28
#: Bytes per node: row pointers, α's parameter with the optimizer's state, α and its gradient, and the scores.
PER_NODE = 48
#: States of n × width at the peak, besides the K that the exact solver keeps for the gradient.
STATES = {"exact": 6, "exact_recompute": 10}
#: Times that a state is read or written per term of the series, the products included. Forward in the step: 11 if P_k
#: is kept (the product 5, because torch first copies P_{k−1}; Δ and H 3 each), else 9 (the product 3), as in the
#: evaluation. Backward: 10 for the series of α (the product 3, its coefficient 3, the sum over b·P 4), 6 for that of
#: the encoder, and 6 to run the forward recurrence backwards.
PASSES = {"exact": 11 + 9 + 10 + 6, "exact_recompute": 9 + 9 + 10 + 6 + 6}


@dataclass(frozen=True)
class Size:
    """A graph and a model. ``stored``: values of Â, that is 2 × edges + nodes; ``features``: nonzero ones."""

    nodes: int
    stored: int
    features: int
    width: int
    terms: int
    vocabulary: int = 1433

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Size":
        """The size of a row of the growth table."""
        return cls(**{name: row[name] for name in ("nodes", "stored", "features", "width", "terms")})

    def grown(self, nodes: int) -> "Size":
        """The same graph and model with more nodes and as many values per node."""
        return Size(
            nodes,
            round(self.stored / self.nodes * nodes),
            round(self.features / self.nodes * nodes),
            self.width,
            self.terms,
            self.vocabulary,
        )


def terms_of(settings: Hyperparameters) -> int:
    """K, the number of terms of the series. It grows like the square root of the ending time, not with the graph."""
    bound = spectral_bound(torch.tensor(settings.alpha).sigmoid())
    return len(coefficients(settings.t1, "full", "released", bound, default_tolerance(torch.float32)))


def products(terms: int, solver: str) -> int:
    """Products with the n × n matrix per epoch, preset `released`.

    One pass of the series needs K − 1. An epoch has the forward pass of the step, the forward pass of the evaluation,
    and two in the backward pass, because the gradients of the encoder and of α are different series. The recomputing
    solver also runs the forward recurrence backwards, which takes K − 2 more products.
    """
    return 4 * (terms - 1) + (terms - 2 if solver == "exact_recompute" else 0)


def bytes_of_matrix(size: Size) -> int:
    """Bytes of Â, which each product reads once."""
    return (FLOAT + INDEX) * size.stored + INDEX * size.nodes


def bytes_moved(size: Size) -> int:
    """Bytes moved by one product Y ← Y + ÂH if every value is read or written once: the matrix, H, old and new Y."""
    return bytes_of_matrix(size) + 3 * FLOAT * size.nodes * size.width


def bytes_of_epoch(size: Size, solver: str) -> int:
    """Bytes moved by the series of one epoch if no state stays in a cache between two operations."""
    states = (size.terms - 1) * PASSES[solver] * FLOAT * size.nodes * size.width
    return states + products(size.terms, solver) * bytes_of_matrix(size)


def epoch_over_products(size: Size, solver: str) -> float:
    """The time of an epoch divided by that of its bare products, if memory bandwidth decides both."""
    return bytes_of_epoch(size, solver) / (products(size.terms, solver) * bytes_moved(size))


def bytes_held(size: Size, solver: str) -> int:
    """Bytes that torch holds at the peak of an epoch, without the input graph (edge list, X)."""
    states = STATES[solver] + (size.terms if solver == "exact" else 0)
    encoder = 2 * FLOAT * size.vocabulary * size.width  # its weight and the optimizer's state
    per_graph = PER_STORED * size.stored + PER_WORD * size.features + PER_NODE * size.nodes
    return states * FLOAT * size.nodes * size.width + per_graph + encoder
