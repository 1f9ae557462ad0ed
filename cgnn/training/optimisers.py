"""Adam, Adamax and RMSprop with torch's defaults, bit-identical to torch.optim.

torch.optim imports the compiler when an optimiser is created (1.5 s, longer than many trainings here) and has an
overhead of half a millisecond per step, out of eight milliseconds for a whole step on Cora.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


class Optimiser:
    """``groups`` are as in torch.optim: dicts of ``params`` and ``weight_decay`` (L2, added to the gradient)."""

    def __init__(self, groups: Sequence[dict[str, Any]], lr: float) -> None:
        self.param_groups = [dict(group) for group in groups]
        self.lr = lr
        self.steps = 0
        self._state: dict[Tensor, tuple[Tensor, ...]] = {}

    def zero_grad(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        self.steps += 1
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if not parameters:
                continue
            gradients = [parameter.grad for parameter in parameters]
            if group["weight_decay"]:
                gradients = torch._foreach_add(  # type: ignore[assignment]
                    gradients, parameters, alpha=group["weight_decay"]
                )
            self.update(parameters, gradients)

    def moments(self, parameters: list[Tensor], count: int) -> list[list[Tensor]]:
        """The running values that a rule keeps for each parameter; they start at zero."""
        for parameter in parameters:
            if parameter not in self._state:
                self._state[parameter] = tuple(torch.zeros_like(parameter) for _ in range(count))
        return [[self._state[parameter][index] for parameter in parameters] for index in range(count)]

    def update(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        """The rule itself, which each optimiser below defines."""
        raise TypeError("use Adam, Adamax or RMSprop")


class Adam(Optimiser):
    """Kingma & Ba 2015: θ ← θ − lr · m̂ / (√v̂ + ε), with β = (0.9, 0.999), ε = 1e-8."""

    def update(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        mean, square = self.moments(parameters, 2)
        torch._foreach_lerp_(mean, gradients, 1 - 0.9)
        torch._foreach_mul_(square, 0.999)
        torch._foreach_addcmul_(square, gradients, gradients, 1 - 0.999)
        scale = torch._foreach_sqrt(square)
        torch._foreach_div_(scale, math.sqrt(1 - 0.999**self.steps))
        torch._foreach_add_(scale, 1e-8)
        torch._foreach_addcdiv_(parameters, mean, scale, -self.lr / (1 - 0.9**self.steps))


class RMSprop(Optimiser):
    """θ ← θ − lr · g / (√v + ε), v ← 0.99 v + 0.01 g², ε = 1e-8."""

    def update(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        (square,) = self.moments(parameters, 1)
        torch._foreach_mul_(square, 0.99)
        torch._foreach_addcmul_(square, gradients, gradients, 1 - 0.99)
        scale = torch._foreach_sqrt(square)
        torch._foreach_add_(scale, 1e-8)
        torch._foreach_addcdiv_(parameters, gradients, scale, -self.lr)


class Adamax(Optimiser):
    """Kingma & Ba 2015, section 7.1: θ ← θ − lr/(1 − β₁ᵗ) · m / u, u ← max(β₂u, |g| + ε), with Adam's constants."""

    def update(self, parameters: list[Tensor], gradients: list[Tensor]) -> None:
        mean, largest = self.moments(parameters, 2)
        torch._foreach_lerp_(mean, gradients, 1 - 0.9)
        torch._foreach_mul_(largest, 0.999)
        magnitude = torch._foreach_abs(gradients)
        torch._foreach_add_(magnitude, 1e-8)
        torch._foreach_maximum_(largest, magnitude)
        torch._foreach_addcdiv_(parameters, mean, largest, -self.lr / (1 - 0.9**self.steps))


OPTIMISERS: dict[str, type[Optimiser]] = {"adam": Adam, "adamax": Adamax, "rmsprop": RMSprop}
