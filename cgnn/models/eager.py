"""Exclude sparse products from ``torch.compile`` and autocast, and check the inputs of modules."""

import functools
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

from cgnn.errors import UserError

P = ParamSpec("P")
T = TypeVar("T")

_HALF = (torch.float16, torch.bfloat16)


def outside_compiled_graphs(function: Callable[P, T]) -> Callable[P, T]:
    """Let ``torch.compile`` break its graph at this function and run it as ordinary Python.

    The compiler supports neither CSR tensors nor a number of terms that depends on values. This function applies
    ``torch.compiler.disable``, but only once the compiler is loaded: used as a decorator, ``disable`` would import the
    compiler in every process, which takes a second.
    """
    disabled: Callable[P, T] | None = None

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        nonlocal disabled
        if "torch._dynamo" not in sys.modules:
            return function(*args, **kwargs)
        if disabled is None:
            disabled = torch.compiler.disable(function)
        return disabled(*args, **kwargs)

    run._torchdynamo_disable = True  # type: ignore[attr-defined]
    return run


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """float32 instead of float16 and bfloat16, for which there are no sparse kernels; any other dtype unchanged."""
    return torch.float32 if dtype in _HALF else dtype


def check_is_tensor(x: Any) -> None:
    """Raise unless ``x`` is a tensor. PyG's layers also take a pair, for bipartite graphs; ours do not."""
    if not isinstance(x, Tensor):
        raise UserError(f"x: found {type(x).__name__}, expected a tensor; bipartite graphs are not supported")


def check_device(name: str, tensor: Tensor, module: Tensor) -> None:
    """Raise unless ``tensor`` is on the device of the module's parameters."""
    if tensor.device != module.device:
        raise UserError(
            f"{name}: found on device {tensor.device}, expected {module.device}, where the module is; "
            f"move one of them, e.g. {name}.to({str(module.device)!r})"
        )
