"""Orion's pickled store, read by an unpickler that cannot run code: a results folder may come from somebody else."""

import collections
import datetime
import io
import os
import pickle
from pathlib import Path
from typing import Any

from orion.core.io.database import ephemeraldb
from orion.core.io.database.pickleddb import PickledDB

from cgnn.errors import UserError
from cgnn.search.priors import parse_prior

#: Every name that a store of this project contains.
ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "defaultdict"): collections.defaultdict,
    ("datetime", "datetime"): datetime.datetime,
    **{
        (ephemeraldb.__name__, name): getattr(ephemeraldb, name)
        for name in ("EphemeralDB", "EphemeralCollection", "EphemeralDocument")
    },
}
#: The documents that Orion may load. It acts on other keys and algorithms: for ``metadata.user_args``, for example, it
#: parses files and runs git.
EXPERIMENT = {
    *("_id", "name", "version", "refers", "metadata", "space", "algorithms", "max_trials", "max_broken", "working_dir")
}
METADATA = {"user", "orion_version", "datetime"}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"the name {module}.{name} is not allowed") from None


class CheckedDB(PickledDB):
    """Orion finds this class by its name. It differs from its parent only in the unpickler."""

    def _get_database(self) -> Any:
        data = Path(self.host).read_bytes() if os.path.exists(self.host) else b""
        return _Unpickler(io.BytesIO(data)).load() if data else ephemeraldb.EphemeralDB()


def check_store(path: Path) -> None:
    """Raise a UserError unless ``path`` is absent or holds only what this project writes."""
    try:
        for experiment in CheckedDB(host=str(path)).read("experiments"):
            strange = (set(experiment) - EXPERIMENT) | (set(experiment["metadata"]) - METADATA)
            strange |= set(experiment["algorithms"]) - {"random"}
            if strange or experiment["refers"]["adapter"]:
                raise ValueError(f"an experiment with {', '.join(sorted(map(str, strange))) or 'adapters'}")
            for name, text in experiment["space"].items():
                parse_prior("", text, f"the prior of {name}")
    except Exception as error:  # damaged bytes raise almost anything while they are unpickled
        raise UserError(
            f"{path}: not a store that this project wrote ({error!r}). Move it away to start this search from the "
            "beginning; run no other program on it unless you trust where it comes from."
        ) from error
