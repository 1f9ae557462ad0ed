"""Fingerprints of the code that each command runs.

A fingerprint starts at the command's module, so it covers every module of ``cgnn`` that a job can import. Modules that
are imported by name (a model, a solver, a dataset, a figure) are added explicitly.
"""

import hashlib
import json
from functools import cache

from cgnn.errors import UserError
from cgnn.models import registry
from cgnn.paper.fidelity import Fidelity
from cgnn.pipeline.fingerprint import code_fingerprint

#: A training's fingerprint contains the record of its model instead of this table.
TABLE_OF_MODELS = "cgnn.models.records"
ALLOCATOR = "cgnn.training.allocator"


@cache
def command_fingerprint(command: str, *modules: str) -> str:
    """Fingerprint of ``python -m cgnn COMMAND`` and the modules that it imports by name."""
    return code_fingerprint(f"cgnn.cli.{command}", *modules)


@cache
def model_fingerprint(command: str, model: str, fidelity: Fidelity, *modules: str) -> str:
    """Fingerprint of a command that trains one model: the code of command, model and solver, and the model's record.

    The table of models is not part of it, so adding a model does not rerun the others.
    """
    modules = (f"cgnn.cli.{command}", *registry.modules_of(model, fidelity), *modules)
    code = code_fingerprint(*modules, without=(TABLE_OF_MODELS,))
    record = json.dumps(registry.entry(model).deciding(), sort_keys=True)
    return hashlib.sha256(f"{code}\0{record}".encode()).hexdigest()[:16]


def training_fingerprint(model: str, fidelity: Fidelity) -> str:
    """Fingerprint of ``python -m cgnn train``."""
    return model_fingerprint("train", model, fidelity)


def profile_fingerprint(method: str, fidelity: Fidelity) -> str:
    """Fingerprint of ``python -m cgnn profile``; a method is a model, or a CGNN model with a solver."""
    return model_fingerprint("profile", *registry.resolve_method(method, fidelity), ALLOCATOR)


def limit_params(memory_limit: int | None) -> dict[str, str]:
    """What a job depends on if its memory is limited: how much a process holds depends on the allocator."""
    return {"allocator": code_fingerprint(ALLOCATOR)} if memory_limit else {}


def check_fingerprint(found: str, expected: str | None, what: str) -> None:
    """Refuse to run code that changed after planning: a results tree must not mix two versions."""
    if expected is not None and expected != found:
        raise UserError(
            f"the code of {what} changed since this job was planned: its fingerprint is {found}, expected {expected}. "
            "Nothing was run. Start the workflow again with the same command, so that it plans with the current code."
        )
