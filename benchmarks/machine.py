"""Describe the machine on which the numbers were measured."""

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "torch_geometric", "torchdiffeq", "numpy", "scipy")


def describe() -> dict[str, Any]:
    """Processor, cores, memory and versions; nothing that identifies the machine or its owner."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        # Load of other programs: above 0 the times are longer than necessary, but ratios are still fair.
        "load_before": round(os.getloadavg()[0], 2),
        "memory_gib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        "versions": ", ".join(
            [f"Python {platform.python_version()}", *(f"{package} {version(package)}" for package in PACKAGES)]
        ),
    }


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        found = re.search(r"model name\s*:\s*(.+)", information.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()
