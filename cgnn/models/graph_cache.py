"""Cache for what a module computes from its graph, valid as long as the graph stays the same."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from torch import Tensor

T = TypeVar("T")


class GraphCache(Generic[T]):
    """Holds one value built from tensors, and rebuilds it if one of them is replaced or modified.

    Tensors are compared by identity and by torch's version counter, which every in-place operation increases; this
    is cheap and never waits for a device. The cache keeps references to the tensors, so their identity cannot be
    reused. It does not notice changes that bypass torch, such as writing to a NumPy array that shares the memory.

    Nothing is cached for a tensor that requires a gradient or was created in inference mode (without version counter).

    Copies (``copy.deepcopy``, pickle) start empty, and a ``state_dict`` does not contain the cache::

        self._cache: GraphCache[Propagation] = GraphCache()
        …
        settings = (x.shape[0], x.dtype, x.device)  # everything else that the value depends on
        propagation = self._cache.get((edge_index, edge_weight), settings, lambda: build(edge_index, edge_weight))
    """

    def __init__(self) -> None:
        self._held: tuple[tuple[Any, ...], tuple[int, ...], Hashable, T] | None = None

    def get(self, tensors: Sequence[Tensor | None], settings: Hashable, build: Callable[[], T]) -> T:
        """The value for these tensors and settings: the cached one, or ``build()``.

        Args:
            tensors: what the value is built from; compared by identity and version.
            settings: what else it depends on (number of nodes, dtype, device, …); compared by equality.
            build: computes the value.
        """
        if any(tensor is not None and _uncacheable(tensor) for tensor in tensors):
            self.clear()
            return build()
        versions = tuple(0 if tensor is None else tensor._version for tensor in tensors)
        if self._held is not None:
            held, held_versions, held_settings, value = self._held
            same = len(held) == len(tensors) and all(a is b for a, b in zip(held, tensors, strict=True))
            if same and held_versions == versions and held_settings == settings:
                return value
        value = build()
        self._held = (tuple(tensors), versions, settings, value)
        return value

    def clear(self) -> None:
        """Discard the value and release the tensors."""
        self._held = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "GraphCache[T]":
        return type(self)()

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return type(self), ()


def _uncacheable(tensor: Tensor) -> bool:
    return tensor.requires_grad or tensor.is_inference()
