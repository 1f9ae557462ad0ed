"""Atomic output: every file is written completely and then renamed, or not written at all."""

import csv
import hashlib
import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cgnn.errors import UserError


@contextmanager
def atomic_path(target: Path | str) -> Iterator[Path]:
    """Yield a temporary path next to ``target``; rename it to ``target`` when the block succeeds.

    The temporary name keeps the suffix, since matplotlib and pandas choose the format by it.
    """
    target = Path(target)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".partial-", suffix=target.suffix)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        # mkstemp makes the file private; an output should be readable like any other.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except OSError as error:
        raise UserError(
            f"{target}: could not be written ({error.strerror or error}). Nothing was changed there; "
            "free some space or correct the permissions, then run the same command again."
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(target: Path | str, text: str) -> None:
    """Write ``text`` to ``target`` atomically, as UTF-8 with Unix line endings."""
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_csv(target: Path | str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write these columns of ``rows`` as CSV. Missing values are empty, and floats have their shortest exact form.

    Equal results therefore give equal bytes.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(target, text.getvalue())


def sha256_of(path: Path | str) -> str:
    """The sha256 of a file's bytes, in hex."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
