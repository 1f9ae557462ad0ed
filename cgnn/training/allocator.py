"""Allocate large tensors without waiting for the operating system, which clears every page that it hands out."""

import ctypes
import os
import sys

#: Parameters of glibc's mallopt.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
MIB = 2**20


def tune_allocator() -> bool:
    """Keep freed memory for the next tensor, and use huge pages; call it before the first tensor is made.

    An epoch on a large graph allocates and frees a dozen states, and by default glibc maps each block of more than 32
    MiB anew and returns free memory at the end of the heap. Blocks above 128 MiB are still mapped: with them on the
    heap, a graph of 10^7 nodes did not fit into 24 GiB. No number changes, because torch aligns tensors to
    64 bytes or more in any case.

    Returns False, and changes nothing, if the C library is not glibc.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # musl
        return False
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # read by torch: pages of 2 MiB for tensors of that size
    # Older versions of glibc refuse thresholds above 32 MiB.
    mapped = mallopt(M_MMAP_THRESHOLD, 128 * MIB) or mallopt(M_MMAP_THRESHOLD, 32 * MIB)
    return bool(mapped and mallopt(M_TRIM_THRESHOLD, -1))  # -1: never
