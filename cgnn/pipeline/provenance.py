"""What produced a file: the code, the packages, the machine's part in it."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from cgnn.errors import UserError
from cgnn.models.registry import modules_of, resolve_method
from cgnn.paper.fidelity import Fidelity
from cgnn.pipeline.fingerprint import code_fingerprint

#: What a training's numbers can depend on.
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


@cache
def training_fingerprint(model: str, fidelity: Fidelity) -> str:
    """Of the code that decides a training's numbers: the loop, the model, and its solver if it has one.

    Not of the table of models, so adding one reruns none of the others.
    """
    return code_fingerprint("cgnn.training.replicas", *modules_of(model, fidelity))


@cache
def profile_fingerprint(method: str, fidelity: Fidelity) -> str:
    """The same for a profile point; a method is a model, or a CGNN model and its solver (``cgnn_adjoint``)."""
    return code_fingerprint("cgnn.training.profiling", *modules_of(*resolve_method(method, fidelity)))


def check_fingerprint(found: str, expected: str | None, what: str) -> None:
    """Refuse to run code that is not the code the DAG asked for; one results tree must not mix two."""
    if expected is not None and expected != found:
        raise UserError(
            f"the code of {what} changed since this job was planned: its fingerprint is {found}, the DAG expects "
            f"{expected}. Nothing was run. Start the workflow again (the same command), and it plans with today's code."
        )
