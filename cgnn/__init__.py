"""A reimplementation of Continuous Graph Neural Networks (ICML 2020).

The names below are imported on first use, so ``import cgnn`` is fast and a job that draws a
table never loads torch.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "CGNN": "cgnn.models.cgnn",
    "CGNNConv": "cgnn.models.cgnn_conv",
    "Graph": "cgnn.datasets.graph",
    "Fidelity": "cgnn.paper.fidelity",
}

__all__ = ["CGNN", "CGNNConv", "Fidelity", "Graph", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'cgnn' has no attribute {name!r}")
