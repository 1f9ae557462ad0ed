"""Allocate large tensors without waiting for the operating system, which clears every page that it hands out."""

import ctypes
import os
import sys
from collections.abc import Callable

#: Parameters of glibc's mallopt.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KIB, MIB = 2**10, 2**20


def return_freed_memory() -> bool:
    """Return freed blocks to the operating system at once; for commands with a limit, which counts kept ones as used.

    By default glibc maps blocks of 128 KiB and more separately, but raises this threshold whenever such a block is
    freed, up to 32 MiB. How much free memory the heap then keeps depends on the order of allocations.
    """
    mallopt = _mallopt()
    return mallopt is not None and bool(mallopt(M_MMAP_THRESHOLD, 128 * KIB))


def tune_allocator() -> bool:
    """Keep freed memory for the next tensor, and use huge pages; call it before torch makes its first tensor.

    torch reads the variable for huge pages only once, at its first allocation. Importing torch_geometric already makes
    a tensor, so after it the variable has no effect; the preloaded process (``CGNN_PRELOAD``) starts with it.

    An epoch on a large graph allocates and frees a dozen states, and by default glibc maps each block of more than 32
    MiB anew and returns free memory at the end of the heap. Blocks above 128 MiB are still mapped: with them on the
    heap, a graph of 10^7 nodes did not fit into 24 GiB. No number changes, because torch aligns tensors to
    64 bytes or more in any case.

    Returns False, and changes nothing, if the C library is not glibc.
    """
    mallopt = _mallopt()
    if mallopt is None:
        return False
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # read by torch: pages of 2 MiB for tensors of that size
    # Older versions of glibc refuse thresholds above 32 MiB.
    mapped = mallopt(M_MMAP_THRESHOLD, 128 * MIB) or mallopt(M_MMAP_THRESHOLD, 32 * MIB)
    return bool(mapped and mallopt(M_TRIM_THRESHOLD, -1))  # -1: never


def _mallopt() -> Callable[[int, int], int] | None:
    """The function of glibc; None on other systems and C libraries."""
    return getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
