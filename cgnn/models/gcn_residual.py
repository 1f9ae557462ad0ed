"""GCN with residual links between its hidden layers, the paper's last appendix table."""

from typing import Any

from cgnn.models import gcn
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.hyperparameters import Hyperparameters


def build(data: Any, hyperparameters: Hyperparameters, fidelity: Fidelity, fused: bool = True) -> gcn.GCN:
    """At two layers there is one hidden layer and nothing to link: that is plain GCN."""
    return gcn.build(data, hyperparameters, fidelity, residual=True, fused=fused)
