"""Fingerprints of the code that each command runs.

A fingerprint starts at the command's own module, so it covers every module of ``cgnn`` that a job can import. Modules
that are named in tables and imported on use (a model, a solver, a dataset, a figure) are added by name.
"""

import hashlib
import json
from functools import cache

from cgnn.errors import UserError
from cgnn.models import registry
from cgnn.paper.fidelity import Fidelity
from cgnn.pipeline.fingerprint import code_fingerprint

#: A training's fingerprint holds the record of its own model instead.
TABLE_OF_MODELS = "cgnn.models.records"


@cache
def command_fingerprint(command: str, *modules: str) -> str:
    """Of ``python -m cgnn COMMAND`` and the modules that it imports by name."""
    return code_fingerprint(f"cgnn.cli.{command}", *modules)


@cache
def model_fingerprint(command: str, model: str, fidelity: Fidelity) -> str:
    """Of a command that trains one model: its code, the model's and its solver's, and the model's own record.

    The table of models is no part of it, so adding a model reruns none of the others.
    """
    code = code_fingerprint(f"cgnn.cli.{command}", *registry.modules_of(model, fidelity), without=(TABLE_OF_MODELS,))
    record = json.dumps(registry.entry(model).deciding(), sort_keys=True)
    return hashlib.sha256(f"{code}\0{record}".encode()).hexdigest()[:16]


def training_fingerprint(model: str, fidelity: Fidelity) -> str:
    """Of ``python -m cgnn train``."""
    return model_fingerprint("train", model, fidelity)


def profile_fingerprint(method: str, fidelity: Fidelity) -> str:
    """Of ``python -m cgnn profile``; a method is a model, or a CGNN model and its solver (``cgnn_adjoint``)."""
    return model_fingerprint("profile", *registry.resolve_method(method, fidelity))


def check_fingerprint(found: str, expected: str | None, what: str) -> None:
    """Refuse to run code that is not the code that was planned: one results tree must not mix two."""
    if expected is not None and expected != found:
        raise UserError(
            f"the code of {what} changed since this job was planned: its fingerprint is {found}, expected {expected}. "
            "Nothing was run. Start the workflow again with the same command; it then plans with today's code."
        )
