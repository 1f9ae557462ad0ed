"""Freed memory is kept for the next tensor, and results do not depend on how memory is allocated."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from cgnn.training import allocator

FAULTS = """
import ctypes, resource, torch
from cgnn.training.allocator import M_MMAP_THRESHOLD, MIB, tune_allocator

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        torch.ones(2**24)  # 64 MiB, that is 16,384 pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

default = [faults() for _ in range(6)]
tune_allocator()
tuned = [faults() for _ in range(6)]  # the first rounds enlarge the heap
accepted = ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 * MIB)
print(accepted, default[-1], tuned[-1])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_a_new_tensor_reuses_the_pages_of_a_freed_one() -> None:
    """The kernel counts the pages that it hands out.

    The tensors are larger than 32 MiB, so glibc's default always maps them separately. With smaller ones, how much is
    reused depends on the order of all allocations.
    """
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    accepted, default, kept = map(int, done.stdout.split())
    if not accepted:
        pytest.skip("this version of glibc maps every block above 32 MiB")
    assert kept < default / 10


def test_an_older_glibc_gets_the_largest_threshold_that_it_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = {}

    def mallopt(parameter: int, value: int) -> int:
        if parameter == allocator.M_MMAP_THRESHOLD and value > 32 * allocator.MIB:
            return 0
        accepted[parameter] = value
        return 1

    monkeypatch.setattr(allocator, "_mallopt", lambda: mallopt)
    monkeypatch.setenv("THP_MEM_ALLOC_ENABLE", "0")  # tune_allocator would set it for the tests that follow
    assert allocator.tune_allocator()
    assert accepted == {allocator.M_MMAP_THRESHOLD: 32 * allocator.MIB, allocator.M_TRIM_THRESHOLD: -1}


RETURNED = """
import re, sys, torch
from pathlib import Path
from cgnn.training.allocator import return_freed_memory

def data_mib():
    return int(re.search(r"VmData:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

def kept():
    first, second = torch.ones(2**20), torch.ones(2**20)  # 4 MiB each
    before = data_mib()
    del first  # not at the end of the heap
    return 4 - (before - data_mib())

if "limited" in sys.argv:
    return_freed_memory()
freed = torch.ones(2**22)  # 16 MiB: by default glibc maps no block up to this size separately after it is freed
del freed
print(kept())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_with_a_memory_limit_freed_memory_is_returned() -> None:
    """The limit counts VmData, so memory that the heap keeps would count as used."""
    environment = {name: value for name, value in os.environ.items() if name != "THP_MEM_ALLOC_ENABLE"}

    def run(mode: str) -> float:
        command = [sys.executable, "-c", RETURNED, mode]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout)

    default, limited = run("default"), run("limited")
    assert default > 3.5
    assert limited < 0.5


@pytest.mark.parametrize("model", ["cgnn", "gcn"])
def test_rows_do_not_depend_on_the_allocator(small_file: Path, tmp_path: Path, model: str) -> None:
    """A memory limit makes the allocator return freed memory; a limit that is not reached changes nothing else.

    The states are larger than 2 MiB, from which on torch uses huge pages.
    """
    files = []
    for name, options in (("kept", ()), ("default", ("--memory-limit", "100000"))):
        files.append(tmp_path / f"{name}.csv")
        words = ["--dataset", "small", "--graph", str(small_file), "--model", model, *options]
        words += ["--epochs", "3", "--set", "hidden=8192"]
        command = [sys.executable, "-m", "cgnn", "train", *words, "--out", str(files[-1])]
        subprocess.run(command, check=True, capture_output=True)
    assert files[0].read_bytes() == files[1].read_bytes()
