"""The device, and what differs between CPU and CUDA: synchronisation, memory limits, the peak-memory counter."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from cgnn.errors import UserError

MIB = 2**20


def choose_device(name: str) -> torch.device:
    """``auto`` is the first CUDA device if there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise UserError(f"device: found {name!r}, expected auto, cpu, cuda or cuda:INDEX")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise UserError(
            f"device: {name} requested, but torch finds {torch.cuda.device_count()} CUDA devices; use auto or cpu"
        )
    return device


def synchronise(device: torch.device) -> None:
    """Wait until the device has finished; times measured before that are wrong."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def make_deterministic(threads: int) -> None:
    """Make the same command on the same machine with the same threads give the same numbers.

    CUDA's scatter sums may still warn and differ.
    """
    # Weight decay reduces weights of rare words below 1e-38, where products are ten times slower, so such numbers are
    # treated as 0. This is set before torch starts its threads, which inherit it.
    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)
    # cuBLAS reads this at its first product; without it the order of sums may differ.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # Same as use_deterministic_algorithms(True, warn_only=True), which would import torch's compiler (1 s per job).
    torch.set_deterministic_debug_mode("warn")
    # Otherwise torch fills every new tensor with NaN, which takes time and is not needed here.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error is one of the out-of-memory errors of torch, NumPy or Python."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("can't allocate memory" in text or "out of memory" in text)


@contextmanager
def memory_limit(mebibytes: int | None, device: torch.device) -> Iterator[None]:
    """Limit the memory of the block, in addition to what the interpreter and its libraries already use.

    On the CPU the kernel enforces the limit (RLIMIT_DATA counts every private writable page, including the heap and
    torch's large blocks), on CUDA torch's allocator. Exceeding it raises an error that ``is_out_of_memory`` recognises.
    """
    if mebibytes is None:
        yield
    elif device.type == "cuda":
        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, mebibytes * MIB / total), device)
        try:
            yield
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0, device)
    else:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (_data_bytes() + mebibytes * MIB, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"VmData:\s+(\d+) kB", status)
    if found is None:
        raise UserError("memory limit: this kernel does not report VmData, so a CPU limit cannot be set; omit it")
    return int(found[1]) * 1024


class PeakMemory:
    """Peak bytes held by torch's allocator: ``with PeakMemory(device) as peak: …``, then ``peak.bytes``.

    This is the maximum since ``restart`` (or the start) of what the block allocated and still holds: build data and
    model inside the block, and call ``restart`` after the set-up. Resident memory (RSS) would include the interpreter
    and freed pages. On the CPU, allocations and releases are read from torch's memory profile in order; this slows the
    block down, so measure times separately.
    """

    MARK = "cgnn peak restart"

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.bytes = 0
        self.counter = "cuda max_memory_allocated" if device.type == "cuda" else "torch cpu allocator"

    def __enter__(self) -> "PeakMemory":
        if self.device.type == "cpu":
            # Used directly, because torch.profiler.profile would import torch's compiler, which takes seconds per job.
            self._profile = torch.autograd.profiler.profile(profile_memory=True)
            self._profile.__enter__()
        self.restart()
        return self

    def restart(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
            torch.cuda.reset_peak_memory_stats(self.device)
        else:
            with torch.profiler.record_function(self.MARK):
                pass

    def __exit__(self, *error: Any) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
            self.bytes = torch.cuda.max_memory_allocated(self.device)
            return
        self._profile.__exit__(*error)
        events = [
            event
            for event in self._profile.kineto_results.events()  # type: ignore[union-attr]
            if event.name() in ("[memory]", self.MARK)
        ]
        held = 0
        for event in sorted(events, key=lambda event: event.start_ns()):
            if event.name() == self.MARK:
                self.bytes = held
            else:
                held += event.nbytes()  # type: ignore[union-attr]
                self.bytes = max(self.bytes, held)
        del self._profile
