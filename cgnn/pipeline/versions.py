"""The versions of Python and of the packages that produced a row."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

#: Packages that can affect the results of a training.
PACKAGES = ("torch", "torch_geometric", "torchdiffeq", "numpy", "scipy")


@cache
def versions() -> str:
    """``python=3.11.7;torch=2.13.0;…``, read from the packages' metadata without importing them."""
    found = [f"python={platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package}={version(package)}")
        except PackageNotFoundError:
            found.append(f"{package}=absent")
    return ";".join(found)
