"""Read the Planetoid pickles of 2016 without letting them run any code."""

import collections
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy._core.multiarray import _reconstruct  # type: ignore[attr-defined]
from scipy import sparse

from cgnn.errors import UserError

#: All names that the Planetoid files need. They were written by Python 2, so the module names are old.
ALLOWED: dict[tuple[str, str], Any] = {
    ("__builtin__", "list"): list,
    ("collections", "defaultdict"): collections.defaultdict,
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): sparse.csr_matrix,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"the name {module}.{name} is not allowed") from None


def read_pickle(path: Path | str) -> Any:
    """Unpickle a file that may contain only NumPy arrays, CSR matrices, lists and defaultdicts."""
    try:
        with open(path, "rb") as stream:
            return _Unpickler(stream, encoding="latin1").load()
    except pickle.UnpicklingError as error:
        raise UserError(
            f"{path}: refused to unpickle it: {error}. The Planetoid files hold only arrays, sparse matrices "
            "and lists; this is not one of them. Delete it and run `cgnn fetch` again."
        ) from error
